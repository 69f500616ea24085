# SPDX-License-Identifier: BSD-3-Clause
# For truth.bats and truth_papi.bats: meters whose truth is known, and what atime says of them.
#
# One simulated package holds several zones, each with another power and another incident, so that
# one run of a few seconds tries them all. The truth is the integral of a zone's power between the
# moments at which the measurement began and ended, in the simulation's own time.
#
# However busy the machine is, an energy must be as near to the truth as its own record says. Where
# the record says that the run was quiet, it must be right within fixed bounds, too; a run that was
# not is repeated a few times.

load ../environment
load kept

repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
export APAPI_SIMHW=${APAPI_SIMHW:-$repository/build/release/test/sim/apapi-simhw}

readonly RANGE_UJ=262143328850   # of the counters of most Intel processors
readonly REAL_RANGE_UJ=65532610987 # of AMD's and of older Intel ones
readonly SMALL_RANGE_UJ=500000000  # wraps every 1.25 s at 400 W
readonly REGISTER=rapl:::PACKAGE_ENERGY:PACKAGE0 # of truth_papi.bats
readonly SECONDS_RUN=4 INTERVAL=50ms UPDATE_S=0.001
readonly ATTEMPTS=3  # to get a quiet run
readonly QUIET_S=0.002 # in which a quiet run takes its first and last reading
SHIFT=0 # whole seconds by which all that happens is put off, where the simulation begins slowly

# A moment of the simulation.
at() { # SECONDS
    local fraction=${1#*.}

    [[ $1 == *.* ]] || fraction=0
    echo "$((${1%.*} + SHIFT)).$fraction"
}

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

# The course of the power. Parts 0 to 3.
shapes_spec() {
    package_spec
    zone_spec :0 dram $RANGE_UJ "energy-ramp 50 40 $RANGE_UJ 3000000000"
    zone_spec :1 dram $RANGE_UJ "energy-square 20 180 0.7 $RANGE_UJ 5000000000"
    zone_spec :2 dram $SMALL_RANGE_UJ "energy 400 $SMALL_RANGE_UJ 0"
    zone_spec :3 dram $REAL_RANGE_UJ "energy 400 $REAL_RANGE_UJ $((REAL_RANGE_UJ - 500000000 - SHIFT * 400000000))"
}

# The faults. Parts 0 to 5.
incidents_spec() {
    package_spec
    zone_spec :0 dram $RANGE_UJ "energy 110 $RANGE_UJ 50000000000" "reset $(at 2)"
    zone_spec :1 dram $RANGE_UJ "energy 120 $RANGE_UJ 60000000000" "freeze $(at 1) $(at 3)"
    zone_spec :2 dram $RANGE_UJ "energy 130 $RANGE_UJ 70000000000" "fail $(at 1.5) $(at 2.5) EIO"
    zone_spec :3 dram $RANGE_UJ "energy 140 $RANGE_UJ 80000000000" "vanish $(at 1.5) $(at 2.5)"
    zone_spec :4 dram $RANGE_UJ "energy 150 $RANGE_UJ 90000000000" "absurd $(at 2) 123456789012" \
        "absurd $(at 2.35) 123456789012" "absurd $(at 2.7) 123456789012"
    zone_spec :5 dram $RANGE_UJ "energy 160 $RANGE_UJ 0" "fail $(at 1.5) $(at 2.5) EIO"
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

# In the simulation: when its second 0 was [us since 1970], and how far that may be wrong. Both clocks
# are read one after the other, with anything in between: the narrowest of many tries counts.
# shellcheck disable=SC2016 # for another shell
readonly READ_ZERO='
    read_zero() {
        local try before after clock zero least=1000000000

        for ((try = 0; try < 200 && least > 300; try++)); do
            before=${EPOCHREALTIME/[.,]/}
            read -r clock </sys/class/powercap/clock
            after=${EPOCHREALTIME/[.,]/}
            ((after >= before && after - before < least)) || continue
            least=$((after - before)) zero=$(((before + after) / 2 - clock))
        done
        echo "$zero $least"
    }'

# Measure a simulation. DIR/NAME.spec is its spec; leaves NAME.json, NAME.err and NAME.zero, when
# second 0 was, as seen before and behind the run. In the simulation the processor is of Intel's model
# MODEL, where one is given.
measure_once() { # DIR NAME MODEL ATIME-AND-OPTION...
    "$repository/scripts/sim" --packages 0 --spec "$1/$2.spec" -- bash -c "$READ_ZERO"'
        dir=$0 name=$1 model=$2
        shift 2
        if [[ -n $model ]]; then
            sed -E -e "s/^(vendor_id\s*: ).*/\1GenuineIntel/" -e "s/^(cpu family\s*: ).*/\16/" \
                -e "s/^(model\s*: ).*/\1$model/" /proc/cpuinfo >"$dir/$name.cpuinfo" &&
                mount --bind "$dir/$name.cpuinfo" /proc/cpuinfo || exit 125
        fi
        read_zero >"$dir/$name.zero"
        "$@" || exit
        read_zero >>"$dir/$name.zero"' "$1" "$2" "$3" "${@:4}" -t $INTERVAL -f json -o "$1/$2.json" \
        sleep $((SECONDS_RUN + SHIFT)) 2>"$1/$2.err" 3>&-
}

# Numbers with a point, whatever the locale is.
calculate() { # AWK-ARGUMENT...
    LC_ALL=C awk "$@"
}

# When the measurement began in the simulation [s]; fails where somebody set the clock meanwhile.
began() { # DIR/NAME
    calculate -v start="$(jq -r '.start | sub("\\.[0-9]+Z$"; "Z") | fromdate' "$1.json")" \
        -v fraction="$(jq -r '.start | capture("\\.(?<f>[0-9]+)Z$").f' "$1.json")" '
        { zero[NR] = $1; width[NR] = $2 }
        END {
            moved = zero[2] - zero[1]
            printf "%.6f\n", start - int(zero[1] / 1e6) + ("0." fraction) - zero[1] % 1e6 / 1e6
            exit NR != 2 || moved > width[1] + width[2] || -moved > width[1] + width[2]
        }' "$1.zero"
}

# Did nothing keep it waiting? The record tells by its longest gap, and by the ends that its components
# have not covered, but for one that was lost.
was_quiet() { # DIR/NAME
    jq -e --argjson quiet "$QUIET_S" '([.components[].period_longest_s] | max) <= 2 * .components[0].interval_s and
        ([.components[] | select(has("reason") | not) | [.events[]?.covered_s] | max] as $covered |
            .elapsed_s - ($covered | min) < $quiet and ($covered | max) - .elapsed_s < $quiet)' "$1.json" >/dev/null
}

# Leaves what measure_once does, and NAME.shift. Measure until a run was quiet, or at most $ATTEMPTS times. All that happens must lie within the run:
# put it off where the measurement begins after the first second.
measure() { # DIR NAME SPEC-FUNCTION MODEL ATIME-AND-OPTION...
    local attempt start late=0

    for ((attempt = 1; attempt <= ATTEMPTS || late > 0 && attempt <= 2 * ATTEMPTS; attempt++)); do
        "$3" >"$1/$2.spec"
        measure_once "$1" "$2" "${@:4}" || return
        late=1
        start=$(began "$1/$2") || continue
        if ((10#${start%.*} >= SHIFT + 1)); then
            SHIFT=$((2 * SHIFT + 2))
            continue
        fi
        late=0
        echo "$SHIFT" >"$1/$2.shift"
        ! was_quiet "$1/$2" || return 0
    done
    if ((late > 0)); then
        echo "# $2: the clock was set in each run, or each began after what was to happen in it" >&3
        return 1
    fi
    echo "# $2: none of $((attempt - 1)) runs was quiet: bounded by its own uncertainty only" >&3
}

# Of the event of a zone in DIR/NAME.json: what the jq expression says. A zone may be an event's name.
event() { # DIR/NAME ZONE EXPRESSION
    local name=powercap:::ENERGY_UJ:ZONE0${2/:/_SUBZONE}

    [[ $2 != *:::* ]] || name=$2
    jq -r --arg name "$name" ".components[].events[]? | select(.name == \$name) | $3" "$1.json"
}

# The energy while it was measured [J], the greatest power [W], and what the clocks leave open [s].
truth() { # DIR/NAME SHAPE NUMBER...
    local from

    from=$(began "$1") || { echo "the clock was set" >&2 && return 1; }
    calculate -v from="$from" -v elapsed="$(jq .elapsed_s "$1.json")" -v shape="$2" \
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
        NR == 1 {
            greatest = shape == "constant" ? a : shape == "ramp" ? a + b * (from + elapsed) : b
            printf "%.6f %.3f %.6f\n", energy(from + elapsed) - energy(from), greatest, \
                shape == "constant" ? 0 : $2 / 2e6
        }' "$1.zero"
}

# Is the energy of a zone the truth, and does the record know how far it is? It says how much may be
# missing, at the power of the ends; a counter is updated each millisecond, and the power may be at its
# greatest then. In a quiet run the energy, what is covered and the uncertainty are bounded: to 0.1 %,
# to a few milliseconds and, if the counter started again (LOST 1), to one gap between readings. The
# uncertainty may be twice that: no record says how long a reading took, within which the processor can be lost.
true_energy() { # DIR/NAME ZONE LOST SHAPE NUMBER...
    local facts expected greatest clock quiet=0

    facts=$(jq -r --arg name "$(event "$1" "$2" .name)" '.components[] | .interval_s as $interval |
        .events[]? | select(.name == $name) |
        "\(.raw_total * .scale) \(.uncertainty_j) \(.covered_s) \(.update_s // $interval)"' "$1.json")
    read -r expected greatest clock < <(truth "$1" "${@:4}") || return
    ! was_quiet "$1" || quiet=1
    calculate -v t="$expected" -v w="$greatest" -v clock="$clock" -v lost="$3" -v quiet=$quiet \
        -v elapsed="$(jq .elapsed_s "$1.json")" -v gap="$(jq '[.components[].period_longest_s] | max' "$1.json")" \
        -v update=$UPDATE_S -v ends=$QUIET_S -v zone="${1##*/} $2" '
        {
            error = $1 - t
            size = error < 0 ? -error : error
            loss_s = lost * (gap + ends)
            mean = t / elapsed
            tolerance = $2 * w / mean + w * (update + clock)
            printf "%s: %.4f J, truth %.4f J, %+.3f %%, uncertainty %.4f J, %.1f of %.1f ms not covered%s\n",
                zone, $1, t, error / t * 100, $2, (elapsed - $3) * 1e3, elapsed * 1e3, quiet ? "" : ", not quiet"
            good = size <= tolerance && $2 > 0 && $3 > 0
            if (quiet)
                good = good && error <= t / 1000 + w * update && -error <= t / 1000 + w * (update + loss_s) &&
                    $2 <= 2 * w * (2 * $4 + ends + loss_s) && elapsed - $3 <= ends + loss_s
        }
        END { exit !(NR == 1 && good) }' <<<"$facts"
}

# Is each reading of a zone accounted for? The package has had as many, and all of them were good. One
# that finds a counter that has caught up need not be a sample.
all_readings_count() { # DIR/NAME ZONE
    local zone all stalls

    zone=$(event "$1" "$2" '"\(.samples + (.failed // 0) + (.refused // 0) + (.resets // 0)) \(.stalls // 0)"')
    read -r all stalls <<<"$zone"
    zone=$(event "$1" '' .samples)
    [[ -n $zone ]] || zone=$(event "$1" "$REGISTER" '.samples + (.failed // 0)')
    ((all == zone || all == zone - stalls)) || {
        echo "zone $2: $all readings of $zone"
        return 1
    }
}

# Are the incidents of a zone these and no others? Words such as wraps=1 failed=3..5; failed=19-..22:
# 19 less the ticks that were missed.
incidents() { # DIR/NAME ZONE WORD...
    local all expected actual key least word missed

    missed=$(jq '[.components[].missed // 0] | add' "$1.json")
    all=$(event "$1" "$2" \
        '"failed=\(.failed // 0) wraps=\(.wraps // 0) resets=\(.resets // 0) refused=\(.refused // 0) gaps=\(.gaps // 0) stalls=\(.stalls // 0)"')
    [[ -n $all ]] || { echo "zone $2 is not there" && return 1; }
    for actual in $all; do
        key=${actual%%=*}
        expected=0..0
        for word in "${@:3}"; do
            [[ ${word%%=*} != "$key" ]] || expected=${word#*=}
        done
        actual=${actual#*=}
        least=${expected%..*}
        [[ $least != *- ]] || least=$((${least%-} - missed))
        if ((actual < least || actual > ${expected#*..})); then
            echo "zone $2: $key is $actual, not $expected with $missed ticks missed; all: $all"
            return 1
        fi
    done
}

# How often a counter wraps that holds so many joules, by the energy that went through it. It may wrap
# unseen, and says so, while ticks are missed.
wraps_each() { # DIR/NAME ZONE JOULES
    event "$1" "$2" ".raw_total * .scale / $3 | floor | \"wraps=\(.)..\(. + 1)\""
    jq -r '"gaps=0..\([.components[].missed // 0] | add)"' "$1.json"
}

# The expected result for each zone of the two specs above: the interval in which a reset happened is
# not counted; whatever else goes wrong costs nothing once it is over. In a second are 20 ticks; one
# before it may be late.
CASES='
shapes||0|constant 100|
shapes|:0|0|ramp 50 40|
shapes|:1|0|square 20 180 0.7|
shapes|:2|0|constant 400|each=500
shapes|:3|0|constant 400|wraps=1
incidents||0|constant 100|
incidents|:0|1|constant 110|resets=1
incidents|:1|0|constant 120|stalls=1
incidents|:2|0|constant 130|failed=19-..22
incidents|:3|0|constant 140|failed=19-..22
incidents|:4|0|constant 150|refused=1..3
incidents|:5|0|constant 160|failed=19-..22'

# Do the cases of that spec come out right?
check() { # DIR/NAME SPEC
    local spec zone lost shape words wrong=0 tried=0

    while IFS='|' read -r spec zone lost shape words; do
        [[ $spec == "$2" ]] || continue
        tried=$((tried + 1))
        [[ $words != each=* ]] || words=$(wraps_each "$1" "$zone" "${words#*=}")
        # shellcheck disable=SC2086 # words
        true_energy "$1" "$zone" "$lost" $shape && incidents "$1" "$zone" $words &&
            all_readings_count "$1" "$zone" || wrong=1
    done <<<"$CASES"
    ((tried > 0 && wrong == 0))
}
