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
 * PAPI's powercap component gives what a counter has gained since the start: all of it while it has
 * gained nothing, wrong after a wrap where zones have different ranges, and another zone's where a
 * file cannot be read. From that and the counter at the start its true value follows; where it does
 * not, the file itself is asked. No PAPI function is called here.
 */

#define PAPI_ZONES_MAX 128
#define PAPI_PACKAGES_MAX 64

/** One zone's counter [uJ]. */
struct papi_zone {
    int fd;     /* of energy_uj */
    int folder; /* intel-rapl:N */
    bool part;
    bool known;       /* `start` is */
    uint64_t earlier; /* read by us before the start */
    uint64_t start;   /* read by PAPI at the start */
    uint64_t range;   /* greatest value */
    uint64_t wrap;    /* what PAPI adds once the counter is below `start` */
};

struct papi_powercap {
    struct papi_zone zones[PAPI_ZONES_MAX];
    size_t count;
    int folders[PAPI_PACKAGES_MAX]; /* ZONE1 is intel-rapl:N; -1: not known */
    bool reserved;
    bool buffered;             /* PAPI's buffer holds `buffer` */
    uint64_t buffer;           /* the counter that PAPI read last */
    struct apapi_error denied; /* the first file that may not be read; "" if none */
};

/** Begin with no zone. */
void papi_powercap_init(struct papi_powercap *powercap);

/** PAPI describes event NAME:ZONEn with the name of the zone that it takes for zone n. */
void papi_powercap_note_zone(struct papi_powercap *powercap, const char *event,
                             const char *description);

/**
 * Add the zone of an ENERGY_UJ event and complete the event: domain and range.
 * @return false: there is no such zone, or it may not be read.
 */
bool papi_powercap_add(struct papi_powercap *powercap, struct apapi_event *event);

/** Take the latest zone away. */
void papi_powercap_drop(struct papi_powercap *powercap);

/**
 * PAPI takes the processor's sockets for all packages there are, and folder N for package N. Has
 * every package its event?
 * @return 0; -1 with errno ENODEV.
 */
int papi_powercap_check_packages(const struct papi_powercap *powercap, struct apapi_error *err);

/**
 * PAPI reads all files into one buffer, of all threads. Only one reader at a time is safe.
 * @return 0, until papi_powercap_close(); -1 with errno EIO.
 */
int papi_powercap_reserve(struct papi_powercap *powercap, struct apapi_error *err);

/** All zones are there and PAPI starts next. */
void papi_powercap_before_start(struct papi_powercap *powercap);

/** Read the zones that are not known yet, before PAPI's reading for papi_powercap_calibrate(). */
void papi_powercap_before_reading(struct papi_powercap *powercap, uint64_t *counters);

/**
 * Find each counter's value at PAPI's start, if it stood still during the reading.
 * @param counters what papi_powercap_before_reading() has found
 * @return whether all are known now.
 */
bool papi_powercap_calibrate(struct papi_powercap *powercap, const uint64_t *counters,
                             const long long *values);

/** Turn PAPI's values into the counters themselves. */
void papi_powercap_correct(struct papi_powercap *powercap, const long long *values,
                           struct apapi_reading *readings);

void papi_powercap_close(struct papi_powercap *powercap);

/* For tests: what PAPI makes of a counter, and back. */
long long papi_zone_gained(const struct papi_zone *zone, uint64_t counter);

/** @return how many counters would give `gained`: 0, 1 or 2; with 1 it is in `counter`. */
int papi_zone_counter(const struct papi_zone *zone, long long gained, uint64_t *counter);

#endif
