# SPDX-License-Identifier: BSD-3-Clause
# For truth.bats and truth_papi.bats: meters whose truth is known, and what atime says of them.
#
# One simulated package holds several zones, each with another power and another incident, so that
# one run of a few seconds tries them all. `truth` is the integral of a zone's power between the
# moments at which the measurement began and ended, in the simulation's own time.

load kept

repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
export APAPI_SIMHW=${APAPI_SIMHW:-$repository/build/release/test/sim/apapi-simhw}

readonly RANGE_UJ=262143328850   # of the counters of most Intel processors
readonly REAL_RANGE_UJ=65532610987 # of AMD's and of older Intel ones
readonly SMALL_RANGE_UJ=500000000  # wraps every 1.25 s at 400 W
readonly REGISTER=rapl:::PACKAGE_ENERGY:PACKAGE0 # of truth_papi.bats
readonly SECONDS_RUN=4 INTERVAL=50ms

# The spec of package 0, an ordinary one, and of a clock that counts microseconds since second 0.
package_spec() {
    cat <<SPEC
powercap/clock energy 1 $RANGE_UJ 0
powercap/clock update 0
$(zone_spec '' package-0 $RANGE_UJ "energy 100 $RANGE_UJ 7000000000")
SPEC
}

# A zone of package 0; ":N" is its Nth part, '' the package itself. More arguments: what happens.
zone_spec() { # ZONE NAME RANGE METER [INCIDENT]...
    local folder=powercap/intel-rapl:0 incident

    [[ -z $1 ]] || folder+=/intel-rapl:0$1
    cat <<SPEC
$folder/name text $2
$folder/enabled text 1
$folder/max_energy_range_uj text $3
$folder/energy_uj $4
$folder/energy_uj mode 400
SPEC
    for incident in "${@:5}"; do
        echo "$folder/energy_uj $incident"
    done
    [[ -z $1 ]] || echo "powercap/intel-rapl:0$1 link intel-rapl:0/intel-rapl:0$1"
}

# What the power does. Parts 0 to 3.
shapes_spec() {
    package_spec
    zone_spec :0 dram $RANGE_UJ "energy-ramp 50 40 $RANGE_UJ 3000000000"
    zone_spec :1 dram $RANGE_UJ "energy-square 20 180 0.7 $RANGE_UJ 5000000000"
    zone_spec :2 dram $SMALL_RANGE_UJ "energy 400 $SMALL_RANGE_UJ 0"
    zone_spec :3 dram $REAL_RANGE_UJ "energy 400 $REAL_RANGE_UJ $((REAL_RANGE_UJ - 500000000))"
}

# What goes wrong. Parts 0 to 5.
incidents_spec() {
    package_spec
    zone_spec :0 dram $RANGE_UJ "energy 110 $RANGE_UJ 50000000000" 'reset 2'
    zone_spec :1 dram $RANGE_UJ "energy 120 $RANGE_UJ 60000000000" 'freeze 1 3'
    zone_spec :2 dram $RANGE_UJ "energy 130 $RANGE_UJ 70000000000" 'fail 1.5 2.5 EIO'
    zone_spec :3 dram $RANGE_UJ "energy 140 $RANGE_UJ 80000000000" 'vanish 1.5 2.5'
    zone_spec :4 dram $RANGE_UJ "energy 150 $RANGE_UJ 90000000000" 'absurd 2 123456789012'
    zone_spec :5 dram $RANGE_UJ "energy 160 $RANGE_UJ 0" 'fail 1.5 2.5 EIO'
}

# This version of bats cannot skip in setup_file: each test does it. Fails, for `|| return`.
skip_all() { # REASON
    export APAPI_SKIP_ALL=$1
    return 1
}

skip_if_all_are() {
    [[ -z ${APAPI_SKIP_ALL:-} ]] || skip "$APAPI_SKIP_ALL"
}

needs_fuse() {
    { : <>/dev/fuse; } 2>/dev/null || skip_all '/dev/fuse cannot be opened' || return
    "$repository/scripts/sim" -- true 2>/dev/null ||
        skip_all 'no simulated hardware here: see scripts/sim'
}

# Measure a simulation. DIR/NAME.spec is its spec; leaves NAME.json, NAME.err and NAME.zero, the time
# of second 0. In the simulation the processor is of Intel's model MODEL, where one is given.
measure_once() { # DIR NAME MODEL ATIME-AND-OPTION...
    "$repository/scripts/sim" --packages 0 --spec "$1/$2.spec" -- bash -c '
        dir=$0 name=$1 model=$2
        shift 2
        if [[ -n $model ]]; then
            sed -E -e "s/^(vendor_id\s*: ).*/\1GenuineIntel/" -e "s/^(cpu family\s*: ).*/\16/" \
                -e "s/^(model\s*: ).*/\1$model/" /proc/cpuinfo >"$dir/$name.cpuinfo" &&
                mount --bind "$dir/$name.cpuinfo" /proc/cpuinfo || exit 125
        fi
        read -r clock </sys/class/powercap/clock
        echo $((${EPOCHREALTIME/[.,]/} - clock)) >"$dir/$name.zero"
        exec "$@"' "$1" "$2" "$3" "${@:4}" -t $INTERVAL -f json -o "$1/$2.json" \
        sleep "$SECONDS_RUN" 2>"$1/$2.err" 3>&-
}

# Something else may keep all processors busy: then readings lie far from the moments that they stand
# for. The time before the first and behind the last one tells, and so does the package.
was_undisturbed() { # DIR/NAME
    jq -e '.elapsed_s - ([.components[].events[]?.covered_s] | max) < 0.002' "$1.json" >/dev/null 2>&1 || return
    [[ -z $(event "$1" '' .name) ]] || true_energy "$1" '' 0 constant 100 >/dev/null || return
    [[ -z $(event "$1" "$REGISTER" .name) ]] || true_energy "$1" "$REGISTER" 0 constant 300 >/dev/null
}

measure() { # as measure_once
    local attempt

    for attempt in 1 2 3; do
        measure_once "$@" || return
        ! was_undisturbed "$1/$2" || return 0
    done
}

# Of the event of a zone in DIR/NAME.json: what the jq expression says. A zone may be an event's name.
event() { # DIR/NAME ZONE EXPRESSION
    local name=powercap:::ENERGY_UJ:ZONE0${2/:/_SUBZONE}

    [[ $2 != *:::* ]] || name=$2
    jq -r --arg name "$name" ".components[].events[]? | select(.name == \$name) | $3" "$1.json"
}

# What was used while it was measured [J], and the greatest power [W].
truth() { # DIR/NAME SHAPE NUMBER...
    local start elapsed

    start=$(jq -r '.start | sub("\\.[0-9]+Z$"; "Z") | fromdate' "$1.json")
    start+=.$(jq -r '.start | capture("\\.(?<f>[0-9]+)Z$").f' "$1.json")
    elapsed=$(jq .elapsed_s "$1.json")
    awk -v start="$start" -v zero_us="$(<"$1.zero")" -v elapsed="$elapsed" -v shape="$2" \
        -v a="$3" -v b="${4:-0}" -v period="${5:-1}" '
        function energy(t) {
            if (shape == "constant")
                return a * t
            if (shape == "ramp") # from a W, b W more each second
                return a * t + b * t * t / 2
            # square: a W in the first half of each period, b W in the second
            n = int(t / period)
            rest = t - n * period
            low = n * period / 2 + (rest < period / 2 ? rest : period / 2)
            return a * low + b * (t - low)
        }
        BEGIN {
            from = start - int(zero_us / 1000000) - (zero_us % 1000000) / 1000000
            greatest = shape == "constant" ? a : shape == "ramp" ? a + b * (from + elapsed) : b
            printf "%.6f %.3f\n", energy(from + elapsed) - energy(from), greatest
        }'
}

# Is the energy of a zone the truth, within 0.1 % and what one update of the counter (1 ms) holds?
# LOSS_S: how long it may have been uncovered, at its greatest power.
true_energy() { # DIR/NAME ZONE LOSS_S SHAPE NUMBER...
    local joules expected greatest

    joules=$(event "$1" "$2" '.raw_total * .scale')
    read -r expected greatest < <(truth "$1" "${@:4}")
    awk -v j="${joules:-nan}" -v t="$expected" -v w="$greatest" -v loss="$3" -v zone="${1##*/} $2" 'BEGIN {
        tolerance = t / 1000 + w / 1000
        printf "%s: %.4f J, truth %.4f J, %+.3f %%\n", zone, j, t, (j - t) / t * 100
        exit !(j <= t + tolerance && j >= t - tolerance - loss * w)
    }'
}

# Are the incidents of a zone these and no others? Words such as wraps=1 failed=18..22.
incidents() { # DIR/NAME ZONE WORD...
    local all expected actual key

    all=$(event "$1" "$2" \
        '"failed=\(.failed // 0) wraps=\(.wraps // 0) resets=\(.resets // 0) refused=\(.refused // 0) gaps=\(.gaps // 0) stalls=\(.stalls // 0)"')
    for actual in $all; do
        key=${actual%%=*}
        expected=0..0
        for word in "${@:3}"; do
            [[ ${word%%=*} != "$key" ]] || expected=${word#*=}
        done
        actual=${actual#*=}
        if ((actual < ${expected%..*} || actual > ${expected#*..})); then
            echo "zone $2: $key is $actual, not $expected; all: $all"
            return 1
        fi
    done
}

# What must come out for each zone of the two specs above: the interval in which a reset happened is
# not counted; whatever else goes wrong costs nothing once it is over.
CASES='
shapes||0|constant 100|
shapes|:0|0|ramp 50 40|
shapes|:1|0|square 20 180 0.7|
shapes|:2|0|constant 400|wraps=3
shapes|:3|0|constant 400|wraps=1
incidents||0|constant 100|
incidents|:0|0.06|constant 110|resets=1
incidents|:1|0|constant 120|stalls=1
incidents|:2|0|constant 130|failed=18..22
incidents|:3|0|constant 140|failed=18..22
incidents|:4|0|constant 150|refused=1
incidents|:5|0|constant 160|failed=18..22'

# Do the cases of that spec (of that zone only, if one is given) come out right?
check() { # DIR/NAME SPEC [ZONE]
    local spec zone loss shape words wrong=0 tried=0

    while IFS='|' read -r spec zone loss shape words; do
        [[ $spec == "$2" && ${3-$zone} == "$zone" ]] || continue
        tried=$((tried + 1))
        # shellcheck disable=SC2086 # words
        true_energy "$1" "$zone" "$loss" $shape && incidents "$1" "$zone" $words || wrong=1
    done <<<"$CASES"
    ((tried > 0 && wrong == 0))
}
