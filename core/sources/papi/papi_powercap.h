/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_POWERCAP_H
#define APAPI_SOURCES_PAPI_POWERCAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/event.h"
#include "apapi/source.h"

/*
 * PAPI's powercap component returns the increment since the start. It returns the whole counter
 * while there is no increment, wrong values after a wrap if zones have different ranges, and
 * another zone's value if a file cannot be read. The true value follows from that and the counter
 * at the start; if it does not, the file itself is read. No PAPI function is called here.
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

/** Read the zones that are not known yet, before PAPI's reading for papi_powercap_calibrate(). */
void papi_powercap_before_reading(struct papi_powercap *powercap, uint64_t *counters);

/**
 * Find each counter's value at PAPI's start, if it stood still during the reading.
 * @param counters  result of papi_powercap_before_reading()
 * @return whether all are known now.
 */
bool papi_powercap_calibrate(struct papi_powercap *powercap, const uint64_t *counters,
                             const long long *values);

/** Convert PAPI's values to the counters. */
void papi_powercap_correct(struct papi_powercap *powercap, const long long *values,
                           struct apapi_reading *readings);

void papi_powercap_close(struct papi_powercap *powercap);

/* For tests: PAPI's calculation, and its inverse. */
long long papi_zone_gained(const struct papi_zone *zone, uint64_t counter);

/** @return how many counters would give `gained`: 0, 1 or 2; if 1, it is in `counter`. */
int papi_zone_counter(const struct papi_zone *zone, long long gained, uint64_t *counter);

#endif
