/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kokkos_host TOOL [LAUNCHES]: does with a tool what a Kokkos program does, as far as its interface
 * for tools shows it. It knows the interface alone, no header of APAPI. In a region "solve":
 * LAUNCHES (3) times a parallel_for "axpy" of 2 ms, in which a fence "wait" of 1 ms is, then a
 * parallel_reduce "dot" and a parallel_scan "prefix"; afterwards two regions of one name in each
 * other, and one more end than begins; then two sections that overlap with regions: "early" begins
 * before "phase" and ends in it, "late" begins in it and ends after it, twice, and there are more
 * regions in each other than a tool keeps.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void (*begin_f)(const char *, uint32_t, uint64_t *);
typedef void (*end_f)(uint64_t);

static void *tool;

static void find(const char *name, void *function)
{
    void *address = dlsym(tool, name);

    if (!address) {
        fprintf(stderr, "kokkos_host: no %s\n", name);
        exit(1);
    }
    memcpy(function, &address, sizeof address);
}

static void spin(double seconds)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 <
             seconds);
}

static void call(const char *kind, const char *name)
{
    char function[64];
    begin_f begin;
    end_f end;
    uint64_t id = UINT64_MAX;

    snprintf(function, sizeof function, "kokkosp_begin_%s", kind);
    find(function, &begin);
    snprintf(function, sizeof function, "kokkosp_end_%s", kind);
    find(function, &end);
    begin(name, 0, &id);
    spin(1e-3);
    if (strcmp(kind, "parallel_for") == 0) {
        call("fence", "wait");
    }
    end(id);
}

static void run_sections(void (*push)(const char *), void (*pop)(void))
{
    void (*create)(const char *, uint32_t *);
    void (*start)(uint32_t), (*stop)(uint32_t), (*destroy)(uint32_t);
    uint32_t early, late;

    find("kokkosp_create_profile_section", &create);
    find("kokkosp_start_profile_section", &start);
    find("kokkosp_stop_profile_section", &stop);
    find("kokkosp_destroy_profile_section", &destroy);
    create("early", &early);
    create("late", &late);
    start(early);
    spin(2e-3);
    push("phase");
    stop(early);
    start(late);
    start(late);
    pop();
    spin(4e-3);
    stop(late);
    stop(late);
    destroy(early);
    start(late);
    destroy(late);
    for (int i = 0; i < 300; i++) {
        push("deep");
    }
    for (int i = 0; i < 300; i++) {
        pop();
    }
    push("after");
    pop();
}

static void run_program(int launches)
{
    void (*push)(const char *);
    void (*pop)(void);

    find("kokkosp_push_profile_region", &push);
    find("kokkosp_pop_profile_region", &pop);
    push("solve");
    for (int i = 0; i < launches; i++) {
        call("parallel_for", "axpy");
    }
    call("parallel_reduce", "dot");
    call("parallel_scan", "prefix");
    pop();
    push("twice");
    push("twice");
    pop();
    pop();
    pop();
    run_sections(push, pop);
}

int main(int argc, char **argv)
{
    struct {
        bool requires_global_fencing;
        bool padding[255];
    } settings = {.requires_global_fencing = true};
    void (*request)(uint32_t, void *);
    void (*init)(int, uint64_t, uint32_t, void *);
    void (*finalize)(void);

    tool = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!tool) {
        fprintf(stderr, "kokkos_host: %s\n", argc > 1 ? dlerror() : "which tool?");
        return 2;
    }
    find("kokkosp_request_tool_settings", &request);
    find("kokkosp_init_library", &init);
    find("kokkosp_finalize_library", &finalize);
    request(1, &settings);
    printf("fences %d\n", settings.requires_global_fencing);
    init(0, 20211015, 0, NULL);
    run_program(argc > 2 ? atoi(argv[2]) : 3);
    finalize();
    return 0;
}
