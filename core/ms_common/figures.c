/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that return a figure. */
#include "ms_common/interface.h"
#include "ms_common/list.h"
#include "ms_common/number.h"

#define cpu_RESOURCE RESOURCE_CPU
#define gpu_RESOURCE RESOURCE_GPU
#define fpga_RESOURCE RESOURCE_FPGA
#define mic_RESOURCE RESOURCE_MIC
#define sys_RESOURCE RESOURCE_SYSTEM

#define MS_FIGURE(type, name, resource, member)                                                    \
    type name(const struct ms_list *list)                                                          \
    {                                                                                              \
        const struct ms_##resource *measurement = list_find(list, resource##_RESOURCE);            \
                                                                                                   \
        return measurement ? (type)number_get(measurement->member) : 0;                            \
    }

#define MS_FIGURE_OF_CPU(type, name, member)                                                       \
    type name(const struct ms_list *list, int cpu)                                                 \
    {                                                                                              \
        const struct ms_cpu *measurement = list_find(list, RESOURCE_CPU);                          \
                                                                                                   \
        return measurement && cpu >= 0 && cpu < MS_CPUS ? number_get(measurement->member[cpu])     \
                                                        : 0;                                       \
    }

#define MS_FIGURE_OF_RAIL(name, member, rail)                                                      \
    double name(const struct ms_list *list, int cpu)                                               \
    {                                                                                              \
        const struct ms_cpu *measurement = list_find(list, RESOURCE_CPU);                          \
                                                                                                   \
        return measurement && cpu >= 0 && cpu < MS_CPUS                                            \
                   ? number_get(measurement->member[cpu][rail])                                    \
                   : 0;                                                                            \
    }

#define MS_FIGURE_OF_CORE(type, name, member)                                                      \
    type name(const struct ms_list *list, int cpu, int core)                                       \
    {                                                                                              \
        const struct ms_cpu *measurement = list_find(list, RESOURCE_CPU);                          \
                                                                                                   \
        return measurement && cpu >= 0 && cpu < MS_CPUS && core >= 0 && core < MS_CORES            \
                   ? number_get(measurement->member[cpu][core])                                    \
                   : 0;                                                                            \
    }

#include "ms_common/figures.def"
