/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/map.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/catalog.h"

static void course_go_on(struct course *course, double area, uint64_t dt_ns, double value)
{
    course->integral += area;
    course->covered_ns += dt_ns;
    course->max = !course->known || value > course->max ? value : course->max;
    course->last = value;
    course->known = true;
}

void course_add(struct course *course, double value, uint64_t now_ns)
{
    uint64_t dt_ns = course->last_ns ? now_ns - course->last_ns : 0;

    course_go_on(course, (course->last + value) / 2 * (double)dt_ns, dt_ns, value);
    course->last_ns = now_ns;
}

/* Add a counter's increment since the last call. @param amount  NaN: not known */
static void course_count(struct course *course, double amount, uint64_t now_ns)
{
    uint64_t dt_ns = course->last_ns ? now_ns - course->last_ns : 0;

    if (dt_ns > 0 && !isnan(amount)) {
        course_go_on(course, amount * 1e9, dt_ns, amount * 1e9 / (double)dt_ns);
    }
    course->last_ns = now_ns;
}

struct figure course_figure(const struct course *course)
{
    if (!course->known) {
        return (struct figure){NAN, NAN, NAN, NAN, NAN};
    }
    return (struct figure){
        .total = course->integral / 1e9,
        .mean = course->covered_ns ? course->integral / (double)course->covered_ns : course->last,
        .max = course->max,
        .sum = NAN,
        .now = course->last};
}

/* --- fields --- */

#define FIELD_ANY_KIND APAPI_KINDS
#define FIELD_ANY_DOMAIN APAPI_DOMAINS

/* The number of an event that a field gets. */
enum statistic {
    STATISTIC_TOTAL = offsetof(struct figure, total),
    STATISTIC_MEAN = offsetof(struct figure, mean),
    STATISTIC_MAX = offsetof(struct figure, max),
    STATISTIC_SUM = offsetof(struct figure, sum),
    STATISTIC_NOW = offsetof(struct figure, now)
};

/* The rule for several events in one field. */
enum join { JOIN_ADD, JOIN_MAX, JOIN_MEAN };

enum number_type { NUMBER_DOUBLE, NUMBER_U32, NUMBER_U64 };

/* A field, or one for each processor package or core. */
struct field {
    const char *pattern; /* of events' names, for fnmatch(3) */
    enum apapi_kind kind;
    enum apapi_domain domain;
    enum statistic statistic;
    enum join join;
    enum part part;
    enum number_type type;
    size_t offset;        /* in the measurement [bytes] */
    size_t package_bytes; /* from one package to the next; 0: one field for all */
    size_t core_bytes;    /* from one core to the next; 0: one field for all */
    double factor;        /* for values in the event's unit, if its kind is known */
    double raw_factor;    /* for raw values, if only the event's name tells what they are */
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MEMBER(tag, member) ((struct tag *)NULL)->member
#define TYPE(tag, member)                                                                          \
    _Generic(MEMBER(tag, member), double                                                           \
             : NUMBER_DOUBLE, uint32_t                                                             \
             : NUMBER_U32, uint64_t                                                                \
             : NUMBER_U64)
#define STEP(tag, member) (sizeof MEMBER(tag, member))

#define ANY FIELD_ANY_KIND, FIELD_ANY_DOMAIN
#define TO(tag, member) TYPE(tag, member), offsetof(struct tag, member)
#define ONE(tag, member) TO(tag, member), 0, 0
/* Names of members cannot be in parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define PER_PACKAGE(member) TO(ms_cpu, member[0]), STEP(ms_cpu, member[0]), 0
#define PER_CORE(member)                                                                           \
    TO(ms_cpu, member[0][0]), STEP(ms_cpu, member[0]), STEP(ms_cpu, member[0][0])
#define PER_RAIL(member, index) TO(ms_cpu, member[0][index]), STEP(ms_cpu, member[0]), 0
/* NOLINTEND(bugprone-macro-parentheses) */

#define MILLI 1000, 1000 /* J to mWs, W to mW */
#define SAME 1, 1
#define MHZ 1e-6, 1           /* Hz; raw: MHz */
#define MHZ_OF_KHZ 1e-6, 1e-3 /* Hz; raw: kHz */
#define SECONDS 1e-3, 1e-3    /* ms */
#define KIB_OF_BYTES 1.0 / 1024, 1.0 / 1024

/* Energy and power of a part of a package: total, mean and latest power. */
#define RAIL_FIELD(domain, statistic, member, index)                                               \
    {                                                                                              \
        "*", APAPI_KIND_ENERGY, domain, STATISTIC_##statistic, JOIN_ADD, PART_NONE,                \
            PER_RAIL(member, index), MILLI                                                         \
    }
#define RAIL(domain, index)                                                                        \
    RAIL_FIELD(domain, TOTAL, msr_energy_acc, index),                                              \
        RAIL_FIELD(domain, MEAN, msr_power_avg, index),                                            \
        RAIL_FIELD(domain, NOW, msr_power_cur, index)

#define CPU(pattern, statistic, join, part, ...)                                                   \
    {                                                                                              \
        "rapl:::" pattern, ANY, STATISTIC_##statistic, JOIN_##join, PART_##part, __VA_ARGS__       \
    }

#define SPEED(pattern, prefix)                                                                     \
    CPU(pattern, MEAN, MEAN, FREQUENCY, PER_CORE(prefix##_avg), MHZ_OF_KHZ),                       \
        CPU(pattern, TOTAL, MEAN, FREQUENCY, PER_CORE(prefix##_acc), MHZ_OF_KHZ),                  \
        CPU(pattern, NOW, MEAN, FREQUENCY, PER_CORE(prefix##_cur), MHZ_OF_KHZ)

/* Events with names as in config/legacy exist in the PAPI of the original APAPI only. */
static const struct field cpu_fields[] = {
    RAIL(APAPI_DOMAIN_PACKAGE, 0),
    RAIL(APAPI_DOMAIN_CORE, 1),
    RAIL(APAPI_DOMAIN_DRAM, 2),
    CPU("THERM_STATUS:PACKAGE[0-9]", MAX, MAX, TEMPERATURE, PER_PACKAGE(msr_temperature_pkg_max),
        SAME),
    CPU("THERM_STATUS:PACKAGE[0-9]", NOW, MAX, TEMPERATURE, PER_PACKAGE(msr_temperature_pkg_cur),
        SAME),
    CPU("THERM_STATUS:*:CPU*", MAX, MAX, TEMPERATURE, PER_CORE(msr_temperature_core_max), SAME),
    CPU("THERM_STATUS:*:CPU*", NOW, MAX, TEMPERATURE, PER_CORE(msr_temperature_core_cur), SAME),
    SPEED("AVG_FREQUENCY:*", msr_freq_core),
    SPEED("EFF_FREQUENCY:*", msr_freq_core_eff),
    CPU("TIME_WORK", MAX, MAX, TIME, ONE(ms_cpu, measure_util_active_avg), SECONDS),
    CPU("TIME_IDLE", MAX, MAX, TIME, ONE(ms_cpu, measure_util_idle_avg), SECONDS),
    CPU("TIME_UTIL", MEAN, MEAN, TIME, ONE(ms_cpu, measure_util_avg), SAME),
    CPU("TIME_UTIL", NOW, MEAN, TIME, ONE(ms_cpu, measure_util_avg_cur), SAME),
    CPU("MEM_TOTAL", MAX, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[0]), SAME),
    CPU("MEM_FREE", NOW, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[1]), SAME),
    CPU("MEM_FREE", MAX, MAX, MEMORY, ONE(ms_cpu, measure_memory_free_max), SAME),
    CPU("MEM_USED", NOW, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[2]), SAME),
    CPU("MEM_USED", MAX, MAX, MEMORY, ONE(ms_cpu, measure_memory_used_max), SAME),
    CPU("SWAP_TOTAL", MAX, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[3]), SAME),
    CPU("SWAP_FREE", NOW, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[4]), SAME),
    CPU("SWAP_FREE", MAX, MAX, MEMORY, ONE(ms_cpu, measure_swap_free_max), SAME),
    CPU("SWAP_USED", NOW, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[5]), SAME),
    CPU("SWAP_USED", MAX, MAX, MEMORY, ONE(ms_cpu, measure_swap_used_max), SAME),
};

#define METER(kind, statistic, member)                                                             \
    {                                                                                              \
        "*", APAPI_KIND_##kind, APAPI_DOMAIN_GPU, STATISTIC_##statistic, JOIN_ADD, PART_NONE,      \
            ONE(ms_gpu, member), MILLI                                                             \
    }
#define METERS(kind)                                                                               \
    METER(kind, TOTAL, nvml_energy_acc), METER(kind, MEAN, nvml_power_avg),                        \
        METER(kind, NOW, nvml_power_cur)
#define GPU(pattern, statistic, join, member, ...)                                                 \
    {                                                                                              \
        pattern, ANY, STATISTIC_##statistic, JOIN_##join, PART_NONE, ONE(ms_gpu, member),          \
            __VA_ARGS__                                                                            \
    }
#define HOT(pattern)                                                                               \
    GPU(pattern, MAX, MAX, nvml_temperature_max, SAME),                                            \
        GPU(pattern, NOW, MAX, nvml_temperature_cur, SAME)
#define GAUGE(pattern, prefix, ...)                                                                \
    GPU(pattern, MEAN, MEAN, prefix##_avg, __VA_ARGS__),                                           \
        GPU(pattern, TOTAL, MEAN, prefix##_acc, __VA_ARGS__),                                      \
        GPU(pattern, NOW, MEAN, prefix##_cur, __VA_ARGS__)
#define CLOCK(pattern, name) GAUGE(pattern, nvml_clock_##name, MHZ)
#define BUSY(pattern, name) GAUGE(pattern, nvml_util_##name, SAME)
#define USED(pattern)                                                                              \
    GPU(pattern, MAX, ADD, nvml_memory_used_max, KIB_OF_BYTES),                                    \
        GPU(pattern, NOW, ADD, nvml_memory_used_cur, KIB_OF_BYTES)

/* A GPU has a counter of energy or a gauge of power; the counter is taken if there are both. */
static const struct field gpu_fields[] = {
    METERS(ENERGY),
    METERS(POWER),
    HOT("nvml:::*:temperature"),
    HOT("rocm_smi:::temp_current:*:sensor=0"),
    CLOCK("nvml:::*:graphics_clock", graphics),
    CLOCK("nvml:::*:sm_clock", sm),
    CLOCK("nvml:::*:memory_clock", mem),
    BUSY("nvml:::*:gpu_utilization", gpu),
    BUSY("rocm_smi:::busy_percent:*", gpu),
    BUSY("amd_smi:::gfx_activity:*", gpu),
    BUSY("nvml:::*:memory_utilization", mem),
    BUSY("rocm_smi:::memory_busy_percent:*", mem),
    BUSY("amd_smi:::umc_activity:*", mem),
    USED("nvml:::*:allocated_memory"),
    USED("*_smi:::mem_usage_VRAM:*"),
    GPU("nvml:::*:unallocated_memory", MAX, ADD, nvml_memory_free_max, KIB_OF_BYTES),
    GPU("nvml:::*:unallocated_memory", NOW, ADD, nvml_memory_free_cur, KIB_OF_BYTES),
    GPU("nvml:::*:total_memory", MAX, ADD, nvml_memory_total, KIB_OF_BYTES),
};

#define CARD(pattern, statistic, tag, member, ...)                                                 \
    {                                                                                              \
        pattern, ANY, STATISTIC_##statistic, JOIN_MAX, PART_NONE, ONE(tag, member), __VA_ARGS__    \
    }
#define COURSE(pattern, tag, prefix, ...)                                                          \
    CARD(pattern, MEAN, tag, prefix##_avg, __VA_ARGS__),                                           \
        CARD(pattern, TOTAL, tag, prefix##_acc, __VA_ARGS__),                                      \
        CARD(pattern, NOW, tag, prefix##_cur, __VA_ARGS__)
#define POWERS(pattern, tag, prefix, index)                                                        \
    CARD(pattern, TOTAL, tag, prefix##_energy_acc[index], MILLI),                                  \
        CARD(pattern, MEAN, tag, prefix##_power_avg[index], MILLI),                                \
        CARD(pattern, NOW, tag, prefix##_power_cur[index], MILLI)
#define TEMPERATURES(pattern, tag, prefix, index)                                                  \
    CARD(pattern, MAX, tag, prefix##_temperature_max[index], SAME),                                \
        CARD(pattern, NOW, tag, prefix##_temperature_cur[index], SAME)

#define FPGA_POWER(name, index) POWERS("maxeler:::" name "_POWER:DEVICE0", ms_fpga, maxeler, index)

static const struct field fpga_fields[] = {
    FPGA_POWER("vcc1v0_c", 0),
    FPGA_POWER("vcc1v5_ddr", 1),
    FPGA_POWER("vcc2v5_aux", 2),
    FPGA_POWER("imgt_1v0", 3),
    FPGA_POWER("imgt_1v2", 4),
    FPGA_POWER("mgt_1v0", 5),
    FPGA_POWER("mgt_1v2", 6),
    FPGA_POWER("fpga", 7),
    TEMPERATURES("maxeler:::mmgt_TEMPERATURE:DEVICE0", ms_fpga, maxeler, 0),
    TEMPERATURES("maxeler:::imgt_TEMPERATURE:DEVICE0", ms_fpga, maxeler, 1),
    COURSE("maxeler:::COMPUTE_UTIL:DEVICE0", ms_fpga, maxeler_util_comp, SAME),
};

#define MIC_POWER(name, index) POWERS("micknc:::POWER_" name ":DEVICE0", ms_mic, mic, index)
#define MIC_TEMP(name, index) TEMPERATURES("micknc:::TEMP_" name ":DEVICE0", ms_mic, mic, index)
#define MIC(name, statistic, member, ...)                                                          \
    CARD("micknc:::" name ":DEVICE0", statistic, ms_mic, member, __VA_ARGS__)

static const struct field mic_fields[] = {
    MIC_POWER("PCIE", 0),
    MIC_POWER("C2X3", 1),
    MIC_POWER("C2X4", 2),
    MIC_POWER("VCCP", 3),
    MIC_POWER("VDDG", 4),
    MIC_POWER("VDDQ", 5),
    MIC_POWER("MIC", 6),
    MIC_TEMP("DIE", 0),
    MIC_TEMP("GDDR", 1),
    MIC_TEMP("FANIN", 2),
    MIC_TEMP("FANOUT", 3),
    MIC_TEMP("VCCP", 4),
    MIC_TEMP("VDDG", 5),
    MIC_TEMP("VDDQ", 6),
    COURSE("micknc:::FREQ_CORE:DEVICE0", ms_mic, mic_freq_core, MHZ_OF_KHZ),
    COURSE("micknc:::FREQ_MEM:DEVICE0", ms_mic, mic_freq_mem, MHZ_OF_KHZ),
    MIC("TIME_ACTIVE", SUM, mic_util_active_avg, SECONDS),
    MIC("TIME_IDLE", SUM, mic_util_idle_avg, SECONDS),
    MIC("UTIL", MEAN, mic_util_avg, SAME),
    MIC("UTIL", NOW, mic_util_avg_cur, SAME),
    MIC("MEM_TOTAL", MAX, mic_memory_total, SAME),
    MIC("MEM_USED", MAX, mic_memory_used_max, SAME),
    MIC("MEM_USED", NOW, mic_memory_used_cur, SAME),
    MIC("MEM_FREE", MAX, mic_memory_free_max, SAME),
    MIC("MEM_FREE", NOW, mic_memory_free_cur, SAME),
};

#define SYSTEM(pattern, statistic, member) CARD("ipmi:::" pattern, statistic, ms_sys, member, SAME)

static const struct field system_fields[] = {
    SYSTEM("SYSTEM_POWER", TOTAL, ipmi_energy_server_acc),
    SYSTEM("SYSTEM_POWER", MEAN, ipmi_power_server_avg),
    SYSTEM("SYSTEM_POWER", NOW, ipmi_power_server_cur),
    SYSTEM("BOARD_POWER", TOTAL, ipmi_energy_sysboard_acc),
    SYSTEM("BOARD_POWER", MEAN, ipmi_power_sysboard_avg),
    SYSTEM("BOARD_POWER", NOW, ipmi_power_sysboard_cur),
    SYSTEM("SYSTEM_TEMP", MAX, ipmi_temperature_sysboard_max),
    SYSTEM("SYSTEM_TEMP", NOW, ipmi_temperature_sysboard_cur),
};

static const struct {
    const struct field *fields;
    size_t count;
} fields_of[RESOURCES] = {
    [RESOURCE_CPU] = {cpu_fields, COUNT_OF(cpu_fields)},
    [RESOURCE_GPU] = {gpu_fields, COUNT_OF(gpu_fields)},
    [RESOURCE_FPGA] = {fpga_fields, COUNT_OF(fpga_fields)},
    [RESOURCE_SYSTEM] = {system_fields, COUNT_OF(system_fields)},
    [RESOURCE_MIC] = {mic_fields, COUNT_OF(mic_fields)},
};

void map_want_old_events(void)
{
    for (size_t i = 0; i < COUNT_OF(cpu_fields); i++) {
        if (cpu_fields[i].part != PART_NONE) {
            apapi_catalog_want(cpu_fields[i].pattern);
        }
    }
}

/* --- the map --- */

#define CELLS (MS_CPUS * MS_CORES)

/* An event for a field, and the package and core of the field. Matches are ordered by field. */
struct map_match {
    const struct field *field;
    size_t event;
    unsigned cell;
    double factor;
};

/* The values of several events for a field, and for one package and core. */
struct cell {
    double sum;
    double max;
    unsigned count;
};

/* The events of a component, and the map that they are entered in. */
struct matching {
    const struct event_table *events;
    struct map *map;
    bool gpu_counter, gpu_gauge;
};

static const struct apapi_event *event_table_at(const struct event_table *table, size_t index)
{
    return (const void *)((const char *)table->first + index * table->stride);
}

/* @return the number behind `word` in a name; -1: there is none. */
static long map_number(const char *name, const char *word)
{
    const char *found = strstr(name, word);

    while (found && !isdigit((unsigned char)found[strlen(word)])) {
        found = strstr(found + 1, word);
    }
    return found ? strtol(found + strlen(word), NULL, 10) : -1;
}

/* A counter is better than integrated power; a gauge better than the difference of two readings. */
static bool map_is_second_best(const struct matching *matching, const struct field *field)
{
    if (field->domain != APAPI_DOMAIN_GPU) {
        return false;
    }
    return field->statistic == STATISTIC_NOW
               ? field->kind == APAPI_KIND_ENERGY && matching->gpu_gauge
               : field->kind == APAPI_KIND_POWER && matching->gpu_counter;
}

/*
 * Perf events name a CPU of the package: "cpu=16". Then the order of events tells the package.
 * @param earlier  number of events that the field has so far
 */
static int map_take(struct matching *matching, const struct field *field, size_t index,
                    unsigned earlier)
{
    const struct apapi_event *event = event_table_at(matching->events, index);
    struct map *map = matching->map;
    long core = field->core_bytes ? map_number(event->name, ":CPU") : 0;
    long number = field->package_bytes ? map_number(event->name, "PACKAGE") : 0;
    unsigned package = number >= 0 ? (unsigned)number : earlier;
    struct map_match *grown;

    if (core < 0 || core >= MS_CORES) {
        return 0;
    }
    grown = realloc(map->matches, (map->count + 1) * sizeof *grown);
    if (!grown) {
        return -1;
    }
    map->matches = grown;
    grown[map->count++] =
        (struct map_match){field, index, package % MS_CPUS * MS_CORES + (unsigned)core,
                           event->kind == APAPI_KIND_COUNT ? field->raw_factor : field->factor};
    map->parts |= (unsigned)field->part;
    if (field->package_bytes && package >= map->packages) {
        map->packages = package + 1;
    }
    if (field->domain == APAPI_DOMAIN_GPU && field->statistic == STATISTIC_TOTAL) {
        map->gpus++;
    }
    return 0;
}

static int map_match_field(struct matching *matching, const struct field *field)
{
    unsigned earlier = 0;

    if (map_is_second_best(matching, field)) {
        return 0;
    }
    for (size_t i = 0; i < matching->events->count; i++) {
        const struct apapi_event *event = event_table_at(matching->events, i);

        if ((field->kind == FIELD_ANY_KIND || field->kind == event->kind) &&
            (field->domain == FIELD_ANY_DOMAIN || field->domain == event->domain) &&
            fnmatch(field->pattern, event->name, 0) == 0 &&
            map_take(matching, field, i, earlier++)) {
            return -1;
        }
    }
    return 0;
}

int map_build(struct map *map, enum resource resource, const struct event_table *events)
{
    struct matching matching = {.events = events, .map = map};

    *map = (struct map){.resource = resource};
    for (size_t i = 0; i < events->count; i++) {
        const struct apapi_event *event = event_table_at(events, i);

        if (event->domain == APAPI_DOMAIN_GPU) {
            matching.gpu_counter |= event->kind == APAPI_KIND_ENERGY;
            matching.gpu_gauge |= event->kind == APAPI_KIND_POWER;
        }
    }
    for (size_t i = 0; i < fields_of[resource].count; i++) {
        if (map_match_field(&matching, &fields_of[resource].fields[i])) {
            map_clear(map);
            return -1;
        }
    }
    return 0;
}

static void cell_add(struct cell *cell, double value)
{
    if (isnan(value)) {
        return;
    }
    cell->max = cell->count == 0 || value > cell->max ? value : cell->max;
    cell->sum += value;
    cell->count++;
}

static void map_put(const struct field *field, unsigned cell, double value, void *measurement)
{
    void *member = (char *)measurement + field->offset + cell / MS_CORES * field->package_bytes +
                   cell % MS_CORES * field->core_bytes;

    switch (field->type) {
    case NUMBER_DOUBLE:
        number_put_double(member, value);
        break;
    case NUMBER_U32:
        number_put_u32(member, value);
        break;
    case NUMBER_U64:
        number_put_u64(member, value);
        break;
    }
}

/* Store all matches of the first match's field. @return their number */
static size_t map_store_field(const struct map_match *matches, size_t count,
                              const struct figure *figures, void *measurement)
{
    const struct field *field = matches->field;
    struct cell cells[CELLS] = {0};
    size_t i = 0;

    for (; i < count && matches[i].field == field; i++) {
        const char *figure = (const char *)&figures[matches[i].event];
        double value;

        memcpy(&value, figure + field->statistic, sizeof value);
        cell_add(&cells[matches[i].cell], value * matches[i].factor);
    }
    for (unsigned c = 0; c < CELLS; c++) {
        double sum = field->join == JOIN_MEAN ? cells[c].sum / cells[c].count : cells[c].sum;

        if (cells[c].count) {
            map_put(field, c, field->join == JOIN_MAX ? cells[c].max : sum, measurement);
        }
    }
    return i;
}

void map_store(const struct map *map, const struct figure *figures, void *measurement)
{
    for (size_t i = 0; i < map->count;) {
        i += map_store_field(&map->matches[i], map->count - i, figures, measurement);
    }
}

void map_clear(struct map *map)
{
    free(map->matches);
    *map = (struct map){.resource = map->resource};
}

/* --- targets --- */

#define NS_PER_S UINT64_C(1000000000)

uint64_t target_interval_ns(enum resource resource, void *measurement)
{
    const struct resource_head head = resource_head(resource, measurement);
    uint64_t part_ns = (uint64_t)head.wait->tv_sec * NS_PER_S + (uint64_t)head.wait->tv_nsec;
    uint64_t asked_ns;

    if (head.wait->tv_sec < 0 || head.wait->tv_nsec < 0) {
        return APAPI_INTERVAL_DEFAULT_NS;
    }
    if (head.wait->tv_sec > (time_t)(APAPI_INTERVAL_MAX_NS / NS_PER_S) ||
        __builtin_mul_overflow(part_ns, *head.checks ? *head.checks : 1, &asked_ns)) {
        asked_ns = UINT64_MAX;
    } else if (*head.checks > 1 && asked_ns < UINT64_MAX - 1000) {
        /* ms_set_timer() has divided the interval by `checks`: round up to whole microseconds */
        asked_ns = (asked_ns + 999) / 1000 * 1000;
    }
    if (asked_ns < APAPI_INTERVAL_MIN_NS) {
        say("%s: an interval of 1 ms instead of a shorter one", resource_rows[resource].name);
        return APAPI_INTERVAL_MIN_NS;
    }
    if (asked_ns > APAPI_INTERVAL_MAX_NS) {
        say("%s: an interval of 1 h instead of a longer one", resource_rows[resource].name);
        return APAPI_INTERVAL_MAX_NS;
    }
    return asked_ns;
}

static void target_forget_events(struct target *target)
{
    map_clear(&target->map);
    free(target->figures);
    free(target->courses);
    target->figures = NULL;
    target->courses = NULL;
    target->mapped = false;
}

void target_start(struct target *target)
{
    target_forget_events(target);
    resource_clear(target->resource, target->measurement);
}

/* Say once for each process that figures are added up, as a program measures often. */
static bool target_map(struct target *target, const struct event_table *events)
{
    static atomic_flag packages = ATOMIC_FLAG_INIT, gpus = ATOMIC_FLAG_INIT;

    target->figures = calloc(events->count + 1, sizeof *target->figures);
    target->courses = calloc(events->count + 1, sizeof *target->courses);
    if (!target->figures || !target->courses || map_build(&target->map, target->resource, events)) {
        target_forget_events(target);
        return false;
    }
    if (target->map.packages > 2 && !atomic_flag_test_and_set(&packages)) {
        say("%u processor packages: those with even numbers are added up as CPU 0, the others as "
            "CPU 1",
            target->map.packages);
    }
    if (target->map.gpus > 1 && !atomic_flag_test_and_set(&gpus)) {
        say("%u GPUs: their energy, power and memory are added up", target->map.gpus);
    }
    target->mapped = true;
    return true;
}

/* After failed readings, a counter's increment is of all the time since the last good reading.
 */
static void target_go_on(struct course *course, const struct apapi_sample *sample, size_t i)
{
    uint64_t now_ns = sample->time_ns + 1;

    if (sample->events[i].accumulates) {
        if (!sample->readings[i].error) {
            course_count(course, sample->values[i], now_ns);
        }
    } else if (sample->readings[i].error || isnan(sample->values[i])) {
        course->last_ns = 0; /* nothing is known up to the next value */
    } else {
        course_add(course, sample->values[i], now_ns);
    }
}

static void target_store(struct target *target, const struct figure *figures, uint64_t runtime_ns)
{
    map_store(&target->map, figures, target->measurement);
    number_put_double(resource_head(target->resource, target->measurement).runtime,
                      (double)runtime_ns / (double)NS_PER_S);
}

void target_take_sample(struct target *target, const struct apapi_sample *sample)
{
    const struct event_table events = {sample->events, sizeof *sample->events, sample->event_count};

    if (!target->mapped && !target_map(target, &events)) {
        return;
    }
    for (size_t i = 0; i < sample->event_count; i++) {
        target_go_on(&target->courses[i], sample, i);
        target->figures[i] = course_figure(&target->courses[i]);
    }
    target_store(target, target->figures, sample->time_ns);
}

void target_take_result(struct target *target, const struct apapi_component_result *result,
                        uint64_t runtime_ns)
{
    const struct event_table events = {result->events, sizeof *result->events, result->event_count};

    target_forget_events(target); /* the events of samples may differ */
    if (!target_map(target, &events)) {
        return;
    }
    for (size_t i = 0; i < result->event_count; i++) {
        const struct apapi_event_result *event = &result->events[i];

        target->figures[i] = (struct figure){
            .total = event->total,
            .mean = event->summary.mean,
            .max = event->summary.max,
            .sum = event->values[0].acc * event->values[0].factor, /* acc is divided by it */
            .now = NAN};
    }
    target_store(target, target->figures, runtime_ns);
}

void target_take_figures(struct target *target, const struct event_table *events,
                         const struct figure *figures, uint64_t runtime_ns)
{
    if (target->mapped || target_map(target, events)) {
        target_store(target, figures, runtime_ns);
    }
}

void target_clear(struct target *target)
{
    target_forget_events(target);
    target->measurement = NULL;
}
