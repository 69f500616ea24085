#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Figures through PAPI, with a stand-in whose components and mischief are known
# (test/fake/papi), and what is said where there is no PAPI or not this one.

# shellcheck disable=SC2030,SC2031 # each test is a process of its own
load atime_common.bash

# Run and show; standard output and error apart.
run_atime() { # STATUS ARGUMENT...
    run "-$1" --separate-stderr "$atime" "${@:2}"
    keep_records
    echo "$output"
    echo "$stderr"
}

says() { # TEXT: on standard error, wherever the lines break
    [[ $(tr -s ' \n' ' ' <<<"$stderr") == *"$1"* ]]
}

legacy() { # as jq: all of the events must fulfil EXPRESSION, and N of them be there
    jq -e --arg pattern "$1" --argjson count "$2" \
        ".elapsed_s as \$elapsed | [.components[].events[] | select(.name | test(\$pattern))] |
         length == \$count and all(.[]; $3)" <<<"$stderr"
}

@test "the original's maxeler and micknc, with its event list and definitions" {
    old_papi
    export APAPI_EVENTLIST=$repository/config/legacy/default_eventlist.txt APAPI_EVENTOPS=$FAKE_PAPI_EVENTS
    run_atime 0 -c maxeler:micknc -t 20ms -f json sleep 0.5
    legacy '^maxeler:::' 11 true
    legacy '^micknc:::' 22 true
    # microwatts; 20 W and more, rising by 1 W in a second
    legacy 'POWER' 15 '.unit == "W" and .value0.unit == "W" and .value1.unit == "Ws" and
        .mean > 70 and .mean < 100 and .max - .min > 0.3 and .max - .min < $elapsed + 1 and
        (.value1.acc / .covered_s / .mean - 1 | fabs) < 0.01'
    legacy '^maxeler:::.*TEMPERATURE' 2 '.value0.unit == "°C" and .value0.avg > 0.039 and .value0.avg < 0.05'
    legacy '^micknc:::TEMP' 7 '.value0.unit == "°C" and .value0.avg >= 40 and .value0.avg < 50'
    legacy '^micknc:::FREQ' 2 '.value0.unit == "MHz"'
    legacy '^micknc:::MEM' 3 '.value0.unit == "kiB"'
    legacy '^micknc:::TIME' 2 '.value0.unit == "s" and .value0.max > 0.4 and .value0.max < 60'
    legacy 'UTIL' 2 '.value0.unit == "%"'
    jq -e '[.components[].source] == ["PAPI \(.components[0].source | split(" ")[1]) maxeler",
        "PAPI \(.components[0].source | split(" ")[1]) micknc"]' <<<"$stderr"
}

@test "a PAPI without maxeler and micknc: known by name, with the reason" {
    [[ -e $build/test/fake/papi/libfake_papi.so ]] || skip 'built without PAPI'
    run_atime 3 -c maxeler:micknc sh -c 'exit 3'
    says "maxeler: not measured (PAPI "
    says " has no component 'maxeler')"
    says " has no component 'micknc')"
}

@test "a reading that calls exit(127): what was read is reported, the status is the program's" {
    old_papi
    run_atime 3 -c quitter:late -t 20ms -f json sh -c 'sleep 1.5; exit 3'
    [[ -z $output ]]
    jq -e '.components[0] | .name == "quitter" and .events[0].samples > 3 and .events[0].failed > 3' <<<"$stderr"
    jq -e '.components[1] | .name == "late" and .events[0].samples > 6 and (.events[0].failed // 0) == 0' <<<"$stderr"
    [[ $stderr != *'quitter: reading'* ]]
}

source_with() { # EVENT...: the source of rapl where a list names these
    printf '%s\n' "$@" >"$APAPI_EVENTLIST"
    run -0 --separate-stderr sim -- "$atime" -c rapl -t 20ms -f json sleep 0.1
    source=$(jq -r '.components[0].source' <<<"$stderr")
    echo "$*: $source"
}

@test "rapl is read from sysfs, and through PAPI where a list names events that only PAPI has" {
    old_papi
    needs_sim
    # rapl of the stand-in has an energy that no zone of the kernel has, and what is no energy at all
    export FAKE_PAPI_EVENTS=$BATS_TEST_TMPDIR/events APAPI_EVENTLIST=$BATS_TEST_TMPDIR/list
    printf '%s\n' rapl:::PLATFORM_ENERGY:PACKAGE0 rapl:::THERM_STATUS:PACKAGE0 >"$FAKE_PAPI_EVENTS"
    for events in 'rapl:::PACKAGE_ENERGY:PACKAGE0' 'rapl:::*' 'rapl:::*_ENERGY:*'; do
        source_with "$events"
        [[ $source == 'sysfs powercap' ]]
    done
    source_with rapl:::THERM_STATUS:PACKAGE0
    [[ $source == 'PAPI '*' rapl' ]]
    APAPI_SOURCES=sysfs:papi complains 2 "*rapl has no event 'rapl:::THERM_STATUS:PACKAGE0' here*" sim -- "$atime" -c rapl true
    printf '%s\n' rapl:::PACKAGE_ENERGY:PACKAGE0 rapl:::THERM_STATS:PACKAGE0 >"$APAPI_EVENTLIST"
    complains 2 "*:2: rapl has no event 'rapl:::THERM_STATS:PACKAGE0' here*" sim -- "$atime" -c rapl true
}

@test "where rapl is read from sysfs, no libpapi is loaded" {
    needs_sim
    LD_DEBUG=files LD_DEBUG_OUTPUT=$BATS_TEST_TMPDIR/loaded complains 0 '*rapl (sysfs powercap)*' sim -- "$atime" -c rapl -t 20ms sleep 0.1
    grep -q 'file=libm' "$BATS_TEST_TMPDIR"/loaded.*
    run ! grep -q 'file=.*libpapi' "$BATS_TEST_TMPDIR"/loaded.*
}

@test "no libpapi, or a library that is none: a reason, and the program runs" {
    old_papi
    printf 'default = quitter\n[papi]\nlibrary = %s\n' "$APAPI_PAPI_LIBRARY" >"$BATS_TEST_TMPDIR/conf"
    run ! grep 'unknown component' <(env -u APAPI_PAPI_LIBRARY "$apapi" config --check "$BATS_TEST_TMPDIR/conf")
    APAPI_PAPI_LIBRARY=libpapi-of-no-site.so
    APAPI_SOURCES=papi run_atime 3 -c maxeler:rapl sh -c 'exit 3'
    says 'maxeler: not measured (no PAPI: libpapi-of-no-site.so: cannot open shared object file'
    says 'rapl: not measured (no PAPI: '
    APAPI_PAPI_LIBRARY=libc.so.6 run_atime 3 -c maxeler sh -c 'exit 3'
    says 'maxeler: not measured (libc.so.6 has no PAPI_library_init)'
}

@test "a PMU 'power' is tried if it has a package counter: a virtual machine's has energy-psys alone" {
    local events=$BATS_TEST_TMPDIR/root/sys/bus/event_source/devices/power/events
    export APAPI_SYSROOT=$BATS_TEST_TMPDIR/root APAPI_SOURCES=papi
    run_atime 0 -c rapl true
    says "the kernel has no PMU 'power'"
    mkdir -p "$events"
    echo event=0x01 >"$events/energy-psys"
    run_atime 0 -c rapl true
    says "the PMU 'power' has no package counter (a virtual machine?)"
    echo event=0x01 >"$events/energy-pkg"
    run_atime 0 -c rapl true
    says 'perf_event_uncore'
    run ! says 'a virtual machine?'
}
