/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_PAPI_FAULTS_H
#define SOURCES_PAPI_FAULTS_H
#include <papi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/source.h"

/* What PAPI's components leave open, get wrong, or do harm with. No PAPI function is called here.
 */

/**
 * What PAPI's event is about: by the unit that PAPI gives, or where that is known to be missing or
 * wrong, by a rule of our own. An unknown unit stays as it is, and its event is a count. Events of
 * component rapl that are no energy, and their raw counts, are each a register more to read: only
 * lists bring them in, see wanted_events_name().
 * @return false: the event is known to be of no use here, or no list names it.
 */
bool papi_event_describe(const PAPI_event_info_t *info, const char *name,
                         struct apapi_event *event);

/** @return whether the event is one that only lists bring in. */
bool papi_event_is_named_only(const char *name);

/**
 * Check for what a component of PAPI needs, before PAPI itself does harm by looking.
 * @return 0; -1 with errno ENODEV, EIO. `err` may be NULL.
 */
int papi_check_needs(const char *component, struct apapi_error *err);

/* --- rapl ------------------------------------------------------------------------------------- */

/*
 * PAPI's rapl component offers events of registers that the processor may not have. One unreadable
 * register fails the reading of all. So each is tried before it is added.
 */

#define PAPI_MSR_PACKAGES_MAX 64

struct papi_msrs {
    int fds[PAPI_MSR_PACKAGES_MAX]; /* by package; -1: none */
    bool amd;
};

/** @return the first CPU of each package in `cpus`; -1: no such package. */
void papi_first_cpus(int cpus[PAPI_MSR_PACKAGES_MAX]);

/** Start with all files closed. */
void papi_msrs_init(struct papi_msrs *msrs);

/** Open the registers that PAPI will read. */
void papi_msrs_open(struct papi_msrs *msrs);

/** Whether the register of an event of component rapl can be read; true for unknown events. */
bool papi_msrs_can_read(const struct papi_msrs *msrs, const char *event);

void papi_msrs_close(struct papi_msrs *msrs);

/* --- powercap --------------------------------------------------------------------------------- */

/*
 * PAPI's powercap component returns the increment since the start. It returns the whole counter
 * while there is no increment, wrong values after a wrap if zones have different ranges, and
 * another zone's value if a file cannot be read. The true value follows from that and the counter
 * at the start; if it does not, the file itself is read.
 */

#define PAPI_ZONES_MAX 128
#define PAPI_PACKAGES_MAX 64

/** One zone's counter [uJ]. */
struct papi_zone {
    int fd;     /* of energy_uj */
    int folder; /* intel-rapl:N */
    bool part;
    bool known;       /* `start` is known */
    uint64_t earlier; /* our reading before the start */
    uint64_t start;   /* PAPI's reading at the start */
    uint64_t range;   /* greatest value */
    uint64_t wrap;    /* what PAPI adds if the counter is below `start` */
};

struct papi_powercap {
    struct papi_zone zones[PAPI_ZONES_MAX];
    size_t count;
    int folders[PAPI_PACKAGES_MAX]; /* ZONE1 is intel-rapl:N; -1: not known */
    bool reserved;
    bool buffered;             /* PAPI's buffer is known: `buffer` */
    uint64_t buffer;           /* PAPI's last reading */
    struct apapi_error denied; /* the first file without permission to read; "" if none */
};

/** Start without zones. */
void papi_powercap_init(struct papi_powercap *powercap);

/** Note PAPI's description of event NAME:ZONEn: it has the name of PAPI's zone n. */
void papi_powercap_note_zone(struct papi_powercap *powercap, const char *event,
                             const char *description);

/**
 * Add the zone of an ENERGY_UJ event and complete the event: domain and range.
 * @return false: no such zone, or no permission to read it.
 */
bool papi_powercap_add(struct papi_powercap *powercap, struct apapi_event *event);

/** Remove the latest zone. */
void papi_powercap_drop(struct papi_powercap *powercap);

/**
 * PAPI assumes as many packages as processor sockets, and folder N for package N. Check that every
 * package has its event.
 * @return 0; -1 with errno ENODEV.
 */
int papi_powercap_check_packages(const struct papi_powercap *powercap, struct apapi_error *err);

/**
 * PAPI reads all files into one buffer that all threads share. Only one reader at a time is safe.
 * @return 0, until papi_powercap_close(); -1 with errno EIO.
 */
int papi_powercap_reserve(struct papi_powercap *powercap, struct apapi_error *err);

/** Call it after all zones were added and before PAPI starts. */
void papi_powercap_before_start(struct papi_powercap *powercap);

/**
 * Find each counter's value at PAPI's start: it shows while a counter stands still, as it mostly
 * does. Call it after PAPI has started.
 * @param read     makes a reading of PAPI's into `values`; 0: it is good
 * @return whether all are known now.
 */
bool papi_powercap_calibrate(struct papi_powercap *powercap, int (*read)(void *context),
                             void *context, const long long *values);

/** Convert PAPI's values to the counters. */
void papi_powercap_correct(struct papi_powercap *powercap, const long long *values,
                           struct apapi_reading *readings);

void papi_powercap_close(struct papi_powercap *powercap);

/* For tests: PAPI's calculation, and its inverse. */
long long papi_zone_gained(const struct papi_zone *zone, uint64_t counter);

/** @return how many counters would give `gained`: 0, 1 or 2; if 1, it is in `counter`. */
int papi_zone_counter(const struct papi_zone *zone, long long gained, uint64_t *counter);

#endif
