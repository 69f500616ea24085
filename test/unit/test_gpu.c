/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources for GPUs. */
#include <time.h>

#include "unit/gpu_fixture.h"

#define CLEANED(name) TEST_WITH(name, make, clean)

static void assert_event(struct apapi_reader *reader, int index, enum apapi_kind kind,
                         const char *unit, double value)
{
    struct apapi_reading readings[READINGS_MAX];
    const struct apapi_event *event = &reader->events[index];

    assert_true(index >= 0);
    assert_int_equal(event->kind, kind);
    assert_int_equal(event->domain, APAPI_DOMAIN_GPU);
    assert_string_equal(event->unit, unit);
    read_all(reader, readings);
    assert_int_equal(readings[index].error, 0);
    if (value > 0) {
        assert_true(fabs((double)(int64_t)readings[index].raw * event->scale - value) < 1e-6);
    }
}

/* AMD SMI has no figure that is the same in all of its versions. */
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
    static const struct {
        const char *name;
        enum apapi_kind kind;
        const char *unit;
        double value;
    } events[] = {
        {"nvml:::Tesla_T_X:device_#:power", APAPI_KIND_POWER, "W", 70.5},
        {"nvml:::Tesla_T_X:device_#:temperature", APAPI_KIND_TEMPERATURE, "C", 50},
        {"nvml:::Tesla_T_X:device_#:graphics_clock", APAPI_KIND_FREQUENCY, "Hz", 1000e6},
        {"nvml:::Tesla_T_X:device_#:sm_clock", APAPI_KIND_FREQUENCY, "Hz", 1100e6},
        {"nvml:::Tesla_T_X:device_#:memory_clock", APAPI_KIND_FREQUENCY, "Hz", 1200e6},
        {"nvml:::Tesla_T_X:device_#:gpu_utilization", APAPI_KIND_UTILIZATION, "%", 90},
        {"nvml:::Tesla_T_X:device_#:memory_utilization", APAPI_KIND_UTILIZATION, "%", 40},
        {"nvml:::Tesla_T_X:device_#:allocated_memory", APAPI_KIND_COUNT, "B", 0x280000000},
        {"nvml:::Tesla_T_X:device_#:total_memory", APAPI_KIND_COUNT, "B", 0x1400000000},
    };
    struct apapi_reader *reader;

    write_spec("gpu power_w=70.5 name=Tesla+T+X\n");
    reader = open_vendor(&nvidia);
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        assert_event(reader, find(reader, events[i].name, 0), events[i].kind, events[i].unit,
                     events[i].value);
    }
    reader->source->close(reader);
}

CLEANED(amds_names_units_and_values_are_papis)
{
    struct apapi_reader *reader;

    write_spec("gpu power_w=300\n");
    reader = open_vendor(&rocm_smi);
    assert_event(reader, find(reader, rocm_smi.power, 0), APAPI_KIND_POWER, "W", 300);
    assert_event(reader, find(reader, "rocm_smi:::busy_percent:device=#", 0),
                 APAPI_KIND_UTILIZATION, "%", 90);
    assert_event(reader, find(reader, "rocm_smi:::mem_usage_VRAM:device=#", 0), APAPI_KIND_COUNT,
                 "B", 0x280000000);
    assert_event(reader, find(reader, "rocm_smi:::temp_current:device=#:sensor=1", 0),
                 APAPI_KIND_TEMPERATURE, "C", 45);
    reader->source->close(reader);
    reader = open_vendor(&amd_smi);
    assert_event(reader, find(reader, amd_smi.power, 0), APAPI_KIND_POWER, "W", 300);
    assert_event(reader, find(reader, "amd_smi:::umc_activity:device=#", 0), APAPI_KIND_UTILIZATION,
                 "%", 40);
    assert_int_equal(find(reader, "amd_smi:::mm_activity:device=#", 0), -1);
    assert_int_equal(find(reader, "amd_smi:::power_current:device=#", 0), -1);
    reader->source->close(reader);
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
        assert_int_equal(symlink("/", file), 0); /* a name, whatever it is of */
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
        int error; /* 0: the event is not there */
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
        power = find(reader, nvidia.power, 0);
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

    write_spec("gpu\ngpu name=NVIDIA+A100 uuid=GPU-aaaa\n");
    reader = open_vendor(&nvidia);
    reader->source->describe(reader, (size_t)find(reader, "nvml:::NVIDIA_A100:device_#:power", 1),
                             text, sizeof text);
    assert_string_equal(text, "power draw of GPU 1, NVIDIA A100, GPU-aaaa");
    reader->source->close(reader);
}
