/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nvml_facts [LIBRARY]: what NVML reports of each GPU, how often its energy counter is updated, and
 * the cost of a call. Needs only the driver's library, no header.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLS 200
#define WATCH_S 3.0

typedef int (*get_u32_f)(void *device, unsigned *value);
typedef int (*get_u64_f)(void *device, unsigned long long *value);
typedef int (*get_text_f)(void *device, char *text, unsigned size);

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

static void print_cost(const char *name, double *costs_us)
{
    qsort(costs_us, CALLS, sizeof *costs_us, compare);
    printf("#   %-36s %8.1f us, slowest of %d: %.1f us\n", name, costs_us[CALLS / 2], CALLS,
           costs_us[CALLS - 1]);
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
        print_cost(name, costs_us);
    }
}

static void time_calls(void *device)
{
    static const char *const names[] = {"nvmlDeviceGetTotalEnergyConsumption",
                                        "nvmlDeviceGetPowerUsage", "nvmlDeviceGetUtilizationRates",
                                        "nvmlDeviceGetMemoryInfo"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        time_call(names[i], device);
    }
}

/* How often does the counter move, and by how much? */
static void watch_counter(void *device)
{
    get_u64_f get;
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

static void print_gpu(unsigned index, void *device)
{
    char name[96] = "?", uuid[96] = "?";
    unsigned minor = 0, power_mw = 0;
    get_text_f get_name, get_uuid;
    get_u32_f get_minor, get_power;

    find("nvmlDeviceGetName", &get_name, 1);
    find("nvmlDeviceGetUUID", &get_uuid, 1);
    find("nvmlDeviceGetMinorNumber", &get_minor, 1);
    find("nvmlDeviceGetPowerUsage", &get_power, 1);
    get_name(device, name, sizeof name);
    get_uuid(device, uuid, sizeof uuid);
    get_minor(device, &minor);
    get_power(device, &power_mw);
    printf("# GPU %u: %s, /dev/nvidia%u, %s, %.1f W\n", index, name, minor, uuid, power_mw / 1e3);
    watch_counter(device);
    time_calls(device);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "libnvidia-ml.so.1";
    int (*init)(void), (*get_version)(char *text, unsigned size), (*get_count)(unsigned *count);
    int (*get_driver)(char *text, unsigned size);
    int (*get_device)(unsigned index, void **device);
    char version[96] = "?", driver[96] = "?";
    double start_s = now_s();
    unsigned count = 0;

    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    find("nvmlInit_v2", &init, 1);
    find("nvmlSystemGetNVMLVersion", &get_version, 1);
    find("nvmlSystemGetDriverVersion", &get_driver, 0);
    find("nvmlDeviceGetCount_v2", &get_count, 1);
    find("nvmlDeviceGetHandleByIndex_v2", &get_device, 1);
    if (init() || get_count(&count)) {
        fprintf(stderr, "NVML does not start\n");
        return 1;
    }
    printf("# loading and starting NVML: %.1f ms\n", (now_s() - start_s) * 1e3);
    get_version(version, sizeof version);
    if (get_driver) {
        get_driver(driver, sizeof driver);
    }
    printf("# NVML %s, driver %s, %u GPUs\n", version, driver, count);
    for (unsigned i = 0; i < count; i++) {
        void *device;

        if (get_device(i, &device) == 0) {
            print_gpu(i, device);
        }
    }
    return 0;
}
