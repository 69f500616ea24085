/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled programs know these sizes and offsets. */
#include <stddef.h>

#include "ms_common/interface.h"

#define SIZE(tag, bytes) _Static_assert(sizeof(struct tag) == (bytes), #tag " has another size")
#define AT(tag, offset, bytes, member)                                                             \
    _Static_assert(offsetof(struct tag, member) == (offset) &&                                     \
                       sizeof(((struct tag *)NULL)->member) == (bytes),                            \
                   #tag "." #member " lies elsewhere")

SIZE(ms_config, 20);
AT(ms_config, 0, 4, cpu_enabled);
AT(ms_config, 4, 4, gpu_enabled);
AT(ms_config, 8, 4, fpga_enabled);
AT(ms_config, 12, 4, mic_enabled);
AT(ms_config, 16, 4, sys_enabled);

SIZE(ms_system, 16);
AT(ms_system, 0, 8, mgmt);
AT(ms_system, 8, 8, config); /* NOLINT(bugprone-sizeof-expression): a pointer */

SIZE(ms_list, 24);
AT(ms_list, 0, 4, resource_id);
AT(ms_list, 8, 8, ms_measurement);
AT(ms_list, 16, 8, next); /* NOLINT(bugprone-sizeof-expression): a pointer */

SIZE(ms_version, 12);
AT(ms_version, 0, 4, major);
AT(ms_version, 4, 4, minor);
AT(ms_version, 8, 4, revision);

SIZE(ms_cpu_internal, 656);
AT(ms_cpu_internal, 0, 16, msr_time_cur);
AT(ms_cpu_internal, 16, 16, msr_time_temp);
AT(ms_cpu_internal, 32, 16, msr_time_diff);
AT(ms_cpu_internal, 48, 8, msr_time_diff_double);
AT(ms_cpu_internal, 56, 48, msr_energy_temp);
AT(ms_cpu_internal, 104, 8, msr_energy_max);
AT(ms_cpu_internal, 112, 64, msr_timestamp_core_temp);
AT(ms_cpu_internal, 176, 64, msr_timestamp_core_cur);
AT(ms_cpu_internal, 240, 64, msr_aperf_core_cur);
AT(ms_cpu_internal, 304, 64, msr_aperf_core_temp);
AT(ms_cpu_internal, 368, 64, msr_mperf_core_cur);
AT(ms_cpu_internal, 432, 64, msr_mperf_core_temp);
AT(ms_cpu_internal, 496, 80, measure_util_cur);
AT(ms_cpu_internal, 576, 80, measure_util_temp);

SIZE(ms_cpu, 1632);
AT(ms_cpu, 0, 656, internal);
AT(ms_cpu, 656, 16, msr_time_wait);
AT(ms_cpu, 672, 4, msr_check_for_exit_interrupts);
AT(ms_cpu, 680, 8, msr_time_runtime);
AT(ms_cpu, 688, 48, msr_energy_cur);
AT(ms_cpu, 736, 48, msr_power_cur);
AT(ms_cpu, 784, 48, msr_power_avg);
AT(ms_cpu, 832, 48, msr_energy_acc);
AT(ms_cpu, 880, 8, msr_temperature_pkg_cur);
AT(ms_cpu, 888, 8, msr_temperature_pkg_max);
AT(ms_cpu, 896, 32, msr_temperature_core_cur);
AT(ms_cpu, 928, 32, msr_temperature_core_max);
AT(ms_cpu, 960, 64, msr_freq_core_cur);
AT(ms_cpu, 1024, 64, msr_freq_core_acc);
AT(ms_cpu, 1088, 64, msr_freq_core_avg);
AT(ms_cpu, 1152, 64, msr_freq_core_eff_cur);
AT(ms_cpu, 1216, 64, msr_freq_core_eff_acc);
AT(ms_cpu, 1280, 64, msr_freq_core_eff_avg);
AT(ms_cpu, 1344, 80, measure_util_cur);
AT(ms_cpu, 1424, 80, measure_util_acc);
AT(ms_cpu, 1504, 8, measure_util_active_total);
AT(ms_cpu, 1512, 8, measure_util_idle_total);
AT(ms_cpu, 1520, 8, measure_util_active_cur);
AT(ms_cpu, 1528, 8, measure_util_idle_cur);
AT(ms_cpu, 1536, 8, measure_util_avg_cur);
AT(ms_cpu, 1544, 8, measure_util_active_avg);
AT(ms_cpu, 1552, 8, measure_util_idle_avg);
AT(ms_cpu, 1560, 8, measure_util_avg);
AT(ms_cpu, 1568, 48, measure_memory_cur);
AT(ms_cpu, 1616, 4, measure_memory_free_max);
AT(ms_cpu, 1620, 4, measure_memory_used_max);
AT(ms_cpu, 1624, 4, measure_swap_free_max);
AT(ms_cpu, 1628, 4, measure_swap_used_max);

SIZE(ms_gpu_internal, 64);
AT(ms_gpu_internal, 0, 16, nvml_time_cur);
AT(ms_gpu_internal, 16, 16, nvml_time_temp);
AT(ms_gpu_internal, 32, 16, nvml_time_diff);
AT(ms_gpu_internal, 48, 8, nvml_time_diff_double);
AT(ms_gpu_internal, 56, 4, nvml_power_state);

SIZE(ms_gpu, 17160);
AT(ms_gpu, 0, 64, internal);
AT(ms_gpu, 64, 16, nvml_time_wait);
AT(ms_gpu, 80, 4, nvml_check_for_exit_interrupts);
AT(ms_gpu, 88, 8, nvml_time_runtime);
AT(ms_gpu, 96, 4, nvml_power_cur);
AT(ms_gpu, 104, 8, nvml_power_avg);
AT(ms_gpu, 112, 8, nvml_energy_acc);
AT(ms_gpu, 120, 4, nvml_temperature_cur);
AT(ms_gpu, 124, 4, nvml_temperature_max);
AT(ms_gpu, 128, 4, nvml_clock_graphics_cur);
AT(ms_gpu, 132, 4, nvml_clock_sm_cur);
AT(ms_gpu, 136, 4, nvml_clock_mem_cur);
AT(ms_gpu, 144, 8, nvml_clock_graphics_avg);
AT(ms_gpu, 152, 8, nvml_clock_sm_avg);
AT(ms_gpu, 160, 8, nvml_clock_mem_avg);
AT(ms_gpu, 168, 8, nvml_clock_graphics_acc);
AT(ms_gpu, 176, 8, nvml_clock_sm_acc);
AT(ms_gpu, 184, 8, nvml_clock_mem_acc);
AT(ms_gpu, 192, 4, nvml_util_gpu_cur);
AT(ms_gpu, 196, 4, nvml_util_mem_cur);
AT(ms_gpu, 200, 8, nvml_util_gpu_avg);
AT(ms_gpu, 208, 8, nvml_util_mem_avg);
AT(ms_gpu, 216, 8, nvml_util_gpu_acc);
AT(ms_gpu, 224, 8, nvml_util_mem_acc);
AT(ms_gpu, 232, 4, nvml_memory_free_cur);
AT(ms_gpu, 236, 4, nvml_memory_used_cur);
AT(ms_gpu, 240, 4, nvml_memory_free_max);
AT(ms_gpu, 244, 4, nvml_memory_used_max);
AT(ms_gpu, 248, 4, nvml_memory_total);
AT(ms_gpu, 252, 4, nvml_active_processes_count_cur);
AT(ms_gpu, 256, 4, nvml_active_processes_count_max);
AT(ms_gpu, 260, 512, nvml_active_processes_pid);
AT(ms_gpu, 772, 16384, nvml_active_processes_name);

SIZE(ms_fpga_internal, 56);
AT(ms_fpga_internal, 0, 16, maxeler_time_cur);
AT(ms_fpga_internal, 16, 16, maxeler_time_temp);
AT(ms_fpga_internal, 32, 16, maxeler_time_diff);
AT(ms_fpga_internal, 48, 8, maxeler_time_diff_double);

SIZE(ms_fpga, 600);
AT(ms_fpga, 0, 56, internal);
AT(ms_fpga, 56, 16, maxeler_time_wait);
AT(ms_fpga, 72, 4, maxeler_check_for_exit_interrupts);
AT(ms_fpga, 80, 8, maxeler_time_runtime);
AT(ms_fpga, 88, 64, maxeler_power_cur);
AT(ms_fpga, 152, 64, maxeler_power_avg);
AT(ms_fpga, 216, 64, maxeler_energy_acc);
AT(ms_fpga, 280, 16, maxeler_temperature_cur);
AT(ms_fpga, 296, 16, maxeler_temperature_max);
AT(ms_fpga, 312, 8, maxeler_util_comp_cur);
AT(ms_fpga, 320, 8, maxeler_util_comp_acc);
AT(ms_fpga, 328, 8, maxeler_util_comp_avg);
AT(ms_fpga, 336, 4, maxeler_active_process_pid);
AT(ms_fpga, 340, 128, maxeler_active_process_name);
AT(ms_fpga, 468, 128, maxeler_active_process_user);

SIZE(ms_mic_internal, 120);
AT(ms_mic_internal, 0, 16, mic_time_cur);
AT(ms_mic_internal, 16, 16, mic_time_temp);
AT(ms_mic_internal, 32, 16, mic_time_diff);
AT(ms_mic_internal, 48, 8, mic_time_diff_double);
AT(ms_mic_internal, 56, 32, mic_util_cur);
AT(ms_mic_internal, 88, 32, mic_util_temp);

SIZE(ms_mic, 552);
AT(ms_mic, 0, 120, internal);
AT(ms_mic, 120, 16, mic_time_wait);
AT(ms_mic, 136, 4, mic_check_for_exit_interrupts);
AT(ms_mic, 144, 8, mic_time_runtime);
AT(ms_mic, 152, 4, mic_freq_core_cur);
AT(ms_mic, 160, 8, mic_freq_core_acc);
AT(ms_mic, 168, 8, mic_freq_core_avg);
AT(ms_mic, 176, 4, mic_freq_mem_cur);
AT(ms_mic, 184, 8, mic_freq_mem_acc);
AT(ms_mic, 192, 8, mic_freq_mem_avg);
AT(ms_mic, 200, 28, mic_power_cur);
AT(ms_mic, 232, 56, mic_power_avg);
AT(ms_mic, 288, 56, mic_energy_acc);
AT(ms_mic, 344, 28, mic_temperature_cur);
AT(ms_mic, 372, 28, mic_temperature_max);
AT(ms_mic, 400, 32, mic_util_cur);
AT(ms_mic, 432, 32, mic_util_acc);
AT(ms_mic, 464, 8, mic_util_active_total);
AT(ms_mic, 472, 8, mic_util_idle_total);
AT(ms_mic, 480, 8, mic_util_active_cur);
AT(ms_mic, 488, 8, mic_util_idle_cur);
AT(ms_mic, 496, 8, mic_util_avg_cur);
AT(ms_mic, 504, 8, mic_util_active_avg);
AT(ms_mic, 512, 8, mic_util_idle_avg);
AT(ms_mic, 520, 8, mic_util_avg);
AT(ms_mic, 528, 4, mic_memory_free_cur);
AT(ms_mic, 532, 4, mic_memory_used_cur);
AT(ms_mic, 536, 4, mic_memory_free_max);
AT(ms_mic, 540, 4, mic_memory_used_max);
AT(ms_mic, 544, 4, mic_memory_total);

SIZE(ms_sys_internal, 56);
AT(ms_sys_internal, 0, 16, ipmi_time_cur);
AT(ms_sys_internal, 16, 16, ipmi_time_temp);
AT(ms_sys_internal, 32, 16, ipmi_time_diff);
AT(ms_sys_internal, 48, 8, ipmi_time_diff_double);

SIZE(ms_sys, 192);
AT(ms_sys, 0, 56, internal);
AT(ms_sys, 56, 16, ipmi_time_wait);
AT(ms_sys, 72, 4, ipmi_check_for_exit_interrupts);
AT(ms_sys, 80, 8, ipmi_time_runtime);
AT(ms_sys, 88, 8, ipmi_temperature_sysboard_cur);
AT(ms_sys, 96, 8, ipmi_temperature_sysboard_max);
AT(ms_sys, 104, 8, ipmi_power_sysboard_cur);
AT(ms_sys, 112, 8, ipmi_power_sysboard_avg);
AT(ms_sys, 120, 8, ipmi_energy_sysboard_acc);
AT(ms_sys, 128, 16, ipmi_temperature_cur);
AT(ms_sys, 144, 16, ipmi_temperature_max);
AT(ms_sys, 160, 4, ipmi_power_server_cur);
AT(ms_sys, 168, 8, ipmi_power_server_avg);
AT(ms_sys, 176, 4, ipmi_energy_server_acc);
AT(ms_sys, 180, 4, ipmi_energy_server_acc_since_reset);
AT(ms_sys, 184, 8, ipmi_power_server_avg_since_reset);
