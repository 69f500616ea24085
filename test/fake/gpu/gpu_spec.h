/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_GPU_SPEC_H
#define FAKE_GPU_SPEC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The GPUs of the stand-ins are described in the file FAKE_GPUS, else in "fake-gpus" beside the
 * library. A line is a word and settings:
 *
 *   library log=FILE init_ms=N fail=FUNCTION:CODE
 *   gpu     power_w=N (of the constant power; 100) most_w=N (its highest limit; 0: not said)
 * step_ms=N (between two updates of the counter; 0) counter=0|1 (is there one; 1)
 * lost_with=FILE (the GPU is lost as soon as the file exists) name=TEXT mig=UUID (of a part, up to
 * 7 times; mig=UUID:SLICES also says how many of the GPU's 7 slices it has) fail=FUNCTION:CODE
 *
 * FUNCTION is without the library's prefix; "*" is any function of a GPU. The log gets a line for
 * each call of the library as a whole.
 */
#define FAKE_GPUS_MAX 16
#define FAKE_PARTS_MAX 7
#define FAKE_TEXT_SIZE 96

struct fake_failure {
    char function[FAKE_TEXT_SIZE]; /* "": none */
    int code;
};

struct fake_gpu {
    double power_w, most_w, step_ms;
    bool counter;
    unsigned minor;
    char name[FAKE_TEXT_SIZE], uuid[FAKE_TEXT_SIZE];
    char lost_with[256]; /* "": never */
    char parts[FAKE_PARTS_MAX][FAKE_TEXT_SIZE];
    unsigned slices[FAKE_PARTS_MAX]; /* of each part; 0: the driver does not report them */
    size_t part_count;
    struct fake_failure failure;
};

struct fake_gpus {
    struct fake_gpu list[FAKE_GPUS_MAX];
    size_t count;
    double init_ms;
    char log[256];
    struct fake_failure failure;
    int users;
};

/** @return the content of the file; it is read at the first call. */
struct fake_gpus *fake_gpus(void);

/** Read the file again when the library starts, unless the library is in use. */
void fake_gpus_refresh(void);

/** Wait as long as the library's start takes. */
void fake_gpus_start(void);

/** Log a call. @return the code with which it must fail; 0: none. */
int fake_gpus_call(const char *function);

/** Like fake_gpus_call(), for a call about a GPU. */
int fake_gpu_call(const struct fake_gpu *gpu, const char *function);

/** @return whether the GPU is lost by now. */
bool fake_gpu_is_lost(const struct fake_gpu *gpu);

/** @return the energy used by the GPU up to the latest update of its counter [J]. */
double fake_gpu_energy_j(const struct fake_gpu *gpu);

/* Functions that dlsym() finds have no prototypes. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define FAKE_EXPORT __attribute__((visibility("default")))

#endif
