/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_INTERFACE_H
#define MS_COMMON_INTERFACE_H
#include <stdint.h>
#include <time.h>

/*
 * The binary interface of libmeasure 0.8, as programs were compiled for it: members have its names,
 * and layout.c checks where each of them lies. docs/libmeasure.md says what is in them.
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

/* Settings of the original library. APAPI sets nothing of a machine, so they have no effect. */
enum cpu_governor { CPU_GOVERNOR_POWERSAVE, CPU_GOVERNOR_COUNT = 4 };
enum gpu_frequency { GPU_FREQUENCY_MIN, GPU_FREQUENCY_COUNT = 3 };
enum ipmi_timeout_setting { IPMI_SET_TIMEOUT, IPMI_TIMEOUT_SETTINGS = 2 };
enum skip_ms_rate { SKIP_PERIODIC, SKIP_MS_RATES = 2 };
enum lib_variant { VARIANT_LIGHT, VARIANTS = 2 };

struct ms_config {
    int32_t cpu_enabled;
    int32_t gpu_enabled;
    int32_t fpga_enabled;
    int32_t mic_enabled;
    int32_t sys_enabled;
};

struct ms_system {
    void *mgmt;
    struct ms_config *config;
};

struct ms_list {
    int32_t resource_id;
    void *ms_measurement;
    struct ms_list *next;
};

struct ms_version {
    uint32_t major;
    uint32_t minor;
    uint32_t revision;
};

struct ms_cpu_internal {
    struct timespec msr_time_cur;
    struct timespec msr_time_temp;
    struct timespec msr_time_diff;
    double msr_time_diff_double;
    double msr_energy_temp[MS_CPUS][3];
    double msr_energy_max;
    uint64_t msr_timestamp_core_temp[MS_CPUS][MS_CORES];
    uint64_t msr_timestamp_core_cur[MS_CPUS][MS_CORES];
    uint64_t msr_aperf_core_cur[MS_CPUS][MS_CORES];
    uint64_t msr_aperf_core_temp[MS_CPUS][MS_CORES];
    uint64_t msr_mperf_core_cur[MS_CPUS][MS_CORES];
    uint64_t msr_mperf_core_temp[MS_CPUS][MS_CORES];
    uint64_t measure_util_cur[MS_CPU_STATS];
    uint64_t measure_util_temp[MS_CPU_STATS];
};

struct ms_cpu {
    struct ms_cpu_internal internal;
    struct timespec msr_time_wait;
    uint32_t msr_check_for_exit_interrupts;
    double msr_time_runtime;
    double msr_energy_cur[MS_CPUS][3];
    double msr_power_cur[MS_CPUS][3];
    double msr_power_avg[MS_CPUS][3];
    double msr_energy_acc[MS_CPUS][3];
    uint32_t msr_temperature_pkg_cur[MS_CPUS];
    uint32_t msr_temperature_pkg_max[MS_CPUS];
    uint32_t msr_temperature_core_cur[MS_CPUS][MS_CORES];
    uint32_t msr_temperature_core_max[MS_CPUS][MS_CORES];
    double msr_freq_core_cur[MS_CPUS][MS_CORES];
    double msr_freq_core_acc[MS_CPUS][MS_CORES];
    double msr_freq_core_avg[MS_CPUS][MS_CORES];
    double msr_freq_core_eff_cur[MS_CPUS][MS_CORES];
    double msr_freq_core_eff_acc[MS_CPUS][MS_CORES];
    double msr_freq_core_eff_avg[MS_CPUS][MS_CORES];
    uint64_t measure_util_cur[MS_CPU_STATS];
    uint64_t measure_util_acc[MS_CPU_STATS];
    uint64_t measure_util_active_total;
    uint64_t measure_util_idle_total;
    double measure_util_active_cur;
    double measure_util_idle_cur;
    double measure_util_avg_cur;
    double measure_util_active_avg;
    double measure_util_idle_avg;
    double measure_util_avg;
    uint64_t measure_memory_cur[MS_MEMORY_SIZES];
    uint32_t measure_memory_free_max;
    uint32_t measure_memory_used_max;
    uint32_t measure_swap_free_max;
    uint32_t measure_swap_used_max;
};

struct ms_gpu_internal {
    struct timespec nvml_time_cur;
    struct timespec nvml_time_temp;
    struct timespec nvml_time_diff;
    double nvml_time_diff_double;
    int nvml_power_state;
};

struct ms_gpu {
    struct ms_gpu_internal internal;
    struct timespec nvml_time_wait;
    uint32_t nvml_check_for_exit_interrupts;
    double nvml_time_runtime;
    uint32_t nvml_power_cur;
    double nvml_power_avg;
    double nvml_energy_acc;
    uint32_t nvml_temperature_cur;
    uint32_t nvml_temperature_max;
    uint32_t nvml_clock_graphics_cur;
    uint32_t nvml_clock_sm_cur;
    uint32_t nvml_clock_mem_cur;
    double nvml_clock_graphics_avg;
    double nvml_clock_sm_avg;
    double nvml_clock_mem_avg;
    double nvml_clock_graphics_acc;
    double nvml_clock_sm_acc;
    double nvml_clock_mem_acc;
    uint32_t nvml_util_gpu_cur;
    uint32_t nvml_util_mem_cur;
    double nvml_util_gpu_avg;
    double nvml_util_mem_avg;
    double nvml_util_gpu_acc;
    double nvml_util_mem_acc;
    uint32_t nvml_memory_free_cur;
    uint32_t nvml_memory_used_cur;
    uint32_t nvml_memory_free_max;
    uint32_t nvml_memory_used_max;
    uint32_t nvml_memory_total;
    uint32_t nvml_active_processes_count_cur;
    uint32_t nvml_active_processes_count_max;
    uint32_t nvml_active_processes_pid[MS_GPU_PROCESSES];
    char nvml_active_processes_name[MS_GPU_PROCESSES][MS_TEXT];
};

struct ms_fpga_internal {
    struct timespec maxeler_time_cur;
    struct timespec maxeler_time_temp;
    struct timespec maxeler_time_diff;
    double maxeler_time_diff_double;
};

struct ms_fpga {
    struct ms_fpga_internal internal;
    struct timespec maxeler_time_wait;
    uint32_t maxeler_check_for_exit_interrupts;
    double maxeler_time_runtime;
    double maxeler_power_cur[MS_FPGA_POWERS];
    double maxeler_power_avg[MS_FPGA_POWERS];
    double maxeler_energy_acc[MS_FPGA_POWERS];
    double maxeler_temperature_cur[MS_FPGA_TEMPERATURES];
    double maxeler_temperature_max[MS_FPGA_TEMPERATURES];
    double maxeler_util_comp_cur;
    double maxeler_util_comp_acc;
    double maxeler_util_comp_avg;
    uint32_t maxeler_active_process_pid;
    char maxeler_active_process_name[MS_TEXT];
    char maxeler_active_process_user[MS_TEXT];
};

struct ms_mic_internal {
    struct timespec mic_time_cur;
    struct timespec mic_time_temp;
    struct timespec mic_time_diff;
    double mic_time_diff_double;
    uint64_t mic_util_cur[MS_MIC_STATS];
    uint64_t mic_util_temp[MS_MIC_STATS];
};

struct ms_mic {
    struct ms_mic_internal internal;
    struct timespec mic_time_wait;
    uint32_t mic_check_for_exit_interrupts;
    double mic_time_runtime;
    uint32_t mic_freq_core_cur;
    double mic_freq_core_acc;
    double mic_freq_core_avg;
    uint32_t mic_freq_mem_cur;
    double mic_freq_mem_acc;
    double mic_freq_mem_avg;
    uint32_t mic_power_cur[MS_MIC_POWERS];
    double mic_power_avg[MS_MIC_POWERS];
    double mic_energy_acc[MS_MIC_POWERS];
    uint32_t mic_temperature_cur[MS_MIC_TEMPERATURES];
    uint32_t mic_temperature_max[MS_MIC_TEMPERATURES];
    uint64_t mic_util_cur[MS_MIC_STATS];
    uint64_t mic_util_acc[MS_MIC_STATS];
    uint64_t mic_util_active_total;
    uint64_t mic_util_idle_total;
    double mic_util_active_cur;
    double mic_util_idle_cur;
    double mic_util_avg_cur;
    double mic_util_active_avg;
    double mic_util_idle_avg;
    double mic_util_avg;
    uint32_t mic_memory_free_cur;
    uint32_t mic_memory_used_cur;
    uint32_t mic_memory_free_max;
    uint32_t mic_memory_used_max;
    uint32_t mic_memory_total;
};

struct ms_sys_internal {
    struct timespec ipmi_time_cur;
    struct timespec ipmi_time_temp;
    struct timespec ipmi_time_diff;
    double ipmi_time_diff_double;
};

struct ms_sys {
    struct ms_sys_internal internal;
    struct timespec ipmi_time_wait;
    uint32_t ipmi_check_for_exit_interrupts;
    double ipmi_time_runtime;
    double ipmi_temperature_sysboard_cur;
    double ipmi_temperature_sysboard_max;
    double ipmi_power_sysboard_cur;
    double ipmi_power_sysboard_avg;
    double ipmi_energy_sysboard_acc;
    double ipmi_temperature_cur[MS_CPUS];
    double ipmi_temperature_max[MS_CPUS];
    uint32_t ipmi_power_server_cur;
    double ipmi_power_server_avg;
    uint32_t ipmi_energy_server_acc;
    uint32_t ipmi_energy_server_acc_since_reset;
    double ipmi_power_server_avg_since_reset;
};

/* The order of calls is that of this list. */
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

/* A figure of a resource; 0 if the list does not have it, or for an index out of range. */
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
