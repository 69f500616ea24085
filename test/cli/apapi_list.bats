#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi and apapi list.

load atime_common
load public

# Other components must not be found on the machine.
fake_machine() {
    export APAPI_SYSROOT=$BATS_TEST_TMPDIR/root APAPI_PAPI_LIBRARY=/nonexistent/libpapi.so
    mkdir -p "$APAPI_SYSROOT/sys/class/powercap" "$APAPI_SYSROOT/proc"
}

zone() { # FOLDER NAME ENERGY
    mkdir -p "$APAPI_SYSROOT/sys/class/powercap/$1"
    echo "$2" >"$APAPI_SYSROOT/sys/class/powercap/$1/name"
    echo 262143328850 >"$APAPI_SYSROOT/sys/class/powercap/$1/max_energy_range_uj"
    echo "$3" >"$APAPI_SYSROOT/sys/class/powercap/$1/energy_uj"
}

@test "the events of a component, with value, unit, kind, domain, range, width, guard, update period and description" {
    fake_machine
    zone intel-rapl:0 package-0 12500000
    zone intel-rapl:0:0 dram 250000
    run --separate-stderr "$apapi" list rapl
    [[ $status -eq 0 && -z $stderr && ${lines[0]} == "rapl (sysfs powercap)" ]]
    [[ $(tr -s ' ' <<<"${lines[1]}") == " event value unit kind domain range width guard update description" ]]
    [[ $(tr -s ' ' <<<"${lines[2]}") == " rapl:::PACKAGE_ENERGY:PACKAGE0 12.50 J J energy package 262.1 kJ 38 bits 32.8 s 1.00 ms "*package* ]]
    [[ $(tr -s ' ' <<<"${lines[3]}") == " rapl:::DRAM_ENERGY:PACKAGE0 0.25 J J energy dram 262.1 kJ 38 bits 1 min 5.5 s 1.00 ms "* ]]
    [[ ${#lines[@]} -eq 4 ]]
}

@test "without names: what cannot be read stands in a line with its reason, nothing is slow" {
    fake_machine
    zone intel-rapl:0 package-0 12500000
    run --separate-stderr "$apapi" list
    [[ $status -eq 0 && -z $stderr && $output == *"rapl (sysfs powercap)"* && $output == *"powercap (sysfs powercap)"* ]]
    [[ $(grep -c '^hwmon: not readable: .*hwmon' <<<"$output") -eq 1 ]]
    [[ $(grep -c '^estimate: not readable: idle_w and core_w are not set' <<<"$output") -eq 1 ]]
    for slow in $("$apapi" list --json | jq -r '.components[] | select(.slow) | .name'); do
        grep -qx "$slow: slow, name it to see its events: apapi list $slow" <<<"$output"
    done
    grep -qx 'ipmi: slow, .*' <<<"$output"
    [[ $("$apapi" list --names all) == "$("$apapi" list --names)" ]]
}

@test "a component that is named and cannot be read: the reason, exit status 1" {
    fake_machine
    prints 1 'rapl: not readable: *no energy zone in /sys/class/powercap*' "$apapi" list rapl
    zone intel-rapl:0 package-0 1
    prints 1 '*rapl (sysfs powercap)*hwmon: not readable: *' "$apapi" list rapl:hwmon
    APAPI_SOURCES=papi prints 1 'powercap: not readable: none of the chosen sources reads it' "$apapi" list powercap
}

@test "JSON for programs" {
    fake_machine
    zone intel-rapl:0 package-0 123456789012
    run --separate-stderr "$apapi" list --json
    [[ $status -eq 0 && ${#lines[@]} -eq 1 ]]
    json=$output
    jq -e '.version == 1 and (.components | length > 5) and all(.components[]; .name)' <<<"$json"
    jq -e '.components[] | select(.name == "rapl") | .readable and .source == "sysfs" and .detail == "sysfs powercap"' <<<"$json"
    jq -e '.components[] | select(.name == "rapl") | .events | length == 1 and (.[0] |
        .name == "rapl:::PACKAGE_ENERGY:PACKAGE0" and .kind == "energy" and .domain == "package" and .unit == "J" and
        .counter == true and .estimated == false and .value == 123456.789012 and .range == 262143.328851 and
        .width_bits == 38 and .guard_s > 10 and
        .update_s == 0.001 and (.description | length > 5) and (has("error") | not))' <<<"$json"
    jq -e '.components[] | select(.name == "hwmon") | .readable == false and .errno == "ENODEV" and (.reason | length > 5) and
        (has("events") | not)' <<<"$json"
    jq -e '.components[] | select(.name == "ipmi") | .slow == true and (has("readable") | not)' <<<"$json"
}

@test "a reading that fails: the error in the place of the value" {
    fake_machine
    zone intel-rapl:0 package-0 garbage
    run --separate-stderr "$apapi" list rapl
    [[ $output == *"rapl:::PACKAGE_ENERGY:PACKAGE0  Bad message  J "* ]]
    run --separate-stderr "$apapi" list --json rapl
    jq -e '.components[0].events[0] | .error == "Bad message" and (has("value") | not)' <<<"$output"
}

# bats test_tags=long
@test "a meter that does not answer when it is opened: list gives up, and atime starts the program" {
    fake_machine
    zone intel-rapl:0 package-0 1
    rm "$APAPI_SYSROOT/sys/class/powercap/intel-rapl:0/energy_uj"
    mkfifo "$APAPI_SYSROOT/sys/class/powercap/intel-rapl:0/energy_uj"
    tells 3 '*rapl*it was still being opened at the end*' timeout 120 "$atime" sh -c 'exit 3'
    tells 1 'apapi list: rapl: no answer within 30 s' timeout 120 "$apapi" list rapl
}
