/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of test/bench/energy-plugin: the plugin in a process that has the name of one of Slurm's. */
#include <dlfcn.h>
#include <slurm/slurm.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLS 10000

/* Slurm's functions for the plugin. */
void slurm_error(const char *format, ...);
void slurm_verbose(const char *format, ...);

void slurm_error(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
}

void slurm_verbose(const char *format, ...)
{
    (void)format;
}

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static long resident_kib(void)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "re");

    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "VmRSS: %ld", &kib);
    }
    if (file) {
        fclose(file);
    }
    return kib;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* @param empty  a plugin without anything. @return 0; 1: the plugin cannot be used. */
static int measure(const char *path, const char *empty, unsigned seconds)
{
    static double took_us[CALLS];
    acct_gather_energy_t energy = {0};
    long before_kib;
    double begin_us, load_us;
    void *plugin;
    int (*get)(enum acct_energy_type, void *);
    void (*set)(int, void *);
    int (*init)(void);
    int (*fini)(void);

    memset(took_us, 1, sizeof took_us); /* all that is needed for the bench itself */
    dlopen(empty, RTLD_LAZY);
    printf("%s", "");
    before_kib = resident_kib();
    begin_us = now_us();
    plugin = dlopen(path, RTLD_LAZY);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&get = dlsym(plugin, "acct_gather_energy_p_get_data");
    *(void **)&set = dlsym(plugin, "acct_gather_energy_p_conf_set");
    *(void **)&init = dlsym(plugin, "init");
    *(void **)&fini = dlsym(plugin, "fini");
    init();
    set(0, NULL);
    load_us = now_us() - begin_us;
    get(ENERGY_DATA_NODE_ENERGY_UP, &energy);
    sleep(seconds);
    for (int i = 0; i < CALLS; i++) {
        begin_us = now_us();
        get(ENERGY_DATA_NODE_ENERGY_UP, &energy);
        took_us[i] = now_us() - begin_us;
    }
    qsort(took_us, CALLS, sizeof *took_us, compare);
    printf("load %.0f us, call %.2f us (99.9 %%: %.2f us), memory +%ld KiB, %lu J, %u W\n", load_us,
           took_us[CALLS / 2], took_us[CALLS - CALLS / 1000], resident_kib() - before_kib,
           (unsigned long)energy.consumed_energy, energy.current_watts);
    fflush(stdout);
    if (getenv("BENCH_HOLD")) {
        getchar();
    }
    fini();
    return 0;
}

int main(int argc, char **argv)
{
    return argc == 4 ? measure(argv[1], argv[2], (unsigned)strtoul(argv[3], NULL, 10)) : 2;
}
