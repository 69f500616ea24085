/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program written for libmeasure. It knows libmeasure's interface, and the names of figures from
 * APAPI's table. It prints lines "name value"; an accessor is "name[cpu]" for a processor, and
 * "name[cpu][core]" for a core.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sim/load.h"

/* libmeasure 0.8, as a program of 2013 was compiled for it. */

enum { CPU = 1, GPU = 2, FPGA = 4, SYSTEM = 8, MIC = 16, ALL = 31 };

typedef struct {
    uint32_t major, minor, revision;
} MS_VERSION;

typedef struct {
    int32_t cpu_enabled, gpu_enabled, fpga_enabled, mic_enabled, sys_enabled;
} MS_CONFIG;

typedef struct {
    void *mgmt;
    MS_CONFIG *config;
} MS_SYSTEM;

typedef struct ms_list {
    int32_t resource_id;
    void *ms_measurement;
    struct ms_list *next;
} MS_LIST;

MS_SYSTEM *ms_init(MS_VERSION *version, int cpu_gov, uint64_t cpu_freq_min, uint64_t cpu_freq_max,
                   int gpu_freq, int timeout_setting, int skip_ms, int variant);
void ms_init_fpga_force_idle(MS_SYSTEM *system);
void ms_fini(MS_SYSTEM *system);
MS_LIST *ms_alloc_measurement(MS_SYSTEM *system);
void ms_free_measurement(MS_LIST *list);
void ms_set_timer(MS_LIST *list, int flag, uint64_t sec, uint64_t nsec,
                  uint32_t check_for_exit_interrupts);
void ms_init_measurement(MS_SYSTEM *system, MS_LIST *list, int flags);
void ms_start_measurement(MS_SYSTEM *system);
void ms_stop_measurement(MS_SYSTEM *system);
void ms_join_measurement(MS_SYSTEM *system);
void ms_fini_measurement(MS_SYSTEM *system);
void ms_reg_sighandler_start(MS_SYSTEM *system, void (*handler)(int));
void ms_reg_sighandler_stop(MS_SYSTEM *system, void (*handler)(int));
void appendList(MS_LIST **list, int id);
void *getMeasurement(MS_LIST **list, int id);
void deleteList(MS_LIST **list);

#define MS_FIGURE(type, name, resource, member) type name(MS_LIST *list);
#define MS_FIGURE_OF_CPU(type, name, member) type name(MS_LIST *list, int cpu);
#define MS_FIGURE_OF_RAIL(name, member, rail) double name(MS_LIST *list, int cpu);
#define MS_FIGURE_OF_CORE(type, name, member) type name(MS_LIST *list, int cpu, int core);
#include "ms_common/figures.def"
#undef MS_FIGURE
#undef MS_FIGURE_OF_CPU
#undef MS_FIGURE_OF_RAIL
#undef MS_FIGURE_OF_CORE

/* clang-format off */
static const char usage[] =
    "figures SECONDS MS           one measurement at this interval\n"
    "many N                       N short ones, and what the process has before and after\n"
    "phases LOAD_FILE SECONDS     the totals before and after phases of different power\n"
    "run MS COMMAND...            as hettime: the measurement of a command\n"
    "misuse                       wrong calls\n";
/* clang-format on */

#define MSR_CHECKS 672 /* offset in the measurement of the CPU */

static MS_VERSION version = {0, 8, 0};

static void pass(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&left, &left)) {
    }
}

static MS_SYSTEM *open_system(void)
{
    MS_SYSTEM *system = ms_init(&version, 3, 0, 0, 1, 0, 0, 1);

    if (!system) {
        exit(1);
    }
    return system;
}

#define MS_FIGURE(type, name, resource, member) printf("%s %.6f\n", #name, (double)name(list));
#define OF_CPU(name)                                                                               \
    for (int cpu = 0; cpu < 2; cpu++) {                                                            \
        printf("%s[%d] %.6f\n", #name, cpu, (double)name(list, cpu));                              \
    }
#define MS_FIGURE_OF_CPU(type, name, member) OF_CPU(name)
#define MS_FIGURE_OF_RAIL(name, member, rail) OF_CPU(name)
#define MS_FIGURE_OF_CORE(type, name, member)                                                      \
    for (int cpu = 0; cpu < 2; cpu++) {                                                            \
        for (int core = 0; core < 4; core++) {                                                     \
            printf("%s[%d][%d] %.6f\n", #name, cpu, core, (double)name(list, cpu, core));          \
        }                                                                                          \
    }

static void print_figures(MS_LIST *list)
{
#include "ms_common/figures.def"
}

static void print_resources(const MS_SYSTEM *system, const MS_LIST *list)
{
    printf("enabled %d%d%d%d%d\nlist", system->config->cpu_enabled, system->config->gpu_enabled,
           system->config->fpga_enabled, system->config->mic_enabled, system->config->sys_enabled);
    for (; list; list = list->next) {
        printf(" %d", list->resource_id);
    }
    putchar('\n');
}

static void set_timers(MS_LIST *list, long ms)
{
    const int resources[] = {CPU, GPU, FPGA, MIC, SYSTEM};

    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        ms_set_timer(list, resources[i], (uint64_t)ms / 1000, (uint64_t)ms % 1000 * 1000000, 1);
    }
}

static void measure(MS_SYSTEM *system, double seconds)
{
    ms_start_measurement(system);
    if (seconds > 0) {
        pass(seconds);
    }
    ms_stop_measurement(system);
    ms_join_measurement(system);
    ms_fini_measurement(system);
}

static void figures(double seconds, long ms)
{
    MS_SYSTEM *system = open_system();
    MS_LIST *list = ms_alloc_measurement(system);

    set_timers(list, ms);
    ms_init_measurement(system, list, ALL);
    measure(system, seconds);
    print_resources(system, list);
    print_figures(list);
    ms_free_measurement(list);
    ms_fini(system);
}

static int count_in(const char *folder)
{
    DIR *dir = opendir(folder);
    int count = 0;

    while (dir && readdir(dir)) {
        count++;
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    long kib = 0;

    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "VmRSS: %ld", &kib);
    }
    if (file) {
        fclose(file);
    }
    return kib;
}

static void print_process(const char *when)
{
    printf("%s.threads %d\n%s.descriptors %d\n%s.kib %ld\n", when, count_in("/proc/self/task"),
           when, count_in("/proc/self/fd"), when, resident_kib());
}

static void many(int all)
{
    MS_SYSTEM *system = open_system();
    MS_LIST *list = ms_alloc_measurement(system);

    set_timers(list, 1);
    ms_init_measurement(system, list, ALL);
    for (int i = 0; i < all; i++) {
        if (i == all / 10) { /* the first measurements allocate memory for all */
            print_process("before");
        }
        measure(system, i % 2 ? 0 : 0.002);
    }
    print_process("after");
    ms_free_measurement(list);
    ms_fini(system);
    printf("measured %d\n", all);
}

/* Wait for two more readings, the later of which has begun after this call. */
static void settle(MS_LIST *list)
{
    const uint64_t patience_ns = 5000000000, begin_ns = clock_monotonic_ns();

    for (int i = 0; i < 2; i++) {
        double before_s = cpu_time_total(list);

        while (cpu_time_total(list) <= before_s && clock_monotonic_ns() - begin_ns < patience_ns) {
            pass(0.001);
        }
    }
    pass(0.005); /* until the other values of that reading are there, too */
}

/* Read energy and time of the same reading: another reading may come between both. */
static void read_totals(MS_LIST *list, double *energy_mws, double *time_s)
{
    do {
        *time_s = cpu_time_total(list);
        *energy_mws = cpu_energy_total_pkg(list, 0);
    } while (cpu_time_total(list) > *time_s);
}

/*
 * Like taskwrapper, take the difference of two readings while a measurement runs. Print it for each
 * phase: of package 0 [mWs], of the time [s], and the energy that was drawn on purpose [mWs].
 */
static void phases(const char *path, double seconds)
{
    static const uint64_t power_uw[] = {40000000, 160000000, 10000000, 100000000};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct sim_load *load = mmap(NULL, sizeof *load, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MS_SYSTEM *system = open_system();
    MS_LIST *list = ms_alloc_measurement(system);

    if (load == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    set_timers(list, 10);
    ms_init_measurement(system, list, ALL);
    ms_start_measurement(system);
    for (size_t i = 0; i < sizeof power_uw / sizeof *power_uw; i++) {
        double before_mws, before_s, after_mws, after_s, drawn_pj;

        settle(list);
        read_totals(list, &before_mws, &before_s);
        drawn_pj = -(double)sim_load_set(load, 0, power_uw[i], clock_monotonic_ns());
        pass(seconds);
        drawn_pj += (double)sim_load_set(load, 0, 0, clock_monotonic_ns());
        settle(list);
        read_totals(list, &after_mws, &after_s);
        printf("phase %.3f %.6f %.3f\n", after_mws - before_mws, after_s - before_s,
               drawn_pj / 1e9);
    }
    ms_stop_measurement(system);
    ms_join_measurement(system);
    ms_free_measurement(list);
    ms_fini(system);
}

static int run(long ms, char **command)
{
    MS_SYSTEM *system = open_system();
    MS_LIST *list = ms_alloc_measurement(system);
    int status = 0;
    pid_t child;

    set_timers(list, ms);
    ms_init_measurement(system, list, ALL);
    ms_start_measurement(system);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        execvp(*command, command);
        _exit(127);
    }
    waitpid(child, &status, 0);
    ms_stop_measurement(system);
    ms_join_measurement(system);
    ms_fini_measurement(system);
    print_figures(list);
    ms_free_measurement(list);
    ms_fini(system);
    return status == 0 ? 0 : 1;
}

static void misuse_null(void)
{
    MS_LIST *none = NULL;

    ms_init_fpga_force_idle(NULL);
    ms_reg_sighandler_start(NULL, NULL);
    ms_reg_sighandler_stop(NULL, NULL);
    ms_set_timer(NULL, CPU, 0, 1000000, 1);
    ms_init_measurement(NULL, NULL, ALL);
    measure(NULL, 0);
    ms_free_measurement(NULL);
    ms_fini(NULL);
    deleteList(NULL);
    deleteList(&none);
    appendList(NULL, CPU);
    printf("of-null %d\n",
           ms_alloc_measurement(NULL) || getMeasurement(NULL, CPU) || getMeasurement(&none, CPU));
    print_figures(NULL);
}

static void misuse_order(void)
{
    MS_SYSTEM *system = open_system();
    MS_LIST *list = ms_alloc_measurement(system);

    ms_join_measurement(system);
    ms_stop_measurement(system);
    ms_start_measurement(system);
    ms_init_measurement(system, NULL, ALL);
    ms_start_measurement(system);
    ms_start_measurement(system);
    ms_init_measurement(system, list, ALL);
    ms_join_measurement(system);
    ms_set_timer(list, 64, 0, 1000000, 1);
    ms_set_timer(list, CPU, 0, 0, 0);
    ms_init_measurement(system, list, 0x7f);
    ms_start_measurement(system);
    ms_free_measurement(list); /* while the measurement is being filled */
    ms_fini(system);
    ms_stop_measurement(system);
    ms_fini(system);
}

static void misuse_lists(void)
{
    MS_LIST *list = NULL;

    appendList(&list, 3);
    appendList(&list, MIC);
    appendList(&list, CPU);
    printf("indexes %.0f\n", cpu_energy_total_pkg(list, -1) + cpu_energy_total_pkg(list, 2) +
                                 cpu_freq_avg_core(list, 0, 4) + cpu_freq_avg_core(list, 0, -1) +
                                 cpu_temp_max_core(list, 2147483647, -2147483647));
    printf("appended %d %d\n", getMeasurement(&list, MIC) == list->ms_measurement,
           getMeasurement(&list, GPU) == NULL);
    printf(
        "checks %u\n",
        *(const uint32_t *)(const void *)((const char *)getMeasurement(&list, CPU) + MSR_CHECKS));
    deleteList(&list);
    printf("deleted %d\n", list == NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "figures") == 0 && argc > 3) {
        figures(strtod(argv[2], NULL), strtol(argv[3], NULL, 10));
    } else if (strcmp(what, "many") == 0 && argc > 2) {
        many((int)strtol(argv[2], NULL, 10));
    } else if (strcmp(what, "phases") == 0 && argc > 3) {
        phases(argv[2], strtod(argv[3], NULL));
    } else if (strcmp(what, "run") == 0 && argc > 3) {
        return run(strtol(argv[2], NULL, 10), argv + 3);
    } else if (strcmp(what, "misuse") == 0) {
        misuse_null();
        misuse_order();
        misuse_lists();
    } else {
        fputs(usage, stderr);
        return 2;
    }
    return 0;
}
