/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_INTERFACE_H
#define MS_COMMON_INTERFACE_H
#include <stdint.h>
#include <time.h>

/*
 * The binary interface of libmeasure 0.8, as programs were compiled for it. Members have its names
 * and the offsets of structs.def, which measurement.c checks. docs/libmeasure.md describes them.
 */

#define MS_API __attribute__((visibility("default")))

/** Bits for the resources of a list. */
enum ms_flag { MS_CPU = 1, MS_GPU = 2, MS_FPGA = 4, MS_SYSTEM = 8, MS_MIC = 16, MS_ALL = 31 };

enum {
    MS_CPUS = 2,
    MS_CORES = 4,
    MS_CPU_STATS = 10,
    MS_MEMORY_SIZES = 6, /* RAM total, free, used; swap total, free, used */
    MS_GPU_PROCESSES = 128,
    MS_TEXT = 128,
    MS_FPGA_POWERS = 8,
    MS_FPGA_TEMPERATURES = 2,
    MS_MIC_STATS = 4,
    MS_MIC_POWERS = 7,
    MS_MIC_TEMPERATURES = 7
};

/* Settings of the original library. APAPI changes no settings, so they have no effect. */
enum cpu_governor { CPU_GOVERNOR_POWERSAVE, CPU_GOVERNOR_COUNT = 4 };
enum gpu_frequency { GPU_FREQUENCY_MIN, GPU_FREQUENCY_COUNT = 3 };
enum ipmi_timeout_setting { IPMI_SET_TIMEOUT, IPMI_TIMEOUT_SETTINGS = 2 };
enum skip_ms_rate { SKIP_PERIODIC, SKIP_MS_RATES = 2 };
enum lib_variant { VARIANT_LIGHT, VARIANTS = 2 };

#define MS_STRUCT(tag, bytes) struct tag {
#define MS_MEMBER(tag, offset, bytes, type, name, dimensions) type name dimensions;
#define MS_END(tag)                                                                                \
    }                                                                                              \
    ;
#include "ms_common/structs.def"
#undef MS_STRUCT
#undef MS_MEMBER
#undef MS_END

/* A program calls these functions in this order. */
MS_API struct ms_system *ms_init(const struct ms_version *version, enum cpu_governor governor,
                                 uint64_t frequency_min, uint64_t frequency_max,
                                 enum gpu_frequency gpu_frequency,
                                 enum ipmi_timeout_setting timeout, enum skip_ms_rate skip,
                                 enum lib_variant variant);
MS_API void ms_init_fpga_force_idle(struct ms_system *system);
MS_API struct ms_list *ms_alloc_measurement(struct ms_system *system);
MS_API void ms_set_timer(struct ms_list *list, int flags, uint64_t sec, uint64_t nsec,
                         uint32_t check_for_exit_interrupts);
MS_API void ms_init_measurement(struct ms_system *system, struct ms_list *list, int flags);
MS_API void ms_reg_sighandler_start(struct ms_system *system, void (*handler)(int));
MS_API void ms_reg_sighandler_stop(struct ms_system *system, void (*handler)(int));
MS_API void ms_start_measurement(struct ms_system *system);
MS_API void ms_stop_measurement(struct ms_system *system);
MS_API void ms_join_measurement(struct ms_system *system);
MS_API void ms_fini_measurement(struct ms_system *system);
MS_API void ms_free_measurement(struct ms_list *list);
MS_API void ms_fini(struct ms_system *system);

MS_API void appendList(struct ms_list **list, int id);
MS_API void *getMeasurement(struct ms_list **list, int id);
MS_API void deleteList(struct ms_list **list);

/* @return a figure of a resource; 0: the list lacks the resource, or an index is out of range. */
#define MS_FIGURE(type, name, resource, member) MS_API type name(const struct ms_list *list);
#define MS_FIGURE_OF_CPU(type, name, member) MS_API type name(const struct ms_list *list, int cpu);
#define MS_FIGURE_OF_RAIL(name, member, rail)                                                      \
    MS_API double name(const struct ms_list *list, int cpu);
#define MS_FIGURE_OF_CORE(type, name, member)                                                      \
    MS_API type name(const struct ms_list *list, int cpu, int core);
#include "ms_common/figures.def"
#undef MS_FIGURE
#undef MS_FIGURE_OF_CPU
#undef MS_FIGURE_OF_RAIL
#undef MS_FIGURE_OF_CORE

#endif
