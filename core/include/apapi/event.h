/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_EVENT_H
#define APAPI_EVENT_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define APAPI_NAME_SIZE 192 /* bytes of an event's name with its NUL */
#define APAPI_UNIT_SIZE 16  /* bytes of a unit with its NUL */

/** What an event counts or gauges. */
enum apapi_kind {
    APAPI_KIND_ENERGY,      /* J */
    APAPI_KIND_POWER,       /* W */
    APAPI_KIND_TEMPERATURE, /* degrees Celsius */
    APAPI_KIND_FREQUENCY,   /* Hz */
    APAPI_KIND_UTILIZATION, /* % */
    APAPI_KIND_COUNT,       /* anything countable */
    APAPI_KINDS
};

/** Which part of the node an event speaks of. */
enum apapi_domain {
    APAPI_DOMAIN_NONE,
    APAPI_DOMAIN_PACKAGE,
    APAPI_DOMAIN_DRAM,
    APAPI_DOMAIN_GPU,
    APAPI_DOMAIN_CORE,
    APAPI_DOMAIN_UNCORE,
    APAPI_DOMAIN_PSYS,
    APAPI_DOMAIN_NODE,
    APAPI_DOMAINS
};

/** How the 64 bits of a raw value are to be read. */
enum apapi_type { APAPI_TYPE_INT64, APAPI_TYPE_UINT64, APAPI_TYPE_FP64, APAPI_TYPE_BIT64 };

/** One counter or gauge, as its source describes it. */
struct apapi_event {
    char name[APAPI_NAME_SIZE]; /* as in PAPI: component:::event */
    char unit[APAPI_UNIT_SIZE]; /* of raw value x scale: J, W, s, ... */
    enum apapi_kind kind;
    enum apapi_domain domain;
    enum apapi_type type;
    bool accumulates;   /* a counter; false: a gauge */
    uint64_t range_max; /* greatest raw value, after which the counter goes back to 0; 0: never */
    double scale;       /* raw value x scale = value in `unit`, > 0 */
    double guard_j;     /* energy after which the hardware's counter wraps [J]; 0: never */
    uint64_t update_ns; /* time between two updates of the raw value [ns]; 0: unknown */
    bool estimated;     /* by no meter: it has no domain and is added to nothing measured */
};

/** @return "energy", "power", ...; "?" when out of range. Static storage. */
APAPI_API const char *apapi_kind_name(enum apapi_kind kind);

/** @return "package", "dram", ...; "-" for APAPI_DOMAIN_NONE, "?" when out of range. Static. */
APAPI_API const char *apapi_domain_name(enum apapi_domain domain);

/** @return the domain called `name`, APAPI_DOMAIN_NONE if there is none such. NULL is allowed. */
APAPI_API enum apapi_domain apapi_domain_find(const char *name);

/** @return whether the domain is a part of the node's total (package, dram, gpu). */
APAPI_API bool apapi_domain_adds_up(enum apapi_domain domain);

/** @return a raw value as the event's type says, times its scale [event->unit]. */
APAPI_API double apapi_event_value(const struct apapi_event *event, uint64_t raw);

/** @return the greatest power that one meter of this domain can plausibly show [W]. */
APAPI_API double apapi_domain_max_w(enum apapi_domain domain);

#ifdef __cplusplus
}
#endif
#endif
