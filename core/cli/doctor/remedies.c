/* SPDX-License-Identifier: BSD-3-Clause */
/* How to make a component readable. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "cli/doctor/examine.h"
#include "config/installed.h"

static bool is_virtual(const struct machine *machine)
{
    return machine->virtual_machine;
}

static bool remedies_is_container(const struct machine *machine)
{
    return machine->container;
}

static const char powercap_right[] =
    "as root: groupadd --system apapi; usermod -aG apapi USER; "
    "cp %s/60-apapi-powercap.rules /etc/udev/rules.d/; "
    "udevadm control --reload; udevadm trigger --action=add --subsystem-match=powercap. "
    "Or measure with srun --apapi=, which reads as root.";
static const char no_rapl_in_vm[] =
    "nothing: a virtual machine has no RAPL, its host's meters are not passed on. Measure on the "
    "host; in here --apapi=estimate computes from CPU time and the watts that you configure.";
static const char powercap_in_container[] =
    "on the host: modprobe intel_rapl_msr; a container must be given the meters: -v "
    "/sys/devices/virtual/powercap:/sys/devices/virtual/powercap:ro";
static const char powercap_module[] =
    "modprobe intel_rapl_msr, for AMD from family 17h on too; where there is no such module, a "
    "kernel with CONFIG_INTEL_RAPL";
static const char papi_with_components[] =
    "scripts/setup-papi PREFIX builds a PAPI with rapl, powercap, coretemp, nvml and net; then "
    "configure APAPI with -DPAPI_ROOT=PREFIX";
static const char no_papi[] = "install the PAPI that APAPI was built with (Debian: libpapi-dev "
                              "brings it); APAPI itself must not "
                              "be configured with -DWITH_PAPI=OFF";
static const char site_papi[] =
    "no released PAPI has it: configure APAPI with -DPAPI_ROOT= and the prefix of a PAPI that does";
static const char amd_driver[] =
    "as root: modprobe amdgpu; install ROCm's librocm_smi64.so or libamd_smi.so. In a container: "
    "--device /dev/kfd --device /dev/dri";
static const char amd_right[] = "as root: usermod -aG render,video USER";
static const char by_root[] = "measure with srun --apapi=, which reads as root, or as root";

/* The first matching row counts. NULL and 0 match everything. */
static const struct remedy {
    const char *component;
    const char *source;
    const char *way; /* the source's name for the component */
    int error;
    bool (*when)(const struct machine *machine);
    const char *text; /* NULL: nothing helps */
} remedies[] = {
    {NULL, "sysfs", "rapl", EACCES, NULL, powercap_right},
    {NULL, "sysfs", "powercap", EACCES, NULL, powercap_right},
    {NULL, "papi", "rapl", EACCES, NULL,
     "PAPI's rapl reads /dev/cpu/*/msr: as root with CAP_SYS_RAWIO only. The kernel's own meters "
     "(APAPI_SOURCES=sysfs) can be given to a group."},
    {NULL, "papi", "perf_event_uncore", EACCES, NULL,
     "as root: sysctl kernel.perf_event_paranoid=0"},
    {"rapl", NULL, NULL, 0, is_virtual, no_rapl_in_vm},
    {"powercap", NULL, NULL, 0, is_virtual, no_rapl_in_vm},
    {"rapl", "sysfs", NULL, ENODEV, remedies_is_container, powercap_in_container},
    {"powercap", "sysfs", NULL, ENODEV, remedies_is_container, powercap_in_container},
    {"rapl", "sysfs", NULL, ENODEV, NULL, powercap_module},
    {"powercap", "sysfs", NULL, ENODEV, NULL, powercap_module},
    {"rapl", "papi", "rapl", ENODEV, NULL, "as root: modprobe msr"},
    {"rapl", "papi", NULL, ENOSYS, NULL, no_papi},
    {"rapl", "papi", NULL, ENOENT, NULL, papi_with_components},
    {"maxeler", NULL, NULL, ENOSYS, NULL, no_papi},
    {"micknc", NULL, NULL, ENOSYS, NULL, no_papi},
    {"maxeler", NULL, NULL, 0, NULL, site_papi},
    {"micknc", NULL, NULL, 0, NULL, site_papi},
    {"hwmon", NULL, NULL, ENODEV, is_virtual,
     "nothing: a virtual machine has no chips that measure"},
    {"hwmon", NULL, NULL, ENODEV, NULL,
     "as root: modprobe acpi_power_meter, of AMD's CPUs amd_energy or fam15h_power; drivers of "
     "power "
     "supplies, network cards and GPUs bring their own"},
    {"intel_gpu", NULL, NULL, 0, NULL,
     "a discrete Intel GPU whose driver, i915 or xe, offers energy1_input in hwmon"},
    {"cray_pm", NULL, NULL, 0, NULL, "nothing: only HPE Cray nodes have it"},
    {"ipmi", "ipmi", NULL, ENODEV, is_virtual,
     "nothing: a virtual machine has no BMC; set host, user and password_file in section [ipmi] to "
     "ask one over the network"},
    {"ipmi", "ipmi", NULL, ENODEV, remedies_is_container,
     "on the host: modprobe -a ipmi_si ipmi_devintf; the container must be given --device "
     "/dev/ipmi0"},
    {"ipmi", "ipmi", NULL, ENODEV, NULL,
     "as root: modprobe -a ipmi_si ipmi_devintf. To ask a BMC over the network: host, user and "
     "password_file in section [ipmi]"},
    {"ipmi", "ipmi", NULL, EACCES, NULL,
     "measure with srun --apapi=, which asks as root. Whoever may open /dev/ipmi0 may switch the "
     "machine off: give no user that right; over the network a user of the BMC with privilege USER "
     "is enough: host, user and password_file in section [ipmi]"},
    {"ipmi", "ipmi", NULL, ENOSYS, NULL, "install FreeIPMI (Debian: libfreeipmi17)"},
    {"ipmi", "papi", NULL, 0, NULL, NULL},
    {"nvml", "papi", NULL, ENOENT, NULL, NULL},
    {"nvml", NULL, NULL, EACCES, NULL,
     "as root: chmod a+rw /dev/nvidiactl /dev/nvidia[0-9]*, for good by the module's option "
     "NVreg_DeviceFileMode=0666 in /etc/modprobe.d"},
    {"nvml", NULL, NULL, ENODEV, NULL,
     "NVIDIA's driver: nvidia-smi must list the GPUs; in a container --gpus all"},
    {"rocm_smi", NULL, NULL, ENODEV, NULL, amd_driver},
    {"amd_smi", NULL, NULL, ENODEV, NULL, amd_driver},
    {"rocm_smi", NULL, NULL, EACCES, NULL, amd_right},
    {"amd_smi", NULL, NULL, EACCES, NULL, amd_right},
    {NULL, NULL, NULL, EACCES, NULL, by_root},
};

static bool remedies_fits(const char *wanted, const char *name)
{
    return !wanted || strcmp(wanted, name) == 0;
}

/* The same text has the same address each time. */
static const char *with_path(const char *text)
{
    static char right[sizeof powercap_right + PATH_MAX];

    if (text != powercap_right) {
        return text;
    }
    snprintf(right, sizeof right, powercap_right, installed_path(INSTALLED_DATA));
    return right;
}

const char *remedy_find(const struct examined *component, const struct examined_way *way,
                        const struct finding *finding, const struct machine *machine)
{
    for (size_t i = 0; i < COUNT_OF(remedies); i++) {
        const struct remedy *remedy = &remedies[i];

        if (remedies_fits(remedy->component, component->name) &&
            remedies_fits(remedy->source, apapi_source_name(way->way.source)) &&
            remedies_fits(remedy->way, way->way.name) &&
            (remedy->error == 0 || remedy->error == finding->error) &&
            (!remedy->when || remedy->when(machine))) {
            return with_path(remedy->text);
        }
    }
    return NULL;
}
