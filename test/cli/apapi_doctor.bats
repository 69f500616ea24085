#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi doctor: over simulated hardware, fake trees, without rights, and with libraries that crash.
# shellcheck disable=SC2030,SC2031 # each test is a subshell

load atime_common
load public

# As sim(), and whatever else this machine has is away: other meters, and the kernel's counters.
sim_alone() { # [SIM-OPTION...] -- CMD...
    local options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    cat >"$BATS_TEST_TMPDIR/alone" <<'END'
set -e
for folder in /sys/bus/event_source/devices /sys/class/hwmon /dev/cpu; do
    [[ ! -d $folder ]] || mount -t tmpfs -o mode=755 tmpfs "$folder"
done
exec "$@"
END
    sim "${options[@]}" -- bash "$BATS_TEST_TMPDIR/alone" "${@:2}"
}

fake_machine() { # FLAGS of the processor
    export APAPI_SYSROOT=$BATS_TEST_TMPDIR/root APAPI_PAPI_LIBRARY=/nonexistent/libpapi.so
    mkdir -p "$APAPI_SYSROOT/proc"
    printf 'processor\t: 0\nflags\t\t: fpu%s vme\n' "$1" >"$APAPI_SYSROOT/proc/cpuinfo"
}

# The remedy for COMPONENT here, wherever the lines are broken.
mended_by() { # COMPONENT TEXT [CMD...]
    run --separate-stderr "${@:3}" "$apapi" doctor "$1"
    echo "$output"
    [[ $(sed -n '/to fix it/,/^$/p' <<<"$output" | tr -s ' \n' ' ') == *"$2"* ]]
}

@test "no meter at all: each way with its reason, and what would help; exit status 1" {
    fake_machine ""
    run --separate-stderr "$apapi" doctor rapl:hwmon cray_pm
    [[ $status -eq 1 && -z $stderr && $output == "no virtual machine"* ]]
    [[ $output == *$'\nrapl: cannot be read\n'*"sysfs rapl "*"the kernel has no /sys/class/powercap"*"papi rapl "*"PAPI"* ]]
    [[ $output == *"to fix it"*"modprobe intel_rapl_msr"* || $output == *"-v /sys/devices/virtual/powercap"* ]]
    [[ $output == *$'\nhwmon: cannot be read\n'* && $output == *$'\ncray_pm: cannot be read\n'*"only HPE Cray nodes"* ]]
    [[ $output == *$'\nwhat can be measured here:\n'*"srun --apapi="*"nothing"* ]]
}

@test "a virtual machine: no command is offered that could not help" {
    fake_machine " hypervisor"
    prints 1 'virtual machine*a virtual machine has no RAPL*--apapi=estimate*' "$apapi" doctor rapl powercap
    [[ $output != *modprobe* && $output != *setup-papi* ]]
    [[ $(grep -c "a virtual machine has no RAPL" <<<"$output") -eq 1 && $output == *"to fix it  "*"as rapl"* ]]
}

@test "the command or file that would fix it, for each component" {
    fake_machine ""
    mended_by maxeler "install the PAPI that APAPI was built with (Debian: libpapi-dev brings it)"
    mended_by hwmon "modprobe acpi_power_meter"
    mended_by intel_gpu "i915 or xe"
    mended_by ipmi "modprobe -a ipmi_si ipmi_devintf"
    mended_by rocm_smi "modprobe amdgpu"
    mended_by nvml "nvidia-smi must list the GPUs" env APAPI_NVML_LIBRARY=/nonexistent.so
    unset APAPI_PAPI_LIBRARY
    mended_by rapl "setup-papi PREFIX builds a PAPI" || grep -q 'built without PAPI\|no PAPI' <<<"$output"
}

@test "this machine: it comes to an end and every component has a verdict" {
    run --separate-stderr "$apapi" doctor
    [[ $status -le 1 && -z $stderr ]]
    for name in $("$apapi" list --json | jq -r '.components[] | select(has("readable") or has("slow")) | .name'); do
        grep -qE "^$name: (can|cannot) be (read|computed)" <<<"$output"
    done
}

@test "meters that work: exit status 0, events and summary" {
    needs_sim
    prints 0 $'*\nrapl: can be read by root\n*' sim_alone -- "$apapi" doctor rapl
    [[ $output == *"sysfs rapl "*"works: sysfs powercap, 4 of 4 events"* && $output != *dead* && $output != *implausible* ]]
    [[ $(tr -s ' ' <<<"$output") == *"root, srun --apapi= rapl"* ]]
    run -1 --separate-stderr sim_alone -- "$apapi" doctor rapl hwmon
    run -0 --separate-stderr sim_alone -- "$apapi" doctor
}

@test "a counter that opens and never moves is dead" {
    needs_sim
    prints 0 '*works: sysfs powercap, 4 of 5 events*' sim_alone --psys-w 0 -- "$apapi" doctor rapl
    [[ $(grep -c 'dead' <<<"$output") -eq 1 && $output == *"rapl:::PSYS_ENERGY:PACKAGE0: opens but never moves: dead"* ]]
    run --separate-stderr sim_alone --package-w 0 --dram-w none -- "$apapi" doctor rapl
    [[ $status -eq 1 && $output == *$'\nrapl: cannot be read\n'*"no use: sysfs powercap, 0 of 2 events"* ]]
}

@test "no permission: the file, the rule; root by srun can" {
    needs_sim
    make_public
    publish "$apapi"
    prints 1 $'*user nobody*\nrapl: cannot be read by you\n*' sim_alone -- "${nobody[@]}" "$public/apapi" doctor rapl
    [[ $output == *"no permission to read /sys/class/powercap/intel-rapl:0/energy_uj"* ]]
    [[ $output == *"/60-apapi-powercap.rules /etc/udev/rules.d/"*"srun --apapi="* ]]
    [[ $output != *setup-papi* && $output != *"a virtual machine"* ]]
    [[ $output == *"the kernel has no PMU 'power'"* || $output == *"built without PAPI"* ]]
    [[ $(tr -s ' ' <<<"$output") == *"you, with atime -c nothing"*"root, srun --apapi= rapl" ]]
}

@test "root is told what ordinary users can read" {
    needs_another_user
    needs_sim
    prints 0 '*ordinary users *no permission to read *60-apapi-powercap.rules*' sim_alone -- "$apapi" doctor rapl
    [[ $(tr -s ' ' <<<"$output") == *"root, srun --apapi= rapl"*"ordinary users, atime nothing"$'\n\n'"what apapi.conf says:"* ]]
    run --separate-stderr sim_alone --mode 444 -- "$apapi" doctor rapl
    [[ $status -eq 0 && $output == *$'\nrapl: can be read by everyone\n'* && $output != *"to fix it"* ]]
    [[ $(tr -s ' ' <<<"$output") == *"ordinary users, atime rapl"$'\n\n'"what apapi.conf says:"* ]]
}

@test "udev accepts the rule for each zone and for nothing else" {
    command -v udevadm >/dev/null || skip "udev is not installed"
    needs_sim
    for zone in intel-rapl intel-rapl/intel-rapl:0 intel-rapl/intel-rapl:0/intel-rapl:0:0; do
        echo "powercap/$zone/uevent text"
    done >"$BATS_TEST_TMPDIR/spec"
    cat >"$BATS_TEST_TMPDIR/script" <<'END'
# neither a udev that runs nor other rules
for folder in /run /etc/udev/rules.d /lib/udev/rules.d /usr/lib/udev/rules.d; do
    [[ ! -d $folder ]] || mount -t tmpfs tmpfs "$folder"
done
mkdir -p /run/udev/rules.d && echo "$1" >/run/udev/rules.d/60-apapi-powercap.rules
for zone in intel-rapl intel-rapl:0 intel-rapl:0:0; do
    SYSTEMD_DEVICE_VERIFY_SYSFS=0 udevadm test --action=add "/sys/class/powercap/$zone" 2>&1 | grep -E "^run:|60-apapi.*(rror|nvalid|nknown)"
done
END
    run sim --method files --packages 1 --spec "$BATS_TEST_TMPDIR/spec" -- \
        bash "$BATS_TEST_TMPDIR/script" "$(<"$repository/config/60-apapi-powercap.rules")"
    [[ ${#lines[@]} -eq 4 ]]
    [[ ${lines[0]} == "run: '/bin/chgrp apapi /sys/"*"/intel-rapl:0/energy_uj'" ]]
    [[ ${lines[3]} == "run: '/bin/chmod 0440 /sys/"*"/intel-rapl:0:0/energy_uj'" ]]
}

@test "a library that crashes or exits is part of the answer" {
    for end in '__builtin_trap()' '_exit(7)'; do
        printf '#include <unistd.h>\n__attribute__((constructor)) static void end(void) { write(1, "x", 1); %s; }\n' "$end" |
            cc -shared -fPIC -o "$BATS_TEST_TMPDIR/libnvidia-ml.so.1" -x c -
        LD_LIBRARY_PATH=$BATS_TEST_TMPDIR run --separate-stderr "$apapi" doctor nvml
        [[ $status -eq 1 && $output == *$'\nnvml: cannot be read\n'*"what it loads ends the process"* ]]
        [[ $end != *7* || $output == *"with status 7"* ]]
    done
}

@test "what is only computed is no measurement" {
    fake_machine ""
    echo "cpu  100 0 100 1000 0 0 0 0 0 0" >"$APAPI_SYSROOT/proc/stat"
    APAPI_ESTIMATE_IDLE_W=100 APAPI_ESTIMATE_CORE_W=8 run --separate-stderr "$apapi" doctor
    # a GPU or a BMC is not in the fake tree
    [[ $status -eq 1 || -e /dev/nvidiactl || -e /dev/ipmi0 ]]
    [[ $output == *$'\nestimate: can be computed, without any meter\n'* ]]
    # then what an administrator asks for
    [[ $(tr -s ' ' <<<"$output") == *"computed only estimate"$'\n\n'"what apapi.conf says:"* ||
        $EUID -ne 0 && $(tr -s ' ' <<<"$output") == *"computed only estimate" ]]
    APAPI_ESTIMATE_IDLE_W=100 APAPI_ESTIMATE_CORE_W=8 run -0 --separate-stderr "$apapi" doctor estimate
    prints 1 '*idle_w and core_w are not set*' "$apapi" doctor estimate
}
