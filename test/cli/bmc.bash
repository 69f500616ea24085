# SPDX-License-Identifier: BSD-3-Clause
# A BMC for tests: OpenIPMI's ipmi_sim with sensors of a server, on a free port of 127.0.0.1; for
# `load` after atime_common. A sensor's raw value stands in the file bmc/sensorN.

load ../eventually

# One sensor data record: raw value x M x 10^EXPONENT in UNIT.
sdr() { # NUMBER NAME TYPE UNIT M EXPONENT ENTITY INSTANCE
    cat <<END
sdr type 1
    sensor_owner_id 0x20
    sensor_owner_lun 0
    channel_number 0
    sensor_number $1
    id_string "$2"
    sensor_type $3
    base_unit $4
    m $5
    r_exp $6
    entity_id $7
    entity_instance $8
    init_scanning true
    init_sensor_type true
    default_sensor_scan_on true
    event_reading_type_code 1
    analog_data_format unsigned
    rate_unit none
    modifier_unit none
    percentage false
    modifier_unit_code unspecified
    linearization linear
    tolerance 0
    b 0
    b_exp 0
    accuracy 1
    accuracy_exp 0
    sensor_direction input
    sensor_maximum 255
    sensor_minimum 0
endsdr
END
}

sensors() {
    sdr 1 'Inlet Temp' Temperature degrees_C 1 0 system_board 1
    sdr 2 'Pwr Consumption' Other_Units_Based_Sensor Watts 4 0 system_board 1
    sdr 3 'Temp' Temperature degrees_C 5 -1 processor 1
    sdr 4 'Temp' Temperature degrees_C 5 -1 processor 2
    sdr 5 'Planar Power' Other_Units_Based_Sensor Watts 1 0 system_board 1
    sdr 6 'Empty Slot' Temperature degrees_C 1 0 processor 3
    sdr 7 'Fan 1' Fan RPM 100 0 system_board 1
    sdr 8 'PSU POWER TEMP' Temperature degrees_C 1 0 power_supply 1
}

bmc_config() { # PORT
    cat <<END
name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 $1
    priv_limit admin
    allowed_auths_user md5
    allowed_auths_admin md5
    guid a123456789abcdefa123456789abcdef
  endlan
  user 2 true "reader" "secret" user 10 md5
  user 3 true "boss" "topsecret" admin 10 md5
END
    [[ ! -f $dcmi_module ]] || echo "loadlib \"$dcmi_module\" \"$bmc/dcmi\""
}

# Sensor 6 has a record, and nothing stands behind it.
bmc_commands() {
    local number
    echo 'mc_setbmc 0x20'
    echo 'mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr'
    echo 'sensor_add 0x20 0 0 35 0x6f event-only'
    for number in 1 2 3 4 5 7 8; do
        echo "sensor_add 0x20 0 $number 1 1 poll 50 file \"$bmc/sensor$number\""
        echo "sensor_set_value 0x20 0 $number $(<"$bmc/sensor$number") 0"
    done
    echo 'mc_enable 0x20'
}

set_dcmi() { # COMPLETION WATTS PERIOD_MS ACTIVE
    echo "$*" >"$bmc/dcmi.new"
    mv "$bmc/dcmi.new" "$bmc/dcmi"
}

make_bmc() {
    local sensor
    bmc=$BATS_TEST_TMPDIR/bmc
    mkdir -p "$bmc/state/ipmi_sim/bmc"
    sensors >"$bmc/sdrs"
    sdrcomp -o "$bmc/state/ipmi_sim/bmc/sdr.20.main" "$bmc/sdrs"
    for sensor in 1=23 2=50 3=80 4=90 5=60 7=40 8=35; do
        echo "${sensor#*=}" >"$bmc/sensor${sensor%=*}"
    done
    set_dcmi 0xc1 0 0 0
    bmc_commands >"$bmc/commands"
    printf 'secret\n' >"$bmc/password"
    printf 'topsecret\n' >"$bmc/boss"
    chmod 600 "$bmc/password" "$bmc/boss"
}

start_ipmi_sim() {
    bmc_config "$bmc_port" >"$bmc/lan.conf"
    ipmi_sim -n -c "$bmc/lan.conf" -f "$bmc/commands" -s "$bmc/state" >"$bmc/log" 2>&1 3>&- &
    bmc_pid=$!
}

port_is_used() { # PORT
    grep -qE "^ *[0-9]+: [0-9A-F]{8}:$(printf %04X "$1") " /proc/net/udp
}

# Is the port the BMC's, and not one of another test's that came first?
bmc_answers() {
    local socket
    socket=$(awk -v port="$(printf :%04X "$bmc_port")" 'substr($2, 9) == port { print $10; exit }' /proc/net/udp)
    [[ -n $socket && $(readlink "/proc/$bmc_pid/fd/"* 2>/dev/null) == *"socket:[$socket]"* ]]
}

# It answers, or it has ended.
bmc_is_decided() {
    bmc_answers || ! kill -0 "$bmc_pid" 2>/dev/null
}

start_bmc() {
    make_bmc
    for _ in {1..10}; do
        bmc_port=$((20000 + RANDOM % 12000))
        ! port_is_used "$bmc_port" || continue
        start_ipmi_sim
        eventually bmc_is_decided
        ! bmc_answers || break
        stop_bmc
    done
    [[ -n ${bmc_pid:-} ]] || { cat "$bmc/log" && return 1; }
    export APAPI_IPMI_HOST=127.0.0.1:$bmc_port APAPI_IPMI_USER=reader \
        APAPI_IPMI_PASSWORD_FILE=$bmc/password
}

as_boss() { # CMD...: with the privilege that ipmi_sim wants for DCMI
    APAPI_IPMI_USER=boss APAPI_IPMI_PASSWORD_FILE=$bmc/boss APAPI_IPMI_PRIVILEGE=admin "$@"
}

stop_bmc() {
    [[ -n ${bmc_pid:-} ]] || return 0
    kill -KILL "$bmc_pid" 2>/dev/null || true
    wait "$bmc_pid" 2>/dev/null || true
    bmc_pid=
}
