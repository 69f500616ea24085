/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_GPU_FIXTURE_H
#define UNIT_GPU_FIXTURE_H
/* The sources for GPUs with stand-ins for the vendors' libraries, for several tests. */
#include "fake/powercap_tree.h"
#include "sources/sources.h"
#include "unit/unit.h"

#define READINGS_MAX 128

static struct powercap_tree tree;
static char spec_path[128], log_path[128];

static const struct vendor {
    const struct apapi_source *source;
    const char *component, *energy, *power, *detail;
    int lost; /* errno of a reading of a lost GPU */
} nvidia = {&apapi_source_nvml,
            "nvml",
            "nvml:::Fake_GPU:device_#:total_energy_consumption",
            "nvml:::Fake_GPU:device_#:power",
            "NVML 12.535.104.05",
            ENODEV},
  rocm_smi = {&apapi_source_rocm,
              "rocm_smi",
              "rocm_smi:::energy_count:device=#",
              "rocm_smi:::power_average:device=#:sensor=0",
              "ROCm SMI",
              EIO},
  amd_smi = {&apapi_source_rocm,
             "amd_smi",
             "amd_smi:::energy_consumed:device=#",
             "amd_smi:::power_average:device=#",
             "AMD SMI 26",
             ENODEV};

static const struct vendor *const vendors[] = {&nvidia, &rocm_smi, &amd_smi};
#define VENDORS COUNT_OF(vendors)

static inline void write_spec(const char *text)
{
    powercap_tree_put(&tree, "spec", text);
}

static inline void make(void)
{
    powercap_tree_create(&tree);
    powercap_tree_put(&tree, "sys/class/kfd/kfd/uevent", "");
    powercap_tree_put(&tree, "sys/class/drm/version", "");
    snprintf(spec_path, sizeof spec_path, "%s/spec", tree.root);
    snprintf(log_path, sizeof log_path, "%s/log", tree.root);
    setenv("FAKE_GPUS", spec_path, 1);
    setenv("APAPI_NVML_LIBRARY", FAKE_NVML, 1);
    setenv("APAPI_ROCM_SMI_LIBRARY", FAKE_ROCM_SMI, 1);
    setenv("APAPI_AMD_SMI_LIBRARY", FAKE_AMD_SMI, 1);
}

static inline void clean(void)
{
    unsetenv("APAPI_GPUS");
    powercap_tree_destroy(&tree);
}

static inline struct apapi_reader *open_vendor(const struct vendor *vendor)
{
    struct apapi_error err = {""};
    struct apapi_reader *reader = vendor->source->open(vendor->component, &err);

    if (!reader) {
        fail_msg("%s: %s", vendor->component, err.text);
    }
    return reader;
}

static inline void assert_not_opened(const struct vendor *vendor, int error, const char *says)
{
    struct apapi_error err = {""};

    assert_null(vendor->source->open(vendor->component, &err));
    if (errno != error || !strstr(err.text, says)) {
        fail_msg("%s: %s: %s", vendor->component, strerror(errno), err.text);
    }
}

/* @return the index of the event; -1: none. '#' in its name is the GPU's number. */
static inline int find(const struct apapi_reader *reader, const char *pattern, unsigned gpu)
{
    const char *number = strchr(pattern, '#');
    char name[APAPI_NAME_SIZE];

    snprintf(name, sizeof name, "%.*s%u%s", (int)(number - pattern), pattern, gpu, number + 1);
    for (size_t i = 0; i < reader->count; i++) {
        if (strcmp(reader->events[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static inline void read_all(struct apapi_reader *reader, struct apapi_reading *readings)
{
    assert_true(reader->count <= READINGS_MAX);
    reader->source->read(reader, readings);
}

#endif
