/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_GPU_READER_H
#define APAPI_SOURCES_GPU_READER_H
#include <stddef.h>
#include <stdint.h>

#include "sources/gpu/gpu_library.h"
#include "sources/gpu/gpu_select.h"
#include "sources/sources.h"

#define GPU_VALUES_MAX 3
#define GPU_ABSENT UINT64_MAX /* value that this GPU does not provide */

/** A number that each GPU provides. */
struct gpu_metric {
    const char *name; /* of the event: '#' stands for the GPU's index, '@' for its name */
    const char *text; /* description: "power draw" */
    const char *unit;
    enum apapi_kind kind;
    enum apapi_domain domain;
    double scale;
    bool accumulates;
    uint64_t update_ns;
};

/* A counter of energy, and values at the time of a reading. */
#define GPU_METRIC(name, text, unit, kind, ...)                                                    \
    {                                                                                              \
        name, text, unit, APAPI_KIND_##kind, APAPI_DOMAIN_GPU, __VA_ARGS__                         \
    }
#define GPU_ENERGY(name, scale, update_ns)                                                         \
    GPU_METRIC(name, "energy", "J", ENERGY, scale, true, update_ns)
#define GPU_POWER(name, text, scale) GPU_METRIC(name, text, "W", POWER, scale, false, 0)
#define GPU_TEMPERATURE(name, text, scale) GPU_METRIC(name, text, "C", TEMPERATURE, scale, false, 0)
#define GPU_CLOCK(name, text, scale) GPU_METRIC(name, text, "Hz", FREQUENCY, scale, false, 0)
#define GPU_SHARE(name, text) GPU_METRIC(name, text, "%", UTILIZATION, 1, false, 0)
#define GPU_MEMORY(name, text) GPU_METRIC(name, text, "B", COUNT, 1, false, 0)

/** One call of the vendor's library and the numbers that it returns. */
struct gpu_query {
    /**
     * @param values  one for each metric, GPU_ABSENT if not provided. @return 0 or the errno;
     * ENOTSUP: not supported by this GPU.
     */
    int (*get)(const struct gpu_device *device, uint64_t *values);
    struct gpu_metric metrics[GPU_VALUES_MAX]; /* the last ones may have no name */
};

/** The meaning of a code of a vendor's library. */
struct gpu_status {
    int code;
    int error; /* errno; 0 ends a list */
};

/** @return the errno of a code: 0 of 0, EIO of one that is not in the list. */
int gpu_status_error(const struct gpu_status *list, int code);

/** The functions for a vendor's library. */
struct gpu_driver {
    const char *component;
    struct gpu_library *library;
    const struct gpu_query *queries;
    size_t query_count;

    /** Once for each reader; `stop` undoes it. 0; -1 with errno. */
    int (*start)(struct apapi_error *err);
    void (*stop)(void);

    /** Find all GPUs, in the library's order. @return how many, at most GPU_DEVICES_MAX. */
    size_t (*find)(struct gpu_device *devices);
    gpu_find_part_f find_part; /* NULL: GPUs have no parts */

    /** "NVML 12.535.104.05" */
    void (*version)(char *text, size_t size);
};

/* As the functions of struct apapi_source. */
struct apapi_reader *gpu_open(const struct apapi_source *source, const struct gpu_driver *driver,
                              struct apapi_error *err);
void gpu_read(struct apapi_reader *base, struct apapi_reading *readings);
void gpu_describe(const struct apapi_reader *base, size_t index, char *text, size_t size);
void gpu_close(struct apapi_reader *base);

/** Append a remark to the reader's detail, as far as it fits: "NVML 12.535, whole GPU". */
void gpu_remark(struct apapi_reader *base, const char *remark);

#endif
