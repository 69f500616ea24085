/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_LIBMEASURE_H
#define FAKE_LIBMEASURE_H
#include <stdint.h>

/* libmeasure 0.8 as a program of 2013 was compiled for it. It knows nothing of APAPI. */

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

#define OF_LIST(type, name) type name(MS_LIST *list);
#define OF_CPU(type, name) type name(MS_LIST *list, int cpu);
#define OF_CORE(type, name) type name(MS_LIST *list, int cpu, int core);
#include "fake/ms_common/accessors.def"
#undef OF_LIST
#undef OF_CPU
#undef OF_CORE

#endif
