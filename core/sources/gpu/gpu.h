/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_GPU_GPU_H
#define SOURCES_GPU_GPU_H
#include "base/shared_library.h"
#include "sources/sources.h"

/*
 * GPUs, read by their vendor's library. A library is loaded on demand and never unloaded, as it may
 * have threads. A driver is all that differs between the libraries.
 */

#define GPU_DEVICES_MAX 64
#define GPU_TEXT_SIZE 96
#define GPU_VALUES_MAX 3
#define GPU_ABSENT UINT64_MAX /* value that this GPU does not provide */

/** A GPU as its vendor's library shows it. */
struct gpu_device {
    void *handle;
    unsigned index;           /* in the library's order, which is that of the PCI addresses */
    int minor;                /* number of its device file; -1: not known */
    char uuid[GPU_TEXT_SIZE]; /* "GPU-..."; "": not known */
    char name[GPU_TEXT_SIZE]; /* "NVIDIA A100-SXM4-40GB"; "": not known */
    int error;                /* errno if it exists but cannot be used */
    bool chosen;
    bool by_part;                /* chosen by the names of its parts */
    bool second_die;             /* the GPU before it measures the whole card, with this die */
    bool half_card;              /* chosen without the card's second die */
    unsigned slices, slices_all; /* slices of these parts, and of the GPU; 0: not known */
    double most_w;               /* its highest power limit [W]; 0: not known */
};

/** Size of a part of a GPU (a MIG device). */
struct gpu_part {
    unsigned slices, slices_all; /* slices of the part, and of the GPU; 0: not known */
};

/**
 * Find a part of a GPU by its UUID, or by the beginning of the UUID.
 * @param part  result; not changed if there is no such part
 * @return whether the GPU has the part
 */
typedef bool (*gpu_find_part_f)(const struct gpu_device *device, const char *uuid,
                                struct gpu_part *part);

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

/* Metrics: a counter of energy, and values at the time of a reading. */
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

/** Define gpu_query.get() with one call, which sets `value`; its result is a vendor's code. */
#define GPU_GETTER(name, type, error_of, ...)                                                      \
    static int name(const struct gpu_device *device, uint64_t *values)                             \
    {                                                                                              \
        type value = 0;                                                                            \
        int code = __VA_ARGS__;                                                                    \
                                                                                                   \
        values[0] = (uint64_t)value;                                                               \
        return error_of(code);                                                                     \
    }

/** The meaning of a code of a vendor's library. */
struct gpu_status {
    int code;
    int error; /* errno; 0 ends a list */
};

/** @return the errno of a code: 0 for 0, EIO for a code that is not in the list. */
int gpu_status_error(const struct gpu_status *list, int code);

/** A vendor's library. */
struct gpu_driver {
    const char *component; /* also the section of its settings; `library` replaces the file name */
    const char *const *files; /* tried in this order; ends with NULL */
    const char *missing;      /* error message without the library: "no NVIDIA driver" */
    const struct library_symbol *symbols;
    const struct library_symbol
        *newer;      /* missing in older versions: their pointers are NULL then */
    void *functions; /* filled with the pointers of both */
    bool *loaded;
    const struct gpu_query *queries;
    size_t query_count;

    /** Look for a GPU before loading the library. @return 0; -1 with errno ENODEV. NULL: do not. */
    int (*available)(struct apapi_error *err);

    /** Start, once for each reader; stop(), if any, undoes this. @return 0; -1 with errno. */
    int (*start)(struct apapi_error *err);
    void (*stop)(void);

    /** Find all GPUs, in the library's order. @return how many, at most GPU_DEVICES_MAX. */
    size_t (*find)(struct gpu_device *devices);
    gpu_find_part_f find_part; /* NULL: GPUs have no parts */

    /** "NVML 12.535.104.05" */
    void (*version)(char *text, size_t size);
};

/**
 * Mark the GPUs to measure: all, or those of the first list among APAPI_GPUS, the setting `gpus` of
 * section `slurm`, SLURM_STEP_GPUS, SLURM_JOB_GPUS.
 *
 * A list has words separated by commas: an index "0" or a range "0-3" in PCI order (minor numbers
 * of the device files with the setting `order` of section `gpus` at "minor"), "GPU-uuid",
 * "MIG-uuid", or the beginning of one that fits one GPU only. "none" selects no GPU.
 * @param find_part  NULL: GPUs have no parts
 * @return 0; -1 with errno EINVAL (bad text) or ENODEV (no such GPU, or none is wanted).
 */
int gpu_select(struct gpu_device *devices, size_t count, gpu_find_part_f find_part,
               struct apapi_error *err);

/* As the functions of struct apapi_source. */
struct apapi_reader *gpu_open(const struct apapi_source *source, const struct gpu_driver *driver,
                              struct apapi_error *err);
void gpu_read(struct apapi_reader *base, struct apapi_reading *readings);
void gpu_describe(const struct apapi_reader *base, size_t index, char *text, size_t size);
void gpu_close(struct apapi_reader *base);

#endif
