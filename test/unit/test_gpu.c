/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources for GPUs. */
#include "fake/powercap_tree.h"
#include "sources/gpu/gpu.h"
#include "sources/sources.h"
#include "unit/unit.h"

#define READINGS_MAX 128

static struct powercap_tree tree;

static const struct vendor {
    const struct apapi_source *source;
    const char *component, *energy;
    int lost; /* errno of reading a GPU that is lost */
} nvidia = {&apapi_source_nvml, "nvml", "nvml:::Fake_GPU:device_#:total_energy_consumption",
            ENODEV},
  rocm_smi = {&apapi_source_rocm, "rocm_smi", "rocm_smi:::energy_count:device=#", EIO},
  amd_smi = {&apapi_source_rocm, "amd_smi", "amd_smi:::energy_consumed:device=#", ENODEV};

static const struct vendor *const vendors[] = {&nvidia, &rocm_smi, &amd_smi};
#define VENDORS COUNT_OF(vendors)

static void write_spec(const char *text)
{
    powercap_tree_put(&tree, "spec", text);
}

static void make(void)
{
    char path[128];

    powercap_tree_create(&tree);
    powercap_tree_put(&tree, "sys/class/kfd/kfd/uevent", "");
    powercap_tree_put(&tree, "sys/class/drm/version", "");
    snprintf(path, sizeof path, "%s/spec", tree.root);
    setenv("FAKE_GPUS", path, 1);
    setenv("APAPI_NVML_LIBRARY", FAKE_NVML, 1);
    setenv("APAPI_ROCM_SMI_LIBRARY", FAKE_ROCM_SMI, 1);
    setenv("APAPI_AMD_SMI_LIBRARY", FAKE_AMD_SMI, 1);
}

static void clean(void)
{
    unsetenv("APAPI_GPUS");
    powercap_tree_destroy(&tree);
}

static struct apapi_reader *open_vendor(const struct vendor *vendor)
{
    struct apapi_reader *reader = vendor->source->open(vendor->component, &why);

    fail_if(!reader, "%s: %s", vendor->component, why.text);
    return reader;
}

static void assert_not_opened(const struct vendor *vendor, int error, const char *says)
{
    assert_null(vendor->source->open(vendor->component, &why));
    fail_if(errno != error || !strstr(why.text, says), "%s: %s: %s", vendor->component,
            strerror(errno), why.text);
}

/* @return the index of an event; -1: none. A '#' in `pattern` stands for the GPU's number. */
static int find(const struct apapi_reader *reader, const char *pattern, unsigned gpu)
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

static void read_all(struct apapi_reader *reader, struct apapi_reading *readings)
{
    assert_true(reader->count <= READINGS_MAX);
    reader->source->read(reader, readings);
}

#define CLEANED(name) TEST_WITH(name, make, clean)

/* AMD SMI is left out: it has no such value that is the same in all of its versions. */
CLEANED(the_highest_power_limit_is_stated)
{
    static const struct vendor *const stating[] = {&nvidia, &rocm_smi};

    write_spec("gpu most_w=300\ngpu power_w=100\n");
    for (size_t v = 0; v < COUNT_OF(stating); v++) {
        struct apapi_reader *reader = open_vendor(stating[v]);

        assert_true(reader->events[find(reader, stating[v]->energy, 0)].most_w == 300);
        assert_true(reader->events[find(reader, stating[v]->energy, 1)].most_w == 0);
        reader->source->close(reader);
    }
}

CLEANED(names_units_and_values_are_papis)
{
    struct apapi_reading readings[READINGS_MAX];
    struct apapi_reader *reader;
    char text[2048] = "";

    write_spec("gpu power_w=70.5 name=Tesla+T+X\n");
    reader = open_vendor(&nvidia);
    read_all(reader, readings);
    for (size_t i = 0; i < reader->count; i++) {
        const struct apapi_event *event = &reader->events[i];
        bool energy = event->kind == APAPI_KIND_ENERGY;

        assert_int_equal(readings[i].error, 0);
        assert_int_equal(event->domain, APAPI_DOMAIN_GPU);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s: %s, %.12g %s\n", event->name,
                 apapi_kind_name(event->kind),
                 energy ? NAN : (double)(int64_t)readings[i].raw * event->scale, event->unit);
    }
    assert_string_equal(text, "nvml:::Tesla_T_X:device_0:total_energy_consumption: energy, nan J\n"
                              "nvml:::Tesla_T_X:device_0:power: power, 70.5 W\n"
                              "nvml:::Tesla_T_X:device_0:temperature: temperature, 50 C\n"
                              "nvml:::Tesla_T_X:device_0:graphics_clock: frequency, 1000000000 Hz\n"
                              "nvml:::Tesla_T_X:device_0:sm_clock: frequency, 1100000000 Hz\n"
                              "nvml:::Tesla_T_X:device_0:memory_clock: frequency, 1200000000 Hz\n"
                              "nvml:::Tesla_T_X:device_0:gpu_utilization: utilization, 90 %\n"
                              "nvml:::Tesla_T_X:device_0:memory_utilization: utilization, 40 %\n"
                              "nvml:::Tesla_T_X:device_0:allocated_memory: count, 10737418240 B\n"
                              "nvml:::Tesla_T_X:device_0:unallocated_memory: count, 75161927680 B\n"
                              "nvml:::Tesla_T_X:device_0:total_memory: count, 85899345920 B\n");
    reader->source->close(reader);
}

/* As an MI250, whose second die has no meter of its own. */
CLEANED(a_card_of_two_dies_is_measured_once)
{
    for (size_t v = 1; v < VENDORS; v++) {
        struct apapi_reader *reader;

        write_spec("gpu power_w=500\ngpu power_w=0\ngpu power_w=480\ngpu power_w=0\n");
        reader = open_vendor(vendors[v]);
        for (unsigned gpu = 0; gpu < 4; gpu++) {
            assert_int_equal(find(reader, vendors[v]->energy, gpu) < 0, gpu % 2);
        }
        assert_null(strchr(reader->detail, ','));
        reader->source->close(reader);
        setenv("APAPI_GPUS", "0", 1);
        reader = open_vendor(vendors[v]);
        fail_if(!strstr(reader->detail, ", whole card (2 dies)"), "%s", reader->detail);
        reader->source->close(reader);
        setenv("APAPI_GPUS", "1,3", 1);
        assert_not_opened(vendors[v], ENODATA, "GPU 1: ");
        unsetenv("APAPI_GPUS");
    }
}

CLEANED(a_lost_gpu_does_not_stop_the_others)
{
    char file[] = "/tmp/apapi-lost-XXXXXX", spec[64];

    for (size_t v = 0; v < VENDORS; v++) {
        struct apapi_reading readings[READINGS_MAX];
        struct apapi_reader *reader;
        int mine, lost, fd = mkstemp(strcpy(file, "/tmp/apapi-lost-XXXXXX"));

        assert_true(fd >= 0);
        assert_int_equal(unlink(file), 0);
        snprintf(spec, sizeof spec, "gpu\ngpu lost_with=%s\n", file);
        write_spec(spec);
        reader = open_vendor(vendors[v]);
        mine = find(reader, vendors[v]->energy, 0);
        lost = find(reader, vendors[v]->energy, 1);
        read_all(reader, readings);
        assert_int_equal(readings[lost].error, 0);
        assert_int_equal(symlink("/", file), 0); /* the name alone counts, not the file's type */
        read_all(reader, readings);
        assert_int_equal(readings[mine].error, 0);
        assert_int_equal(readings[lost].error, vendors[v]->lost);
        assert_int_equal(unlink(file), 0);
        close(fd);
        reader->source->close(reader);
    }
}

CLEANED(errors_of_single_calls)
{
    static const struct {
        const char *code;
        int error; /* 0: there is no such event */
    } cases[] = {{"2", EINVAL},  {"3", 0},      {"4", EACCES},  {"10", ETIMEDOUT}, {"13", 0},
                 {"15", ENODEV}, {"19", EBUSY}, {"20", ENOMEM}, {"21", ENODATA},   {"999", EIO}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_reading readings[READINGS_MAX];
        struct apapi_reader *reader;
        char spec[128];
        int power, energy;

        snprintf(spec, sizeof spec, "gpu fail=DeviceGetPowerUsage:%s\n", cases[i].code);
        write_spec(spec);
        reader = open_vendor(&nvidia);
        power = find(reader, "nvml:::Fake_GPU:device_#:power", 0);
        energy = find(reader, nvidia.energy, 0);
        read_all(reader, readings);
        assert_int_equal(readings[energy].error, 0);
        assert_int_equal(power >= 0 ? readings[power].error : 0, cases[i].error);
        assert_int_equal(power >= 0, cases[i].error != 0);
        reader->source->close(reader);
    }
}

CLEANED(a_description_is_for_people)
{
    struct apapi_reader *reader;
    char text[160];

    write_spec("gpu\ngpu name=NVIDIA+A100\n");
    reader = open_vendor(&nvidia);
    reader->source->describe(reader, (size_t)find(reader, "nvml:::NVIDIA_A100:device_#:power", 1),
                             text, sizeof text);
    assert_string_equal(
        text, "power draw of GPU 1, NVIDIA A100, GPU-00000001-0000-0000-0000-000000000000");
    reader->source->close(reader);
}

/* --- opening ---------------------------------------------------------------------------------- */

CLEANED(a_gpu_that_is_lost_already)
{
    struct apapi_reading readings[READINGS_MAX];
    struct apapi_reader *reader;
    int lost;

    write_spec("gpu fail=DeviceGetHandleByIndex_v2:15\ngpu\n");
    reader = open_vendor(&nvidia);
    lost = find(reader, "nvml:::GPU:device_#:total_energy_consumption", 0);
    assert_true(lost >= 0 && reader->events[lost].domain == APAPI_DOMAIN_GPU);
    read_all(reader, readings);
    assert_int_equal(readings[lost].error, ENODEV);
    assert_int_equal(readings[find(reader, nvidia.energy, 1)].error, 0);
    assert_string_equal(reader->detail, "NVML 12.535.104.05, 1 GPU not measured");
    reader->source->close(reader);
}

CLEANED(why_there_is_nothing)
{
    static const struct {
        const struct vendor *vendor;
        const char *spec;
        int error;
        const char *says;
    } cases[] = {
        {&nvidia, "gpu fail=*:15\n", ENODEV, "GPU 0: No such device"},
        {&nvidia, "gpu fail=*:4\n", EACCES, "GPU 0: Permission denied"},
        {&nvidia, "library fail=Init_v2:9\n", ENODEV, "NVML does not start: Driver Not Loaded"},
        {&rocm_smi, "library fail=init:8\n", EIO, "ROCm SMI does not start: status 8"},
        {&nvidia, "", ENODEV, "no GPU"},
        {&rocm_smi, "", ENODEV, "no GPU"},
        {&amd_smi, "", ENODEV, "no GPU"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_spec(cases[i].spec);
        assert_not_opened(cases[i].vendor, cases[i].error, cases[i].says);
    }
}

CLEANED(a_mig_part_stands_for_the_whole_gpu)
{
    static const char *const lists[] = {"MIG-0123", "MIG-GPU-00000001/3/0"};
    static const unsigned slices[] = {3, 0};

    write_spec("gpu\ngpu mig=MIG-01234567-89ab:3 mig=MIG-89abcdef-0123\n");
    for (size_t i = 0; i < 2; i++) {
        struct apapi_reader *reader;

        setenv("APAPI_GPUS", lists[i], 1);
        reader = open_vendor(&nvidia);
        assert_int_equal(find(reader, nvidia.energy, 0), -1);
        assert_true(find(reader, nvidia.energy, 1) >= 0);
        assert_string_equal(reader->detail, "NVML 12.535.104.05, whole GPU (MIG)");
        assert_int_equal(reader->events[0].slices, slices[i]);
        assert_int_equal(reader->events[0].slices_all, slices[i] ? 7 : 0);
        reader->source->close(reader);
    }
}

CLEANED(each_start_is_undone)
{
    struct apapi_reader *first, *second;
    struct apapi_reading readings[READINGS_MAX];
    char spec[256], command[512];
    int starts, stops;
    FILE *counts;

    snprintf(spec, sizeof spec, "library log=%s/log\ngpu\n", tree.root);
    write_spec(spec);
    first = open_vendor(&nvidia);
    second = open_vendor(&nvidia);
    nvidia.source->close(first);
    read_all(second, readings); /* the second reader still has its library */
    assert_int_equal(readings[0].error, 0);
    nvidia.source->close(second);
    setenv("APAPI_GPUS", "5", 1);
    assert_not_opened(&nvidia, ENODEV, "'5'");
    snprintf(command, sizeof command,
             "cd %s && grep -c '^Init_v2$' log && grep -c '^Shutdown$' log", tree.root);
    counts = popen(command, "r");
    assert_int_equal(fscanf(counts, "%d %d", &starts, &stops), 2);
    pclose(counts);
    assert_int_equal(starts, 3);
    assert_int_equal(stops, 3);
}

/* --- the choice of GPUs ----------------------------------------------------------------------- */

#define GPUS 4

/* Make four GPUs. Their device files are not in the order of their PCI addresses; the last GPU has
 * MIG instances. */
static void make_gpus(struct gpu_device gpus[GPUS])
{
    static const char *const uuids[GPUS] = {
        "GPU-aaaa1111-0000-0000-0000-000000000000", "GPU-aaaa2222-0000-0000-0000-000000000000",
        "GPU-bbbb3333-0000-0000-0000-000000000000", "GPU-cccc4444-0000-0000-0000-000000000000"};

    for (unsigned i = 0; i < GPUS; i++) {
        gpus[i] = (struct gpu_device){.index = i, .minor = (int)(GPUS - 1 - i)};
        strcpy(gpus[i].uuid, uuids[i]);
    }
}

static bool find_part(const struct gpu_device *device, const char *uuid, struct gpu_part *part)
{
    static const char *const parts[] = {"MIG-11112222-0000", "MIG-11113333-0000",
                                        "MIG-44445555-0000"};
    static const struct gpu_part sizes[] = {{3, 7}, {1, 7}, {0, 0}};

    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (device->index == 3 && strncmp(parts[i], uuid, strlen(uuid)) == 0) {
            *part = sizes[i];
            return true;
        }
    }
    return false;
}

static void forget(void)
{
    unsetenv("APAPI_GPUS");
    unsetenv("APAPI_SLURM_GPUS");
    unsetenv("SLURM_STEP_GPUS");
    unsetenv("SLURM_JOB_GPUS");
    unsetenv("APAPI_GPUS_ORDER");
}

#define PREPARED(name) TEST_WITH(name, NULL, forget)

/* Set variables from "APAPI_GPUS=0,2 SLURM_STEP_GPUS=1"; "gpus" is the step's setting, _: blank. */
static void set_lists(const char *lists)
{
    char copy[256], *rest = copy, *word;

    forget();
    apapi_source_set("slurm", "gpus", "");
    snprintf(copy, sizeof copy, "%s", lists);
    while ((word = strsep(&rest, " "))) {
        char *list = strchr(word, '=');

        *list++ = '\0';
        for (char *blank = list; (blank = strchr(blank, '_'));) {
            *blank = ' ';
        }
        assert_int_equal(strcmp(word, "gpus") ? setenv(word, list, 1)
                                              : apapi_source_set("slurm", "gpus", list),
                         0);
    }
}

/* The GPUs chosen of four, as "0.2.", or the reason why none is. */
static const struct {
    const char *lists, *chosen;
    int error;
} selections[] = {
    {"APAPI_GPUS=", "0123", 0},
    {"APAPI_GPUS=all", "0123", 0},
    {"APAPI_GPUS=0,2", "0.2.", 0},
    {"APAPI_GPUS=_1_,_3_", ".1.3", 0},
    {"APAPI_GPUS=1-3", ".123", 0},
    {"APAPI_GPUS=gpu-BBBB", "..2.", 0},
    {"APAPI_GPUS=GPU-aaaa1,GPU-c", "0..3", 0},
    {"APAPI_GPUS=MIG-11112222-0000", "...3", 0},
    {"APAPI_GPUS=MIG-GPU-aaaa2222-0000-0000-0000-000000000000/1/0", ".1..", 0},
    {"APAPI_GPUS=4", "APAPI_GPUS: there is no GPU '4' among the 4 here", ENODEV},
    {"APAPI_GPUS=99999999999999999999", "'99999999999999999999' names no GPU", EINVAL},
    {"APAPI_GPUS=GPU-aaaa", "'GPU-aaaa' fits more than one GPU", EINVAL},
    {"APAPI_GPUS=none", "APAPI_GPUS=none", ENODEV},
    {"APAPI_GPUS=x",
     "'x' names no GPU; valid: all, or 0, 0-3, GPU-..., MIG-... separated by commas", EINVAL},
    {"APAPI_GPUS=0,,1", "''", EINVAL},
    /* the first list in the order of priority counts */
    {"SLURM_JOB_GPUS=3 SLURM_STEP_GPUS=2", "..2.", 0},
    {"SLURM_JOB_GPUS=3 SLURM_STEP_GPUS=2 gpus=1", ".1..", 0},
    {"SLURM_STEP_GPUS=2 gpus=none", "the step has no GPU", ENODEV},
    {"SLURM_STEP_GPUS=2 gpus=none APAPI_GPUS=all", "0123", 0},
    /* minor numbers, if the site says so */
    {"SLURM_STEP_GPUS=0,1", "01..", 0},
    {"SLURM_STEP_GPUS=0,1 APAPI_GPUS_ORDER=minor", "..23", 0},
    /* in a step with constrained devices, the library numbers the visible GPUs from 0 */
    {"SLURM_STEP_GPUS=4-6,1", "0123", 0},
    {"SLURM_STEP_GPUS=4,5,1", "SLURM_STEP_GPUS: there is no GPU '4'", ENODEV},
    {"APAPI_GPUS=4-6,1", "APAPI_GPUS", ENODEV},
};

PREPARED(the_gpus_of_a_list)
{
    for (size_t i = 0; i < COUNT_OF(selections); i++) {
        struct gpu_device gpus[GPUS];
        char chosen[GPUS + 1] = "....";

        set_lists(selections[i].lists);
        print_message("# %s\n", selections[i].lists);
        make_gpus(gpus);
        if (selections[i].error) {
            assert_fails_with(selections[i].error, selections[i].chosen,
                              gpu_select(gpus, GPUS, find_part, &why));
            continue;
        }
        assert_int_equal(gpu_select(gpus, GPUS, find_part, &why), 0);
        for (size_t g = 0; g < GPUS; g++) {
            chosen[g] = gpus[g].chosen ? (char)('0' + g) : '.';
        }
        assert_string_equal(chosen, selections[i].chosen);
    }
    apapi_source_set("slurm", "gpus", "");
}

PREPARED(slices_of_parts_are_added_up)
{
    static const struct {
        const char *list;
        unsigned slices, slices_all;
    } cases[] = {{"MIG-11112222", 3, 7},
                 {"MIG-11112222,MIG-11113333", 4, 7},
                 {"MIG-44445555,MIG-11113333", 0, 0}, /* an old driver does not say */
                 {"MIG-11113333,MIG-44445555", 0, 0},
                 {"MIG-GPU-cccc4444/1/0", 0, 0}};
    struct gpu_device gpus[GPUS];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        make_gpus(gpus);
        setenv("APAPI_GPUS", cases[i].list, 1);
        assert_int_equal(gpu_select(gpus, GPUS, find_part, NULL), 0);
        assert_int_equal(gpus[3].slices, cases[i].slices);
        assert_int_equal(gpus[3].slices_all, cases[i].slices_all);
    }
}

int main(void)
{
    forget();
    return unit_run();
}
