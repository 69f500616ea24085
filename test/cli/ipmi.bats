#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Power and temperatures of a BMC: the real protocol, spoken with OpenIPMI's simulator.

load atime_common
load bmc
load public

setup() {
    command -v ipmi_sim sdrcomp >/dev/null || skip "no ipmi_sim: package openipmi"
    fakes=$build/test/fake/ipmi
    dcmi_module=$fakes/ipmi_sim_dcmi.so
    export APAPI_EVENTLIST=$BATS_TEST_TMPDIR/all # whatever list is installed
    echo 'ipmi:::?*' >"$APAPI_EVENTLIST"
    run "$atime" -c ipmi true
    [[ $output != *'without FreeIPMI'* ]] || skip "built without FreeIPMI"
    [[ $output != *'no FreeIPMI'* ]] || skip "no libfreeipmi"
    start_bmc
}

teardown() {
    stop_bmc
    keep_all_records
}

needs_dcmi() { [[ -f $dcmi_module ]] || skip "ipmi_sim has no DCMI: package libopenipmi-dev"; }

# A run of CMD by atime; its JSON is $stderr.
measure() { # [ATIME OPTION...] CMD...
    run --separate-stderr "$atime" -c ipmi -f json "$@"
    keep_records
    echo "$stderr"
    [[ $status -eq 0 ]]
    jq -e '.components[0].events' <<<"$stderr"
}

event() { # NAME FIELD
    jq -e --arg name "ipmi:::$1" ".components[0].events[] | select(.name == \$name) | .$2" <<<"$stderr"
}

node_energy_is() { # WATTS
    close_to "$(jq .domains.node.energy_j <<<"$stderr")" \
        "$(jq --argjson w "$1" '$w * .components[0].events[0].covered_s' <<<"$stderr")" 0.03
}

names() { jq -r '[.components[0].events[].name] | join(" ")' <<<"$stderr"; }

not_measured() { # TEXT [SECONDS]: the reason, wherever its lines are broken
    run timeout "${atime_within:-600}" "$atime" -c ipmi sleep "${2:-0.1}"
    echo "$output"
    [[ $status -eq 0 && $(tr -s ' \n' ' ' <<<"$output") == *"ipmi: not measured ($1"* ]]
}

# The same within a second, or with more patience: a BMC that is simulated on a busy machine is slow.
said_in_time() { # TEXT
    local seconds
    for seconds in 1 5 20; do
        ! APAPI_IPMI_TIMEOUT=${seconds}s not_measured "$1" "$seconds" || return 0
    done
    return 1
}

@test "a BMC's sensors: the machine's power, the board's, temperatures" {
    measure sleep 0.5
    [[ $(names) == "ipmi:::SYSTEM_POWER ipmi:::BOARD_POWER ipmi:::SYSTEM_TEMP ipmi:::TEMP:PSU_POWER_TEMP ipmi:::TEMP:Temp ipmi:::TEMP:Temp_2" ]]
    jq -e --arg from "FreeIPMI $APAPI_IPMI_HOST, sensors" '.components[0].source == $from' <<<"$stderr"
    event SYSTEM_POWER 'mean == 200'
    event SYSTEM_POWER 'domain == "node"'
    event BOARD_POWER 'mean == 60'
    event BOARD_POWER 'domain == null' # inside the machine's
    event SYSTEM_TEMP 'mean == 23'
    event TEMP:Temp 'mean == 40'
    event TEMP:Temp_2 'mean == 45'
    event TEMP:Temp 'unit == "C"'
    node_energy_is 200
    jq -e '.trust.failed == 0 and .trust.covered > 0' <<<"$stderr"
}

@test "a change is seen, and integrated" {
    APAPI_IPMI_PERIOD=0s measure -t 20ms \
        sh -c 'sleep 1.5; echo 100 >"$0.new"; mv "$0.new" "$0"; sleep 1.5' "$bmc/sensor2"
    event SYSTEM_POWER 'min == 200'
    event SYSTEM_POWER 'max == 400'
    # half of the time each, but for the time for which the program was held up in one of them
    jq -e '.domains.node.mean_w > 210 and .domains.node.mean_w < 390' <<<"$stderr"
}

@test "the BMC is asked once in a period, however short the interval is" {
    needs_dcmi
    set_dcmi 0 350 1000 1
    as_boss measure -t 10ms sleep 2
    asked=$(wc -c <"$bmc/dcmi.asked")
    elapsed=$(jq .elapsed_s <<<"$stderr")
    rm "$bmc/dcmi.asked"
    APAPI_IPMI_PERIOD=0s as_boss measure -t 10ms sleep 2
    echo "$asked in $elapsed s, without a period $(wc -c <"$bmc/dcmi.asked")"
    [[ $asked -ge 3 && $asked -le $((${elapsed%.*} + 4)) && $(wc -c <"$bmc/dcmi.asked") -gt $((2 * asked)) ]]
}

@test "DCMI comes before sensors, and counts once" {
    needs_dcmi
    set_dcmi 0 350 2000 1
    as_boss measure sleep 0.5
    event SYSTEM_POWER 'mean == 350'
    event SYSTEM_POWER 'update_s == 2'
    event POWER:Pwr_Consumption 'mean == 200'
    event POWER:Pwr_Consumption 'domain == null'
    event BOARD_POWER 'mean == 60'
    jq -e '.domains | keys == ["node"]' <<<"$stderr"
    node_energy_is 350
    jq -e '.components[0].source | endswith("DCMI")' <<<"$stderr"
}

@test "DCMI that is switched off, not allowed, or says 0 W: sensors" {
    needs_dcmi
    set_dcmi 0 350 1000 1
    measure sleep 0.5 # as user
    event SYSTEM_POWER 'mean == 200'
    for answer in '0 350 1000 0' '0 0 1000 1' '0xc0 350 1000 1' '0xff 350 1000 1'; do
        set_dcmi "$answer"
        as_boss measure sleep 0.1
        event SYSTEM_POWER 'mean == 200'
    done
}

@test "DCMI of a BMC that wrongly calls it off" {
    needs_dcmi
    set_dcmi 0 350 1000 0
    APAPI_IPMI_SYSTEM_POWER=dcmi as_boss measure sleep 0.5
    event SYSTEM_POWER 'mean == 350'
    set_dcmi 0 0 1000 1
    APAPI_IPMI_SYSTEM_POWER=dcmi as_boss not_measured "$APAPI_IPMI_HOST: no DCMI power reading)"
}

@test "0 W during the run is no reading" {
    needs_dcmi
    set_dcmi 0 350 1000 1
    APAPI_IPMI_PERIOD=0s as_boss measure -t 20ms \
        sh -c 'sleep 0.5; echo 0 0 1000 1 >"$0.new"; mv "$0.new" "$0"; sleep 2' "$bmc/dcmi"
    event SYSTEM_POWER 'min == 350'
    event SYSTEM_POWER 'failed > 2'
    event BOARD_POWER 'failed == null'
    jq -e '.components[0].events[0].covered_s < .elapsed_s - 1' <<<"$stderr"
}

@test "event lists and the original's definitions fit" {
    printf 'ipmi:::BOARD_POWER\nipmi:::SYSTEM_POWER\nipmi:::SYSTEM_TEMP\n' >"$BATS_TEST_TMPDIR/list"
    APAPI_EVENTLIST=$BATS_TEST_TMPDIR/list \
        APAPI_EVENTOPS=$repository/config/legacy/default_eventops.csv measure sleep 0.5
    [[ $(names) == "ipmi:::BOARD_POWER ipmi:::SYSTEM_POWER ipmi:::SYSTEM_TEMP" ]]
    event SYSTEM_POWER 'value0.avg == 200'
    close_to "$(event SYSTEM_POWER value1.acc)" "$(jq '200 * .components[0].events[1].covered_s' <<<"$stderr")" 0.03
    event SYSTEM_TEMP 'value0.max == 23'
    APAPI_EVENTLIST=$repository/config/default_eventlist.txt \
        APAPI_EVENTOPS=$repository/config/default_eventops.csv APAPI_SOFTFAIL=1 measure sleep 0.5
    [[ $(names) == "ipmi:::SYSTEM_POWER ipmi:::BOARD_POWER ipmi:::SYSTEM_TEMP" ]]
    APAPI_EVENTOPS=$repository/config/default_eventops.csv measure sleep 0.5
    event TEMP:PSU_POWER_TEMP 'value0.unit == "°C"'
    event SYSTEM_TEMP 'value0.unit == "°C"'
    event BOARD_POWER 'value1.unit == "J"'
}

@test "wrong user, wrong password, wrong file: said so" {
    cp "$bmc/password" "$bmc/other"
    echo wrong >"$bmc/other"
    APAPI_IPMI_PASSWORD_FILE=$bmc/other said_in_time "$APAPI_IPMI_HOST, user reader: the BMC refuses the password)"
    APAPI_IPMI_USER=nobody said_in_time "$APAPI_IPMI_HOST, user nobody: the BMC knows no such user)"
    chmod 644 "$bmc/other"
    APAPI_IPMI_PASSWORD_FILE=$bmc/other \
        not_measured "password_file $bmc/other can be read or written by others: chmod 600)"
    rm "$bmc/other"
    APAPI_IPMI_PASSWORD_FILE=$bmc/other \
        not_measured "password_file $bmc/other: No such file or directory)"
    APAPI_IPMI_PRIVILEGE=smoke not_measured "privilege is 'smoke', expected one of user, operator, admin)"
}

@test "no BMC there: said after the timeout" {
    stop_bmc
    atime_within=100 APAPI_IPMI_TIMEOUT=1s not_measured "$APAPI_IPMI_HOST, user reader: no answer)" 1
}

@test "a BMC that does not answer for seconds: errors, then readings again" {
    APAPI_IPMI_TIMEOUT=1s APAPI_IPMI_PERIOD=100ms measure --trace "$BATS_TEST_TMPDIR/trace" timeout 300 sh -c '
        until grep -q SYSTEM_POWER,.*,200, "$3"; do sleep 0.05; done
        kill -STOP "$1"
        sleep 3
        echo 100 >"$2.new"
        mv "$2.new" "$2"
        kill -CONT "$1"
        until grep -q SYSTEM_POWER,.*,400, "$3"; do sleep 0.05; done' - "$bmc_pid" "$bmc/sensor2" "$BATS_TEST_TMPDIR/trace"
    event SYSTEM_POWER 'min == 200'
    event SYSTEM_POWER 'max == 400'
    event SYSTEM_POWER 'failed > 0'
    jq -e '.components[0].events[0].covered_s < .elapsed_s - 2' <<<"$stderr"
    jq -e '.domains.node.mean_w | . > 200 and . <= 400' <<<"$stderr"
}

@test "neither the password nor a descriptor reaches the program; no file is left" {
    mkdir "$BATS_TEST_TMPDIR/home"
    HOME=$BATS_TEST_TMPDIR/home TMPDIR=$BATS_TEST_TMPDIR/home run --separate-stderr \
        "$atime" -c ipmi -f json -v sh -c 'sleep 0.5; ls -l /proc/$$/fd; tr "\0" " " </proc/$PPID/cmdline'
    [[ $status -eq 0 && $output != *socket:* && $output != *memfd:* ]]
    [[ $output$stderr != *secret* ]]
    event SYSTEM_POWER 'mean == 200'
    [[ -z $(ls -A "$BATS_TEST_TMPDIR/home") ]]
}

@test "no descriptor reaches a program that is started while the BMC is being opened" {
    for _ in {1..40}; do # it is waited for only where it is named
        run --separate-stderr "$atime" sh -c 'ls -l /proc/$$/fd'
        [[ $status -eq 0 && $output != *socket:* && $output != *memfd:* ]] || {
            return 1
        }
    done
}

# The local device: a plain file that a preloaded library makes the BMC's.
local_bmc() { # CMD...
    local plain
    plain_path "$fakes/ipmi_device.so"
    env -u APAPI_IPMI_HOST APAPI_SYSROOT="$BATS_TEST_TMPDIR/root" FAKE_IPMI_BMC="$APAPI_IPMI_HOST" \
        FAKE_IPMI_USER=boss FAKE_IPMI_PASSWORD=topsecret ASAN_OPTIONS=verify_asan_link_order=0 \
        LD_PRELOAD="$plain" "$@"
}

@test "the machine's own BMC" {
    [[ -f $fakes/ipmi_device.so ]] || skip "no fake device"
    mkdir -p "$BATS_TEST_TMPDIR/root/dev"
    touch "$BATS_TEST_TMPDIR/root/dev/ipmi0"
    set_dcmi 0 350 1000 1
    run -0 --separate-stderr local_bmc "$atime" -c ipmi -f json sleep 0.5
    event BOARD_POWER 'mean == 60'
    event SYSTEM_TEMP 'mean == 23'
    [[ ! -f $dcmi_module ]] || event SYSTEM_POWER 'mean == 350'
    jq -e '.components[0].source | startswith("FreeIPMI /")' <<<"$stderr"
    jq -e '.trust.failed == 0' <<<"$stderr"
}

@test "the machine's own BMC: none, or no permission" {
    unset APAPI_IPMI_HOST
    local user=("$atime")
    APAPI_SYSROOT=$(mktemp -d /tmp/apapi-ipmi-XXXXXX)
    export APAPI_SYSROOT
    not_measured 'no /dev/ipmi0: no BMC here, or modules ipmi_si and ipmi_devintf are not loaded)'
    mkdir "$APAPI_SYSROOT/dev"
    touch "$APAPI_SYSROOT/dev/ipmi0"
    chmod 600 "$APAPI_SYSROOT/dev/ipmi0"
    chmod 755 "$APAPI_SYSROOT"
    if ((EUID == 0)); then
        make_public
        publish "$atime"
        user=("${nobody[@]}" "$public/atime")
    else
        chmod 000 "$APAPI_SYSROOT/dev/ipmi0"
    fi
    run env -u APAPI_EVENTLIST -u APAPI_IPMI_USER -u APAPI_IPMI_PASSWORD_FILE "${user[@]}" -c ipmi true
    rm -r "$APAPI_SYSROOT"
    leave_public
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"not measured (no permission to read and write $APAPI_SYSROOT/dev/ipmi0)"* ]]
}
