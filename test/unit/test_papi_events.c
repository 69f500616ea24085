/* SPDX-License-Identifier: BSD-3-Clause */
/* The meaning of PAPI's events: units that PAPI gives, leaves out, or gets wrong. */
#include <papi.h>

#include "sources/papi/papi_faults.h"
#include "sources/sources.h"
#include "unit/unit.h"

static bool describe(const char *name, const char *units, struct apapi_event *event)
{
    PAPI_event_info_t info = {0};

    snprintf(info.units, sizeof info.units, "%s", units);
    return papi_event_describe(&info, name, event);
}

static const struct {
    const char *name, *papi;
    enum apapi_kind kind;
    bool accumulates;
    enum apapi_domain domain;
    const char *unit;
    double scale;
} known_events[] = {
    {"rapl:::PACKAGE_ENERGY:PACKAGE0", "nJ", APAPI_KIND_ENERGY, true, APAPI_DOMAIN_PACKAGE, "J",
     1e-9},
    {"rapl:::DRAM_ENERGY:PACKAGE1", "nJ", APAPI_KIND_ENERGY, true, APAPI_DOMAIN_DRAM, "J", 1e-9},
    {"perf_event_uncore:::rapl::RAPL_ENERGY_PKG:cpu=0", "", APAPI_KIND_ENERGY, true,
     APAPI_DOMAIN_PACKAGE, "J", 0x1p-32},
    {"nvml:::H200:device_0:total_energy_consumption", "", APAPI_KIND_ENERGY, true, APAPI_DOMAIN_GPU,
     "J", 1e-3},
    {"nvml:::H200:device_0:power", "mW", APAPI_KIND_POWER, false, APAPI_DOMAIN_GPU, "W", 1e-3},
    {"nvml:::H200:device_0:power_management_limit", "mW", APAPI_KIND_POWER, false,
     APAPI_DOMAIN_NONE, "W", 1e-3},
    {"nvml:::H200:device_0:gpu_inst_power", "", APAPI_KIND_POWER, false, APAPI_DOMAIN_NONE, "W",
     1e-3},
    {"nvml:::H200:device_0:temperature", "", APAPI_KIND_TEMPERATURE, false, APAPI_DOMAIN_GPU, "C",
     1},
    {"nvml:::H200:device_0:sm_clock", "", APAPI_KIND_FREQUENCY, false, APAPI_DOMAIN_GPU, "Hz", 1e6},
    {"nvml:::H200:device_0:memory_utilization", "", APAPI_KIND_UTILIZATION, false, APAPI_DOMAIN_GPU,
     "%", 1},
    {"nvml:::H200:device_0:allocated_memory", "", APAPI_KIND_COUNT, false, APAPI_DOMAIN_GPU, "B",
     1},
    {"nvml:::H200:device_0:total_ecc_errors", "", APAPI_KIND_COUNT, true, APAPI_DOMAIN_GPU, "", 1},
    {"nvml:::H200:device_0:pstate", "", APAPI_KIND_COUNT, false, APAPI_DOMAIN_GPU, "", 1},
    {"rocm_smi:::energy_count:device=0", "", APAPI_KIND_ENERGY, true, APAPI_DOMAIN_GPU, "J", 1e-6},
    {"rocm_smi:::power_average:device=0:sensor=0", "", APAPI_KIND_POWER, false, APAPI_DOMAIN_GPU,
     "W", 1e-6},
    {"rocm_smi:::power_cap:device=0:sensor=0", "", APAPI_KIND_POWER, false, APAPI_DOMAIN_NONE, "W",
     1e-6},
    {"rocm_smi:::temp_current:device=0:sensor=1", "", APAPI_KIND_TEMPERATURE, false,
     APAPI_DOMAIN_GPU, "C", 1e-3},
    {"rocm_smi:::gpu_clk_freq_System:device=0:current", "", APAPI_KIND_FREQUENCY, false,
     APAPI_DOMAIN_GPU, "Hz", 1},
    {"rocm_smi:::memory_busy_percent:device=0", "", APAPI_KIND_UTILIZATION, false, APAPI_DOMAIN_GPU,
     "%", 1},
    {"amd_smi:::energy_consumed:device=0", "", APAPI_KIND_ENERGY, true, APAPI_DOMAIN_GPU, "J",
     1e-6},
    {"amd_smi:::power_average:device=0", "", APAPI_KIND_POWER, false, APAPI_DOMAIN_GPU, "W", 1},
    {"coretemp:::hwmon0:temp1_input", "degrees C", APAPI_KIND_TEMPERATURE, false, APAPI_DOMAIN_NONE,
     "C", 1e-3},
    {"coretemp:::hwmon0:in0_input", "V", APAPI_KIND_COUNT, false, APAPI_DOMAIN_NONE, "V", 1e-3},
    {"coretemp:::hwmon0:fan1_input", "RPM", APAPI_KIND_COUNT, false, APAPI_DOMAIN_NONE, "rpm", 1},
    {"lmsensors:::coretemp-isa-0000.Core_0.temp2_input", "", APAPI_KIND_TEMPERATURE, false,
     APAPI_DOMAIN_NONE, "C", 1e-3},
    {"lmsensors:::power_meter-acpi-0.power1.power1_average", "", APAPI_KIND_POWER, false,
     APAPI_DOMAIN_NONE, "W", 1e-3},
    {"net:::eth0:rx:bytes", "", APAPI_KIND_COUNT, true, APAPI_DOMAIN_NONE, "B", 1},
    {"net:::eth0:tx:byte", "", APAPI_KIND_COUNT, true, APAPI_DOMAIN_NONE, "B", 1},
    {"net:::eth0:rx:packets", "", APAPI_KIND_COUNT, true, APAPI_DOMAIN_NONE, "", 1},
    {"infiniband:::mlx5_0:port_xmit_data", "", APAPI_KIND_COUNT, true, APAPI_DOMAIN_NONE, "B", 4},
    {"infiniband:::mlx5_0:port_xmit_packets", "", APAPI_KIND_COUNT, true, APAPI_DOMAIN_NONE, "", 1},
    {"micpower:::tot0", "uW", APAPI_KIND_POWER, false, APAPI_DOMAIN_NONE, "W", 1e-6},
    {"micpower:::vccp:cur", "uA", APAPI_KIND_COUNT, false, APAPI_DOMAIN_NONE, "A", 1e-6},
    {"maxeler:::fpga_POWER:DEVICE0", "", APAPI_KIND_POWER, false, APAPI_DOMAIN_NONE, "W", 1e-6},
    {"micknc:::TEMP_DIE:DEVICE0", "", APAPI_KIND_TEMPERATURE, false, APAPI_DOMAIN_NONE, "C", 1},
    {"micknc:::FREQ_CORE:DEVICE0", "", APAPI_KIND_FREQUENCY, false, APAPI_DOMAIN_NONE, "Hz", 1e3},
    {"site:::anything", "furlong", APAPI_KIND_COUNT, true, APAPI_DOMAIN_NONE, "furlong", 1},
};

TEST(known_events)
{
    for (size_t i = 0; i < COUNT_OF(known_events); i++) {
        struct apapi_event event;

        print_message("# %s\n", known_events[i].name);
        assert_true(describe(known_events[i].name, known_events[i].papi, &event));
        assert_string_equal(event.name, known_events[i].name);
        assert_int_equal(event.kind, known_events[i].kind);
        assert_int_equal(event.accumulates, known_events[i].accumulates);
        assert_int_equal(event.domain, known_events[i].domain);
        assert_string_equal(event.unit, known_events[i].unit);
        assert_true(fabs(event.scale - known_events[i].scale) <= known_events[i].scale * 1e-12);
    }
}

/* Events of rapl that are no energy: only for those who name them. */
TEST(rapl_events_that_are_no_energy_can_be_had_when_named)
{
    static const struct {
        const char *named, *name, *papi;
        bool accumulates;
        const char *unit;
    } events[] = {
        {"rapl:::THERMAL_SPEC:PACKAGE0", "rapl:::THERMAL_SPEC:PACKAGE0", "W", false, "W"},
        {"rapl:::*_POWER:*", "rapl:::MINIMUM_POWER:PACKAGE1", "W", false, "W"},
        {"rapl:::*_CNT:*", "rapl:::PACKAGE_ENERGY_CNT:PACKAGE0", "", true, ""},
        {"rapl:::*_CNT:*", "rapl:::THERMAL_SPEC_CNT:PACKAGE0", "", false, ""},
        {"rapl:::MAX*_WINDOW:*", "rapl:::MAXIMUM_TIME_WINDOW:PACKAGE0", "s", false, "s"},
    };
    struct apapi_event event;

    wanted_events_add("rapl:::*");
    wanted_events_add("*");
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        assert_false(describe(events[i].name, events[i].papi, &event));
    }
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        wanted_events_add(events[i].named);
        assert_true(describe(events[i].name, events[i].papi, &event));
        assert_int_equal(event.kind, APAPI_KIND_COUNT); /* no power that is drawn */
        assert_int_equal(event.domain, APAPI_DOMAIN_NONE);
        assert_int_equal(event.accumulates, events[i].accumulates);
        assert_string_equal(event.unit, events[i].unit);
    }
    assert_false(describe("rapl:::THERM_STATUS:PACKAGE0", "", &event));
    wanted_events_add("rapl:::THERM_STATUS:PACKAGE0");
    assert_true(describe("rapl:::THERM_STATUS:PACKAGE0", "", &event));
}

/* A counter whose range is not reported must at least be read often enough. */
TEST(guards)
{
    struct apapi_event event;

    assert_true(describe("rapl:::PACKAGE_ENERGY:PACKAGE0", "nJ", &event));
    assert_true(event.guard_j > 65535 && event.guard_j < 65537);
    assert_true(describe("nvml:::H200:device_0:total_energy_consumption", "", &event));
    assert_true(event.guard_j <= 0);
}
