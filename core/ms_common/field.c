/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/field.h"

#include "ms_common/interface.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MEMBER(tag, member) ((struct tag *)NULL)->member
#define TYPE(tag, member)                                                                          \
    _Generic(MEMBER(tag, member), double                                                           \
             : NUMBER_DOUBLE, uint32_t                                                             \
             : NUMBER_U32, uint64_t                                                                \
             : NUMBER_U64)
#define STEP(tag, member) (sizeof MEMBER(tag, member))

#define ANY FIELD_ANY_KIND, FIELD_ANY_DOMAIN
#define TO(tag, member) TYPE(tag, member), offsetof(struct tag, member)
#define ONE(tag, member) TO(tag, member), 0, 0
/* Names of members cannot be in parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define PER_PACKAGE(member) TO(ms_cpu, member[0]), STEP(ms_cpu, member[0]), 0
#define PER_CORE(member)                                                                           \
    TO(ms_cpu, member[0][0]), STEP(ms_cpu, member[0]), STEP(ms_cpu, member[0][0])
#define PER_RAIL(member, index) TO(ms_cpu, member[0][index]), STEP(ms_cpu, member[0]), 0
/* NOLINTEND(bugprone-macro-parentheses) */

#define MILLI 1000, 1000 /* J to mWs, W to mW */
#define SAME 1, 1
#define MHZ 1e-6, 1           /* Hz; raw: MHz */
#define MHZ_OF_KHZ 1e-6, 1e-3 /* Hz; raw: kHz */
#define SECONDS 1e-3, 1e-3    /* ms */
#define KIB_OF_BYTES 1.0 / 1024, 1.0 / 1024

/* Energy and power of a part of a package: the total, the mean and now. */
#define RAIL_FIELD(domain, statistic, member, index)                                               \
    {                                                                                              \
        "*", APAPI_KIND_ENERGY, domain, STATISTIC_##statistic, JOIN_ADD, PART_NONE,                \
            PER_RAIL(member, index), MILLI                                                         \
    }
#define RAIL(domain, index)                                                                        \
    RAIL_FIELD(domain, TOTAL, msr_energy_acc, index),                                              \
        RAIL_FIELD(domain, MEAN, msr_power_avg, index),                                            \
        RAIL_FIELD(domain, NOW, msr_power_cur, index)

#define CPU(pattern, statistic, join, part, ...)                                                   \
    {                                                                                              \
        "rapl:::" pattern, ANY, STATISTIC_##statistic, JOIN_##join, PART_##part, __VA_ARGS__       \
    }

/* Names as in config/legacy: only the PAPI of the original APAPI has them. */
static const struct field cpu_fields[] = {
    RAIL(APAPI_DOMAIN_PACKAGE, 0),
    RAIL(APAPI_DOMAIN_CORE, 1),
    RAIL(APAPI_DOMAIN_DRAM, 2),
    CPU("THERM_STATUS:PACKAGE[0-9]", MAX, MAX, TEMPERATURE, PER_PACKAGE(msr_temperature_pkg_max),
        SAME),
    CPU("THERM_STATUS:PACKAGE[0-9]", NOW, MAX, TEMPERATURE, PER_PACKAGE(msr_temperature_pkg_cur),
        SAME),
    CPU("THERM_STATUS:*:CPU*", MAX, MAX, TEMPERATURE, PER_CORE(msr_temperature_core_max), SAME),
    CPU("THERM_STATUS:*:CPU*", NOW, MAX, TEMPERATURE, PER_CORE(msr_temperature_core_cur), SAME),
    CPU("AVG_FREQUENCY:*", MEAN, MEAN, FREQUENCY, PER_CORE(msr_freq_core_avg), MHZ_OF_KHZ),
    CPU("AVG_FREQUENCY:*", TOTAL, MEAN, FREQUENCY, PER_CORE(msr_freq_core_acc), MHZ_OF_KHZ),
    CPU("AVG_FREQUENCY:*", NOW, MEAN, FREQUENCY, PER_CORE(msr_freq_core_cur), MHZ_OF_KHZ),
    CPU("EFF_FREQUENCY:*", MEAN, MEAN, FREQUENCY, PER_CORE(msr_freq_core_eff_avg), MHZ_OF_KHZ),
    CPU("EFF_FREQUENCY:*", TOTAL, MEAN, FREQUENCY, PER_CORE(msr_freq_core_eff_acc), MHZ_OF_KHZ),
    CPU("EFF_FREQUENCY:*", NOW, MEAN, FREQUENCY, PER_CORE(msr_freq_core_eff_cur), MHZ_OF_KHZ),
    CPU("TIME_WORK", MAX, MAX, TIME, ONE(ms_cpu, measure_util_active_avg), SECONDS),
    CPU("TIME_IDLE", MAX, MAX, TIME, ONE(ms_cpu, measure_util_idle_avg), SECONDS),
    CPU("TIME_UTIL", MEAN, MEAN, TIME, ONE(ms_cpu, measure_util_avg), SAME),
    CPU("TIME_UTIL", NOW, MEAN, TIME, ONE(ms_cpu, measure_util_avg_cur), SAME),
    CPU("MEM_TOTAL", MAX, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[0]), SAME),
    CPU("MEM_FREE", NOW, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[1]), SAME),
    CPU("MEM_FREE", MAX, MAX, MEMORY, ONE(ms_cpu, measure_memory_free_max), SAME),
    CPU("MEM_USED", NOW, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[2]), SAME),
    CPU("MEM_USED", MAX, MAX, MEMORY, ONE(ms_cpu, measure_memory_used_max), SAME),
    CPU("SWAP_TOTAL", MAX, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[3]), SAME),
    CPU("SWAP_FREE", NOW, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[4]), SAME),
    CPU("SWAP_FREE", MAX, MAX, MEMORY, ONE(ms_cpu, measure_swap_free_max), SAME),
    CPU("SWAP_USED", NOW, MAX, MEMORY, ONE(ms_cpu, measure_memory_cur[5]), SAME),
    CPU("SWAP_USED", MAX, MAX, MEMORY, ONE(ms_cpu, measure_swap_used_max), SAME),
};

#define METER(kind, statistic, member)                                                             \
    {                                                                                              \
        "*", APAPI_KIND_##kind, APAPI_DOMAIN_GPU, STATISTIC_##statistic, JOIN_ADD, PART_NONE,      \
            ONE(ms_gpu, member), MILLI                                                             \
    }
#define GPU(pattern, statistic, join, member, ...)                                                 \
    {                                                                                              \
        pattern, ANY, STATISTIC_##statistic, JOIN_##join, PART_NONE, ONE(ms_gpu, member),          \
            __VA_ARGS__                                                                            \
    }
#define HOT(pattern)                                                                               \
    GPU(pattern, MAX, MAX, nvml_temperature_max, SAME),                                            \
        GPU(pattern, NOW, MAX, nvml_temperature_cur, SAME)
#define CLOCK(pattern, name)                                                                       \
    GPU(pattern, MEAN, MEAN, nvml_clock_##name##_avg, MHZ),                                        \
        GPU(pattern, TOTAL, MEAN, nvml_clock_##name##_acc, MHZ),                                   \
        GPU(pattern, NOW, MEAN, nvml_clock_##name##_cur, MHZ)
#define BUSY(pattern, name)                                                                        \
    GPU(pattern, MEAN, MEAN, nvml_util_##name##_avg, SAME),                                        \
        GPU(pattern, TOTAL, MEAN, nvml_util_##name##_acc, SAME),                                   \
        GPU(pattern, NOW, MEAN, nvml_util_##name##_cur, SAME)
#define USED(pattern)                                                                              \
    GPU(pattern, MAX, ADD, nvml_memory_used_max, KIB_OF_BYTES),                                    \
        GPU(pattern, NOW, ADD, nvml_memory_used_cur, KIB_OF_BYTES)

/* A GPU has a counter of energy or a gauge of power; map.c takes the counter if there are both. */
static const struct field gpu_fields[] = {
    METER(ENERGY, TOTAL, nvml_energy_acc),
    METER(ENERGY, MEAN, nvml_power_avg),
    METER(ENERGY, NOW, nvml_power_cur),
    METER(POWER, TOTAL, nvml_energy_acc),
    METER(POWER, MEAN, nvml_power_avg),
    METER(POWER, NOW, nvml_power_cur),
    HOT("nvml:::*:temperature"),
    HOT("rocm_smi:::temp_current:*:sensor=0"),
    CLOCK("nvml:::*:graphics_clock", graphics),
    CLOCK("nvml:::*:sm_clock", sm),
    CLOCK("nvml:::*:memory_clock", mem),
    CLOCK("rocm_smi:::gpu_clk_freq_System:*:current", graphics),
    CLOCK("rocm_smi:::gpu_clk_freq_System:*:current", sm),
    CLOCK("rocm_smi:::gpu_clk_freq_Memory:*:current", mem),
    BUSY("nvml:::*:gpu_utilization", gpu),
    BUSY("rocm_smi:::busy_percent:*", gpu),
    BUSY("amd_smi:::gfx_activity:*", gpu),
    BUSY("nvml:::*:memory_utilization", mem),
    BUSY("rocm_smi:::memory_busy_percent:*", mem),
    BUSY("amd_smi:::umc_activity:*", mem),
    USED("nvml:::*:allocated_memory"),
    USED("*_smi:::mem_usage_VRAM:*"),
    GPU("nvml:::*:unallocated_memory", MAX, ADD, nvml_memory_free_max, KIB_OF_BYTES),
    GPU("nvml:::*:unallocated_memory", NOW, ADD, nvml_memory_free_cur, KIB_OF_BYTES),
    GPU("nvml:::*:total_memory", MAX, ADD, nvml_memory_total, KIB_OF_BYTES),
    GPU("*_smi:::mem_total_VRAM:*", MAX, ADD, nvml_memory_total, KIB_OF_BYTES),
    GPU("nvml:::*:processes", MAX, ADD, nvml_active_processes_count_max, SAME),
    GPU("nvml:::*:processes", NOW, ADD, nvml_active_processes_count_cur, SAME),
};

#define CARD(pattern, statistic, tag, member, ...)                                                 \
    {                                                                                              \
        pattern, ANY, STATISTIC_##statistic, JOIN_MAX, PART_NONE, ONE(tag, member), __VA_ARGS__    \
    }
#define POWERS(pattern, tag, prefix, index)                                                        \
    CARD(pattern, TOTAL, tag, prefix##_energy_acc[index], MILLI),                                  \
        CARD(pattern, MEAN, tag, prefix##_power_avg[index], MILLI),                                \
        CARD(pattern, NOW, tag, prefix##_power_cur[index], MILLI)
#define TEMPERATURES(pattern, tag, prefix, index)                                                  \
    CARD(pattern, MAX, tag, prefix##_temperature_max[index], SAME),                                \
        CARD(pattern, NOW, tag, prefix##_temperature_cur[index], SAME)

#define FPGA_POWER(name, index) POWERS("maxeler:::" name "_POWER:DEVICE0", ms_fpga, maxeler, index)

static const struct field fpga_fields[] = {
    FPGA_POWER("vcc1v0_c", 0),
    FPGA_POWER("vcc1v5_ddr", 1),
    FPGA_POWER("vcc2v5_aux", 2),
    FPGA_POWER("imgt_1v0", 3),
    FPGA_POWER("imgt_1v2", 4),
    FPGA_POWER("mgt_1v0", 5),
    FPGA_POWER("mgt_1v2", 6),
    FPGA_POWER("fpga", 7),
    TEMPERATURES("maxeler:::mmgt_TEMPERATURE:DEVICE0", ms_fpga, maxeler, 0),
    TEMPERATURES("maxeler:::imgt_TEMPERATURE:DEVICE0", ms_fpga, maxeler, 1),
    CARD("maxeler:::COMPUTE_UTIL:DEVICE0", MEAN, ms_fpga, maxeler_util_comp_avg, SAME),
    CARD("maxeler:::COMPUTE_UTIL:DEVICE0", TOTAL, ms_fpga, maxeler_util_comp_acc, SAME),
    CARD("maxeler:::COMPUTE_UTIL:DEVICE0", NOW, ms_fpga, maxeler_util_comp_cur, SAME),
};

#define MIC_POWER(name, index) POWERS("micknc:::POWER_" name ":DEVICE0", ms_mic, mic, index)
#define MIC_TEMP(name, index) TEMPERATURES("micknc:::TEMP_" name ":DEVICE0", ms_mic, mic, index)
#define MIC(name, statistic, member, ...)                                                          \
    CARD("micknc:::" name ":DEVICE0", statistic, ms_mic, member, __VA_ARGS__)

static const struct field mic_fields[] = {
    MIC_POWER("PCIE", 0),
    MIC_POWER("C2X3", 1),
    MIC_POWER("C2X4", 2),
    MIC_POWER("VCCP", 3),
    MIC_POWER("VDDG", 4),
    MIC_POWER("VDDQ", 5),
    MIC_POWER("MIC", 6),
    MIC_TEMP("DIE", 0),
    MIC_TEMP("GDDR", 1),
    MIC_TEMP("FANIN", 2),
    MIC_TEMP("FANOUT", 3),
    MIC_TEMP("VCCP", 4),
    MIC_TEMP("VDDG", 5),
    MIC_TEMP("VDDQ", 6),
    MIC("FREQ_CORE", MEAN, mic_freq_core_avg, MHZ_OF_KHZ),
    MIC("FREQ_CORE", TOTAL, mic_freq_core_acc, MHZ_OF_KHZ),
    MIC("FREQ_CORE", NOW, mic_freq_core_cur, MHZ_OF_KHZ),
    MIC("FREQ_MEM", MEAN, mic_freq_mem_avg, MHZ_OF_KHZ),
    MIC("FREQ_MEM", TOTAL, mic_freq_mem_acc, MHZ_OF_KHZ),
    MIC("FREQ_MEM", NOW, mic_freq_mem_cur, MHZ_OF_KHZ),
    MIC("TIME_ACTIVE", SUM, mic_util_active_avg, SECONDS),
    MIC("TIME_IDLE", SUM, mic_util_idle_avg, SECONDS),
    MIC("UTIL", MEAN, mic_util_avg, SAME),
    MIC("UTIL", NOW, mic_util_avg_cur, SAME),
    MIC("MEM_TOTAL", MAX, mic_memory_total, SAME),
    MIC("MEM_USED", MAX, mic_memory_used_max, SAME),
    MIC("MEM_USED", NOW, mic_memory_used_cur, SAME),
    MIC("MEM_FREE", MAX, mic_memory_free_max, SAME),
    MIC("MEM_FREE", NOW, mic_memory_free_cur, SAME),
};

#define SYSTEM(pattern, statistic, member) CARD("ipmi:::" pattern, statistic, ms_sys, member, SAME)

static const struct field system_fields[] = {
    SYSTEM("SYSTEM_POWER", TOTAL, ipmi_energy_server_acc),
    SYSTEM("SYSTEM_POWER", MEAN, ipmi_power_server_avg),
    SYSTEM("SYSTEM_POWER", NOW, ipmi_power_server_cur),
    SYSTEM("BOARD_POWER", TOTAL, ipmi_energy_sysboard_acc),
    SYSTEM("BOARD_POWER", MEAN, ipmi_power_sysboard_avg),
    SYSTEM("BOARD_POWER", NOW, ipmi_power_sysboard_cur),
    SYSTEM("SYSTEM_TEMP", MAX, ipmi_temperature_sysboard_max),
    SYSTEM("SYSTEM_TEMP", NOW, ipmi_temperature_sysboard_cur),
};

const struct field *fields_of(enum resource resource, size_t *count)
{
    static const struct {
        const struct field *fields;
        size_t count;
    } all[RESOURCES] = {
        [RESOURCE_CPU] = {cpu_fields, COUNT_OF(cpu_fields)},
        [RESOURCE_GPU] = {gpu_fields, COUNT_OF(gpu_fields)},
        [RESOURCE_FPGA] = {fpga_fields, COUNT_OF(fpga_fields)},
        [RESOURCE_SYSTEM] = {system_fields, COUNT_OF(system_fields)},
        [RESOURCE_MIC] = {mic_fields, COUNT_OF(mic_fields)},
    };

    *count = all[resource].count;
    return all[resource].fields;
}
