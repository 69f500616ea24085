/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of test/bench/energy-plugin: the plugin in a process that is named like one of Slurm's. */
#include <dlfcn.h>
#include <slurm/slurm.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CALLS 10000

/* Functions of Slurm that the plugin calls. */
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

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* @return 0; 1: the plugin cannot be used. */
static int measure(const char *path, unsigned seconds)
{
    static double took_us[CALLS];
    acct_gather_energy_t energy = {0};
    double begin_us, load_us;
    void *plugin;
    int (*get)(enum acct_energy_type, void *);
    void (*set)(int, void *);
    int (*init)(void);
    int (*fini)(void);

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
    printf("load %.0f us, call %.2f us (99.9 %%: %.2f us), %lu J, %u W\n", load_us,
           took_us[CALLS / 2], took_us[CALLS - CALLS / 1000], (unsigned long)energy.consumed_energy,
           energy.current_watts);
    fflush(stdout);
    if (getenv("BENCH_HOLD")) {
        getchar();
    }
    fini();
    return 0;
}

int main(int argc, char **argv)
{
    return argc == 3 ? measure(argv[1], (unsigned)strtoul(argv[2], NULL, 10)) : 2;
}
