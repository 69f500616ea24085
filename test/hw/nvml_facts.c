/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nvml_facts [LIBRARY]: how long NVML takes to start, how often the energy counter of each GPU is
 * updated, and the cost of a call. Needs only the driver's library, no header.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLS 200
#define WATCH_S 3.0

static void *library;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A function of the library; the program ends where it must be there and is not. */
static void find(const char *name, void *pointer, int needed)
{
    void *address = dlsym(library, name);

    if (!address && needed) {
        fprintf(stderr, "the library has no %s\n", name);
        exit(1);
    }
    memcpy(pointer, &address, sizeof address);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* The cost of a call whose second parameter is a place for up to 24 bytes. */
static void time_call(const char *name, void *device)
{
    int (*call)(void *device, uint64_t *values);
    double costs_us[CALLS];
    uint64_t values[8];

    find(name, &call, 0);
    for (int i = 0; call && i < CALLS; i++) {
        double start_s = now_s();
        int code = call(device, values);

        costs_us[i] = (now_s() - start_s) * 1e6;
        if (code) {
            printf("#   %-36s fails with code %d\n", name, code);
            return;
        }
    }
    if (call) {
        qsort(costs_us, CALLS, sizeof *costs_us, compare);
        printf("#   %-36s %8.1f us, slowest of %d: %.1f us\n", name, costs_us[CALLS / 2], CALLS,
               costs_us[CALLS - 1]);
    }
}

/* How often does the counter move, and by how much? */
static void watch_counter(void *device)
{
    int (*get)(void *device, unsigned long long *value);
    unsigned long long first = 0, before = 0, now = 0;
    double start_s = now_s(), last_s = 0, gaps_s[10000];
    size_t count = 0, reads = 0;

    find("nvmlDeviceGetTotalEnergyConsumption", &get, 0);
    if (!get || get(device, &before)) {
        printf("#   no energy counter\n");
        return;
    }
    first = before;
    while (now_s() - start_s < WATCH_S && count < 10000 && get(device, &now) == 0) {
        double at_s = now_s();

        reads++;
        if (now != before) {
            if (last_s > 0) {
                gaps_s[count++] = at_s - last_s;
            }
            last_s = at_s;
            before = now;
        }
    }
    if (count == 0) {
        printf("#   the energy counter did not move in %.0f s\n", WATCH_S);
        return;
    }
    qsort(gaps_s, count, sizeof *gaps_s, compare);
    printf("#   energy counter moves every %.1f ms (from %.1f to %.1f, %zu reads), mean %.1f W\n",
           gaps_s[count / 2] * 1e3, gaps_s[0] * 1e3, gaps_s[count - 1] * 1e3, reads,
           (double)(now - first) / 1e3 / (now_s() - start_s));
}

int main(int argc, char **argv)
{
    static const char *const calls[] = {"nvmlDeviceGetTotalEnergyConsumption",
                                        "nvmlDeviceGetPowerUsage", "nvmlDeviceGetUtilizationRates",
                                        "nvmlDeviceGetMemoryInfo"};
    const char *path = argc > 1 ? argv[1] : "libnvidia-ml.so.1";
    int (*init)(void), (*get_version)(char *text, unsigned size), (*get_count)(unsigned *count);
    int (*get_device)(unsigned index, void **device);
    char version[96] = "?";
    double start_s = now_s();
    unsigned count = 0;

    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    find("nvmlInit_v2", &init, 1);
    find("nvmlSystemGetNVMLVersion", &get_version, 1);
    find("nvmlDeviceGetCount_v2", &get_count, 1);
    find("nvmlDeviceGetHandleByIndex_v2", &get_device, 1);
    if (init() || get_count(&count)) {
        fprintf(stderr, "NVML does not start\n");
        return 1;
    }
    printf("# loading and starting NVML: %.1f ms\n", (now_s() - start_s) * 1e3);
    get_version(version, sizeof version);
    printf("# NVML %s, %u GPUs\n", version, count);
    for (unsigned i = 0; i < count; i++) {
        void *device;

        if (get_device(i, &device) == 0) {
            printf("# GPU %u\n", i);
            watch_counter(device);
            for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
                time_call(calls[k], device);
            }
        }
    }
    return 0;
}
