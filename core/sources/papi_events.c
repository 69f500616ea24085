/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi_events.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define PERF_RAPL_J 0x1p-32  /* the kernel's RAPL events count in 2^-32 J */
#define RAPL_RANGE_J 65536.0 /* the smallest range of a RAPL counter: 32 bits of 15.3 uJ */

/* What PAPI calls it and what it is; the first row that matches counts. */
static const struct rule {
    const char *pattern;
    enum use { COUNTER, GAUGE, UNUSED } use;
    enum apapi_kind kind;
    enum apapi_domain domain;
    const char *unit;
    double scale;
    double guard_j;
} rules[] = {
    {"rapl:::PACKAGE_ENERGY:*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_PACKAGE, "J", 1e-9,
     RAPL_RANGE_J},
    {"rapl:::DRAM_ENERGY:*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_DRAM, "J", 1e-9,
     RAPL_RANGE_J},
    {"rapl:::PP0_ENERGY:*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_CORE, "J", 1e-9, RAPL_RANGE_J},
    {"rapl:::PP1_ENERGY:*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_UNCORE, "J", 1e-9,
     RAPL_RANGE_J},
    {"rapl:::PSYS_ENERGY:*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_PSYS, "J", 1e-9,
     RAPL_RANGE_J},
    {"rapl:::*", UNUSED, APAPI_KIND_COUNT, APAPI_DOMAIN_NONE, "", 1, 0},
    {"*rapl::RAPL_ENERGY_PKG*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_PACKAGE, "J", PERF_RAPL_J,
     0},
    {"*rapl::RAPL_ENERGY_DRAM*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_DRAM, "J", PERF_RAPL_J,
     0},
    {"*rapl::RAPL_ENERGY_CORES*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_CORE, "J", PERF_RAPL_J,
     0},
    {"*rapl::RAPL_ENERGY_GPU*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_UNCORE, "J", PERF_RAPL_J,
     0},
    {"*rapl::RAPL_ENERGY_PSYS*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_PSYS, "J", PERF_RAPL_J,
     0},
    {"powercap:::ENERGY_UJ:*", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_NONE, "J", 1e-6, 0},
    {"powercap:::*", UNUSED, APAPI_KIND_COUNT, APAPI_DOMAIN_NONE, "", 1, 0},
    {"nvml:::*:total_energy_consumption", COUNTER, APAPI_KIND_ENERGY, APAPI_DOMAIN_GPU, "J", 1e-3,
     0},
    {"nvml:::*:power", GAUGE, APAPI_KIND_POWER, APAPI_DOMAIN_GPU, "W", 1e-3, 0},
    {"nvml:::*:*temp*", GAUGE, APAPI_KIND_TEMPERATURE, APAPI_DOMAIN_GPU, "C", 1, 0},
    {"nvml:::*utilization*", GAUGE, APAPI_KIND_UTILIZATION, APAPI_DOMAIN_GPU, "%", 1, 0},
    {"nvml:::*clock*", GAUGE, APAPI_KIND_FREQUENCY, APAPI_DOMAIN_GPU, "Hz", 1e6, 0},
    {"coretemp:::*temp*", GAUGE, APAPI_KIND_TEMPERATURE, APAPI_DOMAIN_NONE, "C", 1e-3, 0},
    {"coretemp:::*in*", GAUGE, APAPI_KIND_COUNT, APAPI_DOMAIN_NONE, "V", 1e-3, 0},
    {"coretemp:::*fan*", GAUGE, APAPI_KIND_COUNT, APAPI_DOMAIN_NONE, "rpm", 1, 0},
};

/* Units that PAPI's components give. */
static const struct unit_rule {
    const char *papi;
    enum use use;
    enum apapi_kind kind;
    const char *unit;
    double scale;
} unit_rules[] = {
    {"nJ", COUNTER, APAPI_KIND_ENERGY, "J", 1e-9}, {"uJ", COUNTER, APAPI_KIND_ENERGY, "J", 1e-6},
    {"mJ", COUNTER, APAPI_KIND_ENERGY, "J", 1e-3}, {"J", COUNTER, APAPI_KIND_ENERGY, "J", 1},
    {"uW", GAUGE, APAPI_KIND_POWER, "W", 1e-6},    {"mW", GAUGE, APAPI_KIND_POWER, "W", 1e-3},
    {"W", GAUGE, APAPI_KIND_POWER, "W", 1},
};

static const struct rule *find_rule(const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (fnmatch(rules[i].pattern, name, 0) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

static const struct unit_rule *find_unit(const char *unit)
{
    for (size_t i = 0; i < sizeof unit_rules / sizeof *unit_rules; i++) {
        if (strcmp(unit_rules[i].papi, unit) == 0) {
            return &unit_rules[i];
        }
    }
    return NULL;
}

static void apply_rule(const struct rule *rule, struct apapi_event *event)
{
    event->kind = rule->kind;
    event->domain = rule->domain;
    event->accumulates = rule->use == COUNTER;
    event->scale = rule->scale;
    event->guard_j = rule->guard_j;
    snprintf(event->unit, sizeof event->unit, "%s", rule->unit);
}

static void apply_info(const PAPI_event_info_t *info, struct apapi_event *event)
{
    const struct unit_rule *unit = find_unit(info->units);

    event->kind = unit ? unit->kind : APAPI_KIND_COUNT;
    event->accumulates = unit ? unit->use == COUNTER : info->timescope != PAPI_TIMESCOPE_POINT;
    event->scale = unit ? unit->scale : 1;
    snprintf(event->unit, sizeof event->unit, "%.*s", (int)sizeof event->unit - 1,
             unit ? unit->unit : info->units);
}

static enum apapi_type type_of(int papi_type)
{
    switch (papi_type) {
    case PAPI_DATATYPE_UINT64:
        return APAPI_TYPE_UINT64;
    case PAPI_DATATYPE_FP64:
        return APAPI_TYPE_FP64;
    case PAPI_DATATYPE_BIT64:
        return APAPI_TYPE_BIT64;
    default:
        return APAPI_TYPE_INT64;
    }
}

bool papi_event_describe(const PAPI_event_info_t *info, const char *name, struct apapi_event *event)
{
    const struct rule *rule = find_rule(name);

    memset(event, 0, sizeof *event);
    if (strlen(name) >= sizeof event->name || (rule && rule->use == UNUSED)) {
        return false;
    }
    strcpy(event->name, name);
    event->type = type_of(info->data_type);
    if (rule) {
        apply_rule(rule, event);
    } else {
        apply_info(info, event);
    }
    return true;
}
