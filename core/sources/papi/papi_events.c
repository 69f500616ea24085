/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi/papi_events.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/count_of.h"
#include "sources/sources.h"

#define RAPL_RANGE_J 65536.0 /* the smallest range of a RAPL counter: 32 bits of 15.3 uJ */
#define RAPL "rapl:::"

/* Units of PAPI's components and of the rules below. */
static const struct unit {
    const char *papi;
    enum apapi_kind kind;
    bool accumulates;
    const char *unit;
    double scale;
} units[] = {
    {"nJ", APAPI_KIND_ENERGY, true, "J", 1e-9},
    {"uJ", APAPI_KIND_ENERGY, true, "J", 1e-6},
    {"mJ", APAPI_KIND_ENERGY, true, "J", 1e-3},
    {"J", APAPI_KIND_ENERGY, true, "J", 1},
    {"2^-32 J", APAPI_KIND_ENERGY, true, "J", 0x1p-32},
    {"uW", APAPI_KIND_POWER, false, "W", 1e-6},
    {"mW", APAPI_KIND_POWER, false, "W", 1e-3},
    {"W", APAPI_KIND_POWER, false, "W", 1},
    {"W limit", APAPI_KIND_COUNT, false, "W", 1}, /* not a power that is drawn */
    {"s", APAPI_KIND_COUNT, false, "s", 1},
    {"mC", APAPI_KIND_TEMPERATURE, false, "C", 1e-3},
    {"C", APAPI_KIND_TEMPERATURE, false, "C", 1},
    {"degrees C", APAPI_KIND_TEMPERATURE, false, "C", 1},
    {"Hz", APAPI_KIND_FREQUENCY, false, "Hz", 1},
    {"kHz", APAPI_KIND_FREQUENCY, false, "Hz", 1e3},
    {"MHz", APAPI_KIND_FREQUENCY, false, "Hz", 1e6},
    {"%", APAPI_KIND_UTILIZATION, false, "%", 1},
    {"m%", APAPI_KIND_UTILIZATION, false, "%", 1e-3},
    {"uV", APAPI_KIND_COUNT, false, "V", 1e-6},
    {"mV", APAPI_KIND_COUNT, false, "V", 1e-3},
    {"uA", APAPI_KIND_COUNT, false, "A", 1e-6},
    {"mA", APAPI_KIND_COUNT, false, "A", 1e-3},
    {"RPM", APAPI_KIND_COUNT, false, "rpm", 1},
    {"mRPM", APAPI_KIND_COUNT, false, "rpm", 1e-3},
    {"B", APAPI_KIND_COUNT, false, "B", 1},
    {"B since", APAPI_KIND_COUNT, true, "B", 1},
    {"4 B since", APAPI_KIND_COUNT, true, "B", 4},
    {"#", APAPI_KIND_COUNT, false, "", 1},
    {"# since", APAPI_KIND_COUNT, true, "", 1},
};

#define AS_PAPI NULL /* use PAPI's unit */
#define UNUSED ""    /* not a meter, or shown by another event */

/* What PAPI leaves open or gets wrong. The first matching row counts. */
static const struct rule {
    const char *pattern;
    const char *unit;
    enum apapi_domain domain;
    double guard_j;
} rules[] = {
    {"rapl:::PACKAGE_ENERGY:*", AS_PAPI, APAPI_DOMAIN_PACKAGE, RAPL_RANGE_J},
    {"rapl:::DRAM_ENERGY:*", AS_PAPI, APAPI_DOMAIN_DRAM, RAPL_RANGE_J},
    {"rapl:::PP0_ENERGY:*", AS_PAPI, APAPI_DOMAIN_CORE, RAPL_RANGE_J},
    {"rapl:::PP1_ENERGY:*", AS_PAPI, APAPI_DOMAIN_UNCORE, RAPL_RANGE_J},
    {"rapl:::PSYS_ENERGY:*", AS_PAPI, APAPI_DOMAIN_PSYS, RAPL_RANGE_J},
    {"rapl:::*_ENERGY_CNT:*", "# since", APAPI_DOMAIN_NONE, 0},
    {"rapl:::*_CNT:*", "#", APAPI_DOMAIN_NONE, 0},
    {"rapl:::THERMAL_SPEC:*", "W limit", APAPI_DOMAIN_NONE, 0},
    {"rapl:::M*IMUM_POWER:*", "W limit", APAPI_DOMAIN_NONE, 0},
    {"rapl:::*", AS_PAPI, APAPI_DOMAIN_NONE, 0},
    {"*rapl::RAPL_ENERGY_PKG*", "2^-32 J", APAPI_DOMAIN_PACKAGE, 0},
    {"*rapl::RAPL_ENERGY_DRAM*", "2^-32 J", APAPI_DOMAIN_DRAM, 0},
    {"*rapl::RAPL_ENERGY_CORES*", "2^-32 J", APAPI_DOMAIN_CORE, 0},
    {"*rapl::RAPL_ENERGY_GPU*", "2^-32 J", APAPI_DOMAIN_UNCORE, 0},
    {"*rapl::RAPL_ENERGY_PSYS*", "2^-32 J", APAPI_DOMAIN_PSYS, 0},
    {"powercap:::ENERGY_UJ:*", "uJ", APAPI_DOMAIN_NONE, 0},
    {"powercap:::*", UNUSED, APAPI_DOMAIN_NONE, 0},
    {"nvml:::*:total_energy_consumption", "mJ", APAPI_DOMAIN_GPU, 0},
    {"nvml:::*:power", "mW", APAPI_DOMAIN_GPU, 0},
    {"nvml:::*power*", "mW", APAPI_DOMAIN_NONE,
     0}, /* limits, parts, and other averages of the same power */
    {"nvml:::*:*temperature*", "C", APAPI_DOMAIN_GPU, 0},
    {"nvml:::*_utilization", "%", APAPI_DOMAIN_GPU, 0},
    {"nvml:::*_clock", "MHz", APAPI_DOMAIN_GPU, 0},
    {"nvml:::*_memory", "B", APAPI_DOMAIN_GPU, 0},
    {"nvml:::*_errors", "# since", APAPI_DOMAIN_GPU, 0},
    {"nvml:::*", "#", APAPI_DOMAIN_GPU, 0},
    {"rocm_smi:::energy_count:*", "uJ", APAPI_DOMAIN_GPU, 0},
    {"rocm_smi:::power_average:*", "uW", APAPI_DOMAIN_GPU, 0},
    {"rocm_smi:::*power*", "uW", APAPI_DOMAIN_NONE, 0},
    {"rocm_smi:::temp_*", "mC", APAPI_DOMAIN_GPU, 0},
    {"rocm_smi:::*busy_percent*", "%", APAPI_DOMAIN_GPU, 0},
    {"rocm_smi:::*clk_freq_*", "Hz", APAPI_DOMAIN_GPU, 0},
    {"rocm_smi:::mem_*", "B", APAPI_DOMAIN_GPU, 0},
    {"rocm_smi:::*", "#", APAPI_DOMAIN_GPU, 0},
    {"amd_smi:::energy_consumed:*", "uJ", APAPI_DOMAIN_GPU, 0},
    {"amd_smi:::power_average:*", "W", APAPI_DOMAIN_GPU, 0},
    {"amd_smi:::power_current:*", "W", APAPI_DOMAIN_NONE, 0},
    {"amd_smi:::*_activity:*", "%", APAPI_DOMAIN_GPU, 0},
    {"amd_smi:::*", "#", APAPI_DOMAIN_NONE, 0},
    {"coretemp:::*:temp*", "mC", APAPI_DOMAIN_NONE, 0}, /* PAPI says "degrees C" */
    {"coretemp:::*:in*", "mV", APAPI_DOMAIN_NONE, 0},   /* PAPI says "V" */
    {"coretemp:::*:fan*", "RPM", APAPI_DOMAIN_NONE, 0},
    /* libsensors' numbers times 1000 */
    {"lmsensors:::*.temp[0-9]*_input", "mC", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.in[0-9]*_input", "mV", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.curr[0-9]*_input", "mA", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.fan[0-9]*_input", "mRPM", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.power[0-9]*_input", "mW", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.power[0-9]*_average", "mW", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.energy[0-9]*_input", "mJ", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*", "#", APAPI_DOMAIN_NONE, 0},
    {"maxeler:::*_POWER:*", "uW", APAPI_DOMAIN_NONE, 0},
    {"maxeler:::*_TEMPERATURE:*", "mC", APAPI_DOMAIN_NONE, 0},
    {"maxeler:::COMPUTE_UTIL:*", "m%", APAPI_DOMAIN_NONE, 0},
    {"micknc:::POWER_*", "uW", APAPI_DOMAIN_NONE, 0},
    {"micknc:::TEMP_*", "C", APAPI_DOMAIN_NONE, 0},
    {"micknc:::FREQ_*", "kHz", APAPI_DOMAIN_NONE, 0},
    {"micknc:::UTIL:*", "%", APAPI_DOMAIN_NONE, 0},
    {"micknc:::*", "#", APAPI_DOMAIN_NONE, 0},
    {"net:::*:byte*", "B since", APAPI_DOMAIN_NONE, 0}, /* PAPI 7.2 cuts off the last letter */
    {"infiniband:::*port_*_data*", "4 B since", APAPI_DOMAIN_NONE, 0},
};

static const struct rule *find_rule(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (fnmatch(rules[i].pattern, name, 0) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

/* Of component rapl what is no energy of a domain; see papi_event_describe(). */
static bool is_spare(const char *name, const struct rule *rule)
{
    return rule && rule->domain == APAPI_DOMAIN_NONE && strncmp(name, RAPL, strlen(RAPL)) == 0;
}

bool papi_event_is_named_only(const char *name)
{
    return is_spare(name, find_rule(name));
}

static const struct unit *papi_events_find_unit(const char *unit)
{
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (strcmp(units[i].papi, unit) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

static void apply_unit(const struct unit *unit, struct apapi_event *event)
{
    event->kind = unit->kind;
    event->accumulates = unit->accumulates;
    event->scale = unit->scale;
    snprintf(event->unit, sizeof event->unit, "%s", unit->unit);
}

/* An unknown unit: a count in PAPI's unit. */
static void count_units(const PAPI_event_info_t *info, struct apapi_event *event)
{
    event->kind = APAPI_KIND_COUNT;
    event->accumulates = info->timescope != PAPI_TIMESCOPE_POINT;
    event->scale = 1;
    snprintf(event->unit, sizeof event->unit, "%.*s", (int)sizeof event->unit - 1, info->units);
}

static enum apapi_type papi_events_type_of(int papi_type)
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
    const struct unit *unit = papi_events_find_unit(rule && rule->unit ? rule->unit : info->units);

    memset(event, 0, sizeof *event);
    if (strlen(name) >= sizeof event->name || (rule && rule->unit && !unit) ||
        (is_spare(name, rule) && !wanted_events_name(name))) {
        return false;
    }
    strcpy(event->name, name);
    event->type = papi_events_type_of(info->data_type);
    if (rule) {
        event->domain = rule->domain;
        event->guard_j = rule->guard_j;
    }
    if (unit) {
        apply_unit(unit, event);
    } else {
        count_units(info, event);
    }
    return true;
}
