/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/measurement.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compiled programs know these sizes and offsets. */
#define MS_STRUCT(tag, bytes)                                                                      \
    _Static_assert(sizeof(struct tag) == (bytes), #tag " has another size");
#define MS_MEMBER(tag, offset, bytes, type, name, dimensions)                                      \
    _Static_assert(offsetof(struct tag, name) == (offset) &&                                       \
                       sizeof(((struct tag *)NULL)->name) == (bytes),                              \
                   #tag "." #name " lies elsewhere");
#define MS_END(tag)
#include "ms_common/structs.def"
#undef MS_STRUCT
#undef MS_MEMBER
#undef MS_END

void say(const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "libms_common_apapi: %s\n", text);
}

#define RESOURCE(flag, name, component, tag, prefix)                                               \
    {                                                                                              \
        flag, name, component, sizeof(struct tag), offsetof(struct tag, prefix##_time_wait),       \
            offsetof(struct tag, prefix##_check_for_exit_interrupts),                              \
            offsetof(struct tag, prefix##_time_runtime)                                            \
    }

const struct resource_row resource_rows[RESOURCES] = {
    [RESOURCE_CPU] = RESOURCE(MS_CPU, "CPU", "rapl", ms_cpu, msr),
    [RESOURCE_GPU] = RESOURCE(MS_GPU, "GPU", "nvml", ms_gpu, nvml),
    [RESOURCE_FPGA] = RESOURCE(MS_FPGA, "FPGA", "maxeler", ms_fpga, maxeler),
    [RESOURCE_SYSTEM] = RESOURCE(MS_SYSTEM, "SYSTEM", "ipmi", ms_sys, ipmi),
    [RESOURCE_MIC] = RESOURCE(MS_MIC, "MIC", "micknc", ms_mic, mic),
};

struct resource_head resource_head(enum resource resource, void *measurement)
{
    const struct resource_row *row = &resource_rows[resource];
    char *first = measurement;

    return (struct resource_head){(void *)(first + row->wait), (void *)(first + row->checks),
                                  (void *)(first + row->runtime)};
}

void resource_clear(enum resource resource, void *measurement)
{
    const struct resource_head head = resource_head(resource, measurement);
    struct timespec wait = *head.wait;
    uint32_t checks = *head.checks;

    memset(measurement, 0, resource_rows[resource].size);
    *head.wait = wait;
    *head.checks = checks;
}

int list_append(struct ms_list **list, enum resource resource)
{
    struct ms_list *node = calloc(1, sizeof *node);
    void *measurement = calloc(1, resource_rows[resource].size);

    if (!node || !measurement) {
        free(node);
        free(measurement);
        return -1;
    }
    *resource_head(resource, measurement).wait = (struct timespec){-1, -1};
    *resource_head(resource, measurement).checks = 1;
    node->resource_id = resource_rows[resource].flag;
    node->ms_measurement = measurement;
    while (*list) {
        list = &(*list)->next;
    }
    *list = node;
    return 0;
}

void *list_find(const struct ms_list *list, enum resource resource)
{
    while (list && list->resource_id != resource_rows[resource].flag) {
        list = list->next;
    }
    return list ? list->ms_measurement : NULL;
}
