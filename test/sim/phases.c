/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apapi-phases: a program of three regions, "low", "middle" and "high", in which each thread draws
 * 40, 100 and 160 W of the simulated hardware, for a random 0.5 to 5 ms each, at least once. At the
 * end it prints the true energies and times, as JSON.
 *
 * usage: apapi-phases LOAD_FILE SECONDS SEED THREADS [kill|wait]
 * LOAD_FILE "-": it draws nothing. "kill": it ends by SIGKILL inside a region. "wait": meanwhile
 * its first thread is in a region "wait", and draws nothing.
 */
#include <apapi/region.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "load.h"

enum { PHASES_REGIONS = 3, PHASES_LEAST_NS = 500000, PHASES_SPAN_NS = 4500000 };

static const char *const phases_names[PHASES_REGIONS] = {"low", "middle", "high"};
static const uint64_t phases_power_uw[PHASES_REGIONS] = {40000000, 100000000, 160000000};

static struct sim_load phases_nothing;
static struct sim_load *phases_load = &phases_nothing;
static uint64_t phases_end_ns;

struct phases_thread {
    pthread_t thread;
    unsigned int number;
    struct random random;
    uint64_t energy_pj[PHASES_REGIONS], time_ns[PHASES_REGIONS], passes[PHASES_REGIONS];
};

static void phases_wait(uint64_t until_ns)
{
    const struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
        ;
    }
}

/* A phase ends where the next one begins, both in the simulated hardware and in the program. */
static void *phases_run(void *argument)
{
    struct phases_thread *self = argument;
    uint64_t now_ns = clock_monotonic_ns(), before_pj = 0, next_ns;
    apapi_region handles[PHASES_REGIONS];

    for (size_t i = 0; i < PHASES_REGIONS; i++) {
        handles[i] = apapi_region_handle(phases_names[i]);
    }
    while (now_ns < phases_end_ns || !self->passes[0] || !self->passes[1] || !self->passes[2]) {
        size_t region = random_below(&self->random, PHASES_REGIONS);
        uint64_t length_ns = PHASES_LEAST_NS + random_below(&self->random, PHASES_SPAN_NS), pj;

        apapi_region_enter(handles[region]);
        sim_load_set(phases_load, self->number, phases_power_uw[region], now_ns);
        phases_wait(now_ns + length_ns);
        next_ns = clock_monotonic_ns();
        pj = sim_load_set(phases_load, self->number, 0, next_ns);
        apapi_region_leave(handles[region]);
        self->energy_pj[region] += pj - before_pj;
        self->time_ns[region] += next_ns - now_ns;
        self->passes[region]++;
        before_pj = pj;
        now_ns = next_ns;
    }
    return NULL;
}

static void phases_print(const struct phases_thread *threads, unsigned int count)
{
    for (size_t region = 0; region < PHASES_REGIONS; region++) {
        double energy_j = 0, time_s = 0;
        uint64_t passes = 0;

        for (unsigned int i = 0; i < count; i++) {
            energy_j += (double)threads[i].energy_pj[region] / 1e12;
            time_s += (double)threads[i].time_ns[region] / 1e9;
            passes += threads[i].passes[region];
        }
        printf("%s\"%s\":{\"energy_j\":%.6f,\"time_s\":%.6f,\"count\":%llu}%s", region ? "," : "{",
               phases_names[region], energy_j, time_s, (unsigned long long)passes,
               region + 1 < PHASES_REGIONS ? "" : "}\n");
    }
    fflush(stdout);
}

static bool phases_map(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *load = fd < 0
                     ? MAP_FAILED
                     : mmap(NULL, sizeof(*phases_load), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (load == MAP_FAILED) {
        perror(path);
        return false;
    }
    phases_load = load;
    return true;
}

int main(int argc, char **argv)
{
    static struct phases_thread threads[SIM_LOAD_SLOTS];
    unsigned int count = argc > 4 ? (unsigned int)atoi(argv[4]) : 0;

    if (count < 1 || count > SIM_LOAD_SLOTS) {
        fputs("usage: apapi-phases LOAD_FILE SECONDS SEED THREADS [kill|wait]\n", stderr);
        return 2;
    }
    if (strcmp(argv[1], "-") != 0 && !phases_map(argv[1])) {
        return 1;
    }
    if (argc > 5 && strcmp(argv[5], "wait") == 0) {
        apapi_region_begin("wait");
    }
    phases_end_ns = clock_monotonic_ns() + (uint64_t)(atof(argv[2]) * 1e9);
    for (unsigned int i = 0; i < count; i++) {
        threads[i].number = i;
        threads[i].random.state = strtoull(argv[3], NULL, 10) * SIM_LOAD_SLOTS + i;
        if (pthread_create(&threads[i].thread, NULL, phases_run, &threads[i]) != 0) {
            return 1;
        }
    }
    for (unsigned int i = 0; i < count; i++) {
        pthread_join(threads[i].thread, NULL);
    }
    phases_print(threads, count);
    if (argc > 5 && strcmp(argv[5], "kill") == 0) {
        apapi_region_begin("end");
        raise(SIGKILL);
    }
    apapi_region_stop();
    return 0;
}
