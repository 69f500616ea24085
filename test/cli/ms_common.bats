#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# libms_common_apapi: a program that knows libmeasure's interface alone (test/fake/ms_common), linked to the library and with
# the library preloaded over a stub, and simulated hardware whose truth is known.

# shellcheck disable=SC2030,SC2031 # each test is a process of its own
load atime_common

setup() {
    library=$build/core/ms_common/libms_common_apapi.so
    linked=$build/test/fake/ms_common/ms_common_program
    stubbed=$build/test/fake/ms_common/ms_stub_program
    # what is freed is not kept for long, where a sanitizer does that
    export ASAN_OPTIONS=${ASAN_OPTIONS:-}:quarantine_size_mb=1
    plain_path "$library"
    preloaded=(env LD_PRELOAD="$plain" "ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0" "$stubbed")
}

# Figures of $output.
figure() { # NAME
    awk -v name="$1" '$1 == name { print $2 }' <<<"$output"
}

# Each figure of a list "NAME VALUE" within 1 %; energies are those of a second. A measurement of 1 s that took longer has at
# least the energy of 1 s, and at most that of all its time.
figures_fit() { # LIST
    local name truth time all=0
    while read -r name truth; do
        time=1
        case $name in
        cpu_energy* | cpu_power*) time=$(figure cpu_time_total) ;;
        gpu_energy* | gpu_power*) time=$(figure gpu_time_total) ;;
        esac
        awk -v name="$name" -v value="$(figure "$name")" -v truth="$truth" -v s="$time" 'BEGIN {
            least = name ~ /power/ ? truth / s : truth
            exit !(s >= 0.999 && value > 0.99 * least && value < 1.01 * truth * s) }' ||
            { echo "$name is $(figure "$name"), not $truth, in $time s"; all=1; }
    done <<<"$1"
    return $all
}

measured_as() { # LIST COMMAND...
    run --separate-stderr -0 "${@:2}"
    echo "$output"
    echo "$stderr"
    figures_fit "$1"
}

two_packages='cpu_energy_total_pkg[0] 100000
cpu_energy_total_pkg[1] 100000
cpu_energy_total_dram[0] 20000
cpu_energy_total_dram[1] 20000
cpu_energy_total_pp0[0] 60000
cpu_energy_total_pp0[1] 60000
cpu_power_avg_pkg[0] 100000
cpu_power_avg_dram[1] 20000
cpu_power_avg_pp0[1] 60000
cpu_temp_max_pkg[0] 45
cpu_temp_max_pkg[1] 55
cpu_temp_max_core[0][0] 41
cpu_temp_max_core[0][1] 43'

# Processors with temperatures, and a clock of the simulation.
processors() {
    cat >"$BATS_TEST_TMPDIR/spec" <<'SPEC'
hwmon/hwmon0/name text coretemp
hwmon/hwmon0/temp1_label text Package id 0
hwmon/hwmon0/temp1_input text 45000
hwmon/hwmon0/temp2_label text Core 0
hwmon/hwmon0/temp2_input text 41000
hwmon/hwmon0/temp3_label text Core 1
hwmon/hwmon0/temp3_input text 43000
hwmon/hwmon1/name text coretemp
hwmon/hwmon1/temp1_label text Package id 1
hwmon/hwmon1/temp1_input text 55000
SPEC
    sim --core-w 60 --spec "$BATS_TEST_TMPDIR/spec" "$@"
}

@test "the library needs libapapi and libc alone, and finds libapapi where both are installed" {
    run -0 readelf -d "$library"
    needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' <<<"$output" | grep -v 'san\.so\|libgcc_s\|libm\.' | sort | tr '\n' ' ')
    [[ $needed == 'libapapi.so.0 libc.so.6 ' ]]
    cmake --install "$repository/build/release" --prefix "$BATS_TEST_TMPDIR/tree" >/dev/null
    run -0 ldd "$BATS_TEST_TMPDIR/tree/lib/libms_common_apapi.so"
    [[ $output == *"libapapi.so.0 => $BATS_TEST_TMPDIR/tree/lib/"* && $output != *libstdc++* ]]
}

@test "linked: energy, power and temperatures of the processors, and what the machine says of itself" {
    needs_sim
    start_s=$EPOCHSECONDS
    measured_as "$two_packages" processors "$linked" figures 1 20
    awk -v s="$(figure cpu_time_total)" -v most=$((EPOCHSECONDS - start_s + 1)) 'BEGIN { exit !(s >= 1 && s <= most) }'
    [[ $output == *$'enabled 10000\nlist 1\n'* ]]
    [[ $(figure cpu_memory_total) == "$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo).000000" ]]
    awk -v used="$(figure cpu_memory_used_max)" -v free="$(figure cpu_memory_free_max)" -v all="$(figure cpu_memory_total)" \
        'BEGIN { exit !(used > 0 && free > 0 && used + free >= all) }'
    [[ $(figure gpu_energy_total) == 0.000000 && $(figure mic_temp_max_die) == 0.000000 && $(figure system_power_avg) == 0.000000 ]]
}

@test "preloaded over another libms_common.so: the same figures" {
    needs_sim
    measured_as "$two_packages" processors "${preloaded[@]}" figures 1 20
    run -99 "$stubbed" figures 0 20
}

@test "the original's PAPI: maxeler, micknc and ipmi, and its names of the processors" {
    old_papi
    export APAPI_CMPLIST=rapl:maxeler:micknc:ipmi APAPI_SOURCES=papi
    export APAPI_EVENTLIST=$repository/config/legacy/default_eventlist.txt APAPI_EVENTOPS=$FAKE_PAPI_EVENTS
    run -0 "$linked" figures 0.3 20
    # event N (from 0) of the file: 20 + N W in uW and a little more, else 40 + N % 10 degrees, else N + 1
    power_of_event() { # FIGURE N
        awk -v mw="$(figure "$1")" -v n="$2" 'BEGIN { exit !(mw >= 1000 * (20 + n) && mw < 1000 * (80 + n)) }'
    }
    first=$(grep -c '^\(rapl\|nvml\):::' "$FAKE_PAPI_EVENTS")
    for rail in power_usage vcc1v0_core vcc1v5_ddr vcc2v5_aux imgt_1v0 imgt_1v2 mgt_1v0 mgt_1v2; do
        power_of_event fpga_power_avg_$rail "$first"
        # of the 0.3 s that were asked for at least, and of no more than the whole time
        awk -v j="$(figure fpga_energy_total_$rail)" -v w="$(figure fpga_power_avg_$rail)" \
            -v s="$(figure fpga_time_total)" 'BEGIN { exit !(j > 0.297 * w && j < 1.01 * s * w) }'
        first=$((first + 1))
    done
    first=$((first + 3)) # two temperatures and a utilization
    for rail in pcie c2x3 c2x4 vccp vddg vddq power_usage; do
        power_of_event mic_power_avg_$rail $first
        first=$((first + 1))
    done
    for sensor in die gddr fan_in fan_out vccp vddg vddq; do
        [[ $(figure mic_temp_max_$sensor) == $((40 + first % 10)).000000 ]]
        first=$((first + 1))
    done
    [[ $(figure mic_freq_avg_core) == "$(awk -v n=$((first + 1)) 'BEGIN { printf "%.6f", n / 1000 }')" ]]
    [[ $(figure mic_memory_total) == $((first + 6)).000000 && $(figure mic_memory_free_max) == $((first + 8)).000000 ]]
    [[ $(figure mic_util_avg_all) == $((first + 5)).000000 && $(figure system_temp_max) == 4[0-9].000000 ]]
    [[ $(figure system_energy_total) != 0.000000 && $(figure system_power_board_avg) != 0.000000 ]]
}

@test "totals while it runs: differences of two readings are the energy of the phase between them, as taskwrapper takes them" {
    needs_sim
    { : <>/dev/fuse; } 2>/dev/null || skip '/dev/fuse cannot be opened'
    # 1 W, as its time and that of the meters differ on a busy machine, and what the program adds
    zone=powercap/intel-rapl:0 load=$BATS_TEST_TMPDIR/load
    printf "$zone/%s\n" 'name text package-0' 'enabled text 1' 'max_energy_range_uj text 262143328850' \
        "energy_uj energy-load $load 1 262143328850 0" 'energy_uj mode 400' >"$BATS_TEST_TMPDIR/zone"
    APAPI_SOURCES=sysfs run -0 sim --packages 0 --spec "$BATS_TEST_TMPDIR/zone" "$linked" phases "$load" 0.3
    [[ ${#lines[@]} -eq 4 ]]
    awk '{ truth = $4 + 1000 * $3; bad += !($3 >= 0.3 && $2 > 0.99 * truth && $2 < 1.01 * truth) } END { exit bad > 0 }' <<<"$output"
}

# The same before and after, but for a little memory; a sanitizer keeps more of it.
nothing_grew() {
    local memory_kib=512
    [[ $build != */asan ]] || memory_kib=16384
    echo "$output"
    for what in threads descriptors; do
        [[ $(figure before.$what) == "$(figure after.$what)" ]]
    done
    (($(figure after.kib) <= $(figure before.kib) + memory_kib))
}

@test "1000 measurements in a process need no more memory, threads or descriptors than 100" {
    needs_sim
    gpus 'gpu power_w=250\n'
    tells 0 '*measured 1000' processors "$linked" many 1000
    nothing_grew
}

@test "around a program, as hettime: its output and status are its own" {
    needs_sim
    run --separate-stderr -0 sim "${preloaded[@]}" run 20 sh -c 'sleep 0.3; echo out; echo err >&2'
    [[ ${lines[0]} == out && $stderr == err ]]
    awk -v mws="$(figure 'cpu_energy_total_pkg[0]')" 'BEGIN { exit !(mws > 25000) }'
    run -1 sim "${preloaded[@]}" run 20 false
}

@test "APAPI_CMPLIST: what is listed and nothing else; what is unknown is an error, what is missing is said" {
    needs_sim
    gpus 'gpu power_w=250\n'
    export APAPI_CMPLIST=nvml
    tells 0 '*enabled 01000*' sim "$linked" figures 0.1 20
    for list in rapl:foo rapl: ''; do
        export APAPI_CMPLIST=$list
        run --separate-stderr -1 sim "$linked" figures 0.1 20
        [[ -z $output && $stderr == *APAPI_CMPLIST*'valid are rapl, nvml, maxeler, ipmi, micknc' ]]
    done
    export APAPI_CMPLIST=rapl:nvml APAPI_NVML_LIBRARY=/nonexistent APAPI_ROCM_SMI_LIBRARY=/nonexistent APAPI_AMD_SMI_LIBRARY=/nonexistent
    run --separate-stderr -0 sim "$linked" figures 0.1 20
    [[ $output == *'enabled 10000'* && $stderr == 'libms_common_apapi: nvml is not measured: '?* ]]
}

@test "no hardware at all: ms_init() returns NULL and says why of each component" {
    export APAPI_SYSROOT=$BATS_TEST_TMPDIR/root APAPI_SOURCES=sysfs:nvml
    export APAPI_NVML_LIBRARY=/nonexistent
    mkdir -p "$APAPI_SYSROOT/sys/class/powercap"
    run --separate-stderr -1 "$linked" figures 0.1 20
    [[ -z $output && $(head -n 1 <<<"$stderr") == 'libms_common_apapi: nothing can be measured here' ]]
    for component in rapl nvml maxeler ipmi micknc; do
        [[ $stderr == *"libms_common_apapi: $component is not measured: "?* ]]
    done
}

@test "wrong calls: a message and a defined result, never a crash" {
    needs_sim
    run --separate-stderr -0 sim "$linked" misuse
    [[ $(grep -v ' 0\.000000$' <<<"$output") == $'of-null 0\nindexes 0\nappended 1 1\nchecks 1\ndeleted 1' ]]
    for text in 'ms_start_measurement: the system is NULL' 'ms_start_measurement: the measurement is running' 'ms_start_measurement: there was no ms_init_measurement()' \
        'ms_init_measurement: a measurement is running' 'ms_join_measurement: there was no ms_stop_measurement()' \
        'ms_set_timer: 64 is no set of' 'appendList: 3 is none of' 'ms_fini: not a system of ms_init()' \
        'ms_init_fpga_force_idle: not available' 'CPU: an interval of 1 ms'; do
        [[ $stderr == *"libms_common_apapi: $text"* ]] || { echo "nothing says: $text"; return 1; }
    done
}

@test "a bad event file is named, and nothing is measured with the wrong events" {
    needs_sim
    export APAPI_EVENTOPS=$BATS_TEST_TMPDIR/ops
    echo 'rapl:::A,nonsense' >"$APAPI_EVENTOPS"
    run --separate-stderr -1 sim "$linked" figures 0.1 20
    [[ -z $output && $stderr == *"libms_common_apapi: $APAPI_EVENTOPS:1:"* ]]
}

@test "a job step's live page, for those who may not read the meters" {
    live=$BATS_TEST_TMPDIR/live
    mkdir "$live" "$BATS_TEST_TMPDIR/root"
    clocked=()
    load live
    # the figures of a step's page go on with their power for two intervals
    hold_pages '[{node: "n1", job: 17, step: "0", uid: 0, domains:
        ({now: 300, total: 1000, interval_s: 3600} as $all | {package: $all, dram: ($all + {now: 40}), gpu: ($all + {now: 500}), node: ($all + {now: 900})}),
        events: [{name: "rapl:::PACKAGE_ENERGY:PACKAGE0", unit: "J", kind: 0, domain: 1, counter: true, now: 200, total: 1000, interval_s: 3600},
                 {name: "rapl:::PACKAGE_ENERGY:PACKAGE1", unit: "J", kind: 0, domain: 1, counter: true, now: 100, total: 1000, interval_s: 3600},
                 {name: "nvml:::A:device_0:temperature", unit: "C", kind: 2, domain: 3, now: 61, interval_s: 3600}]}]'
    export APAPI_LIVE_PAGE=$live/n1/17.0 APAPI_SYSROOT=$BATS_TEST_TMPDIR/root APAPI_SOURCES=sysfs:nvml APAPI_NVML_LIBRARY=/nonexistent
    run --separate-stderr -0 "$linked" figures 1 20
    let_go
    [[ $output == *$'enabled 11001\nlist 1 2 8\n'* && -z $stderr ]]
    figures_fit $'cpu_energy_total_pkg[0] 200000\ncpu_energy_total_pkg[1] 100000\ncpu_power_avg_pkg[0] 200000
cpu_energy_total_dram[0] 40000\ngpu_energy_total 500000\ngpu_temp_max 61\nsystem_power_avg 900'
    [[ $(figure cpu_memory_total) != 0.000000 ]]
}
