/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_EVENT_H
#define APAPI_EVENT_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"

APAPI_BEGIN_C

/*
 * Events: counters and gauges, named as in PAPI. All functions here may be called from any thread;
 * none allocates.
 */

#define APAPI_NAME_SIZE 192 /* size of an event's name, with its NUL [bytes] */
#define APAPI_UNIT_SIZE 16  /* size of a unit, with its NUL [bytes] */

/** The quantity that an event measures. */
enum apapi_kind {
    APAPI_KIND_ENERGY,      /* J */
    APAPI_KIND_POWER,       /* W */
    APAPI_KIND_TEMPERATURE, /* degrees Celsius */
    APAPI_KIND_FREQUENCY,   /* Hz */
    APAPI_KIND_UTILIZATION, /* % */
    APAPI_KIND_COUNT,       /* any number of things */
    APAPI_KINDS             /* how many kinds there are */
};

/** The part of the node that an event measures. */
enum apapi_domain {
    APAPI_DOMAIN_NONE,
    APAPI_DOMAIN_PACKAGE,
    APAPI_DOMAIN_DRAM,
    APAPI_DOMAIN_GPU,
    APAPI_DOMAIN_CORE,   /* inside package */
    APAPI_DOMAIN_UNCORE, /* inside package */
    APAPI_DOMAIN_PSYS,   /* contains package */
    APAPI_DOMAIN_NODE,   /* contains all others */
    APAPI_DOMAINS        /* how many domains there are */
};

/** Type of a raw value, which always has 64 bits. */
enum apapi_type { APAPI_TYPE_INT64, APAPI_TYPE_UINT64, APAPI_TYPE_FP64, APAPI_TYPE_BIT64 };

/** One counter or gauge, as its source describes it. */
struct apapi_event {
    char name[APAPI_NAME_SIZE]; /* as in PAPI: component:::event */
    char unit[APAPI_UNIT_SIZE]; /* of raw value x scale: J, W, s, ... */
    enum apapi_kind kind;
    enum apapi_domain domain;
    enum apapi_type type;
    bool accumulates;   /* true: a counter; false: a gauge */
    uint64_t range_max; /* greatest raw value, after which the counter wraps to 0; 0: never wraps */
    double scale;       /* raw value x scale = value in `unit`, > 0 */
    double guard_j;     /* energy after which the hardware's counter wraps [J]; 0: it never wraps */
    uint64_t update_ns; /* time between two updates of the raw value [ns]; 0: not known */
    bool estimated;     /* not measured by a meter: has no domain and is part of no total */
    uint8_t slices; /* MIG slices of the GPU that the step has; 0: the whole GPU, or not known. The
                       event measures the whole GPU */
    uint8_t slices_all; /* MIG slices of the whole GPU; 0: not known */
    float most_w; /* highest power of the device: its rating, or the highest power seen over a long
                     time [W]; 0: not known */
};

/** @return "energy", "power", ...; "?" for any other number. Static storage. */
APAPI_API const char *apapi_kind_name(enum apapi_kind kind);

/**
 * @return "package", "dram", ...; "-" for APAPI_DOMAIN_NONE, "?" for any other number. Static
 *         storage.
 */
APAPI_API const char *apapi_domain_name(enum apapi_domain domain);

/** @return the domain called `name`; APAPI_DOMAIN_NONE if there is none, or for NULL. */
APAPI_API enum apapi_domain apapi_domain_find(const char *name);

/**
 * @return whether the domain is part of the node's total: package, dram and gpu are. The others lie
 *         inside package or contain it
 */
APAPI_API bool apapi_domain_adds_up(enum apapi_domain domain);

/** @return a raw value, read as event->type, times event->scale [event->unit]. */
APAPI_API double apapi_event_value(const struct apapi_event *event, uint64_t raw);

/** @return the highest power that one meter of this domain can plausibly show [W]. */
APAPI_API double apapi_domain_max_w(enum apapi_domain domain);

/**
 * @return how long a session leaves the counter unread at most, so that no wrap is lost: a quarter
 *         of the shortest time between two wraps, at the highest plausible power [ns]; UINT64_MAX:
 *         the counter never wraps, or does not count energy
 */
APAPI_API uint64_t apapi_event_guard_ns(const struct apapi_event *event);

APAPI_END_C
#endif
