# SPDX-License-Identifier: BSD-3-Clause
# For truth.bats, truth_papi.bats and others: meters whose truth is known, and what atime says of them.
#
# One simulated package holds several zones, each with another power and another incident, so that one run of a few seconds
# tries them all. Each power is constant: test/simulation has those that change.
#
# However busy the machine is, an energy must be as near to the truth as its own record says. Where the record says that the
# run was quiet, it must be right within fixed bounds, too; a run that was not is repeated a few times.

load ../environment
load kept

readonly RANGE_UJ=262143328850 # of the counters of most Intel processors
readonly REAL_RANGE_UJ=65532610987 # of AMD's and of older Intel ones
readonly SMALL_RANGE_UJ=500000000 # wraps every 1.25 s at 400 W
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

# Did nothing keep it waiting? The record tells by its longest gap, and by the ends that its components
# have not covered, but for one that was lost.
was_quiet() { # DIR/NAME
    jq -e --argjson quiet "$QUIET_S" '([.components[].period_longest_s] | max) <= 2 * .components[0].interval_s and
        ([.components[] | select(has("reason") | not) | [.events[]?.covered_s] | max] as $covered |
            .elapsed_s - ($covered | min) < $quiet and ($covered | max) - .elapsed_s < $quiet)' "$1.json" >/dev/null
}

# Measure simulations until a run was quiet, or $ATTEMPTS times. Leaves NAME.json and NAME.err. All that happens must lie within
# the run: it is put off where the measurement began after the first second, by the clock at the end of the run.
measure() { # DIR NAME SPEC-FUNCTION ATIME-AND-OPTION...
    local attempt late

    for ((attempt = 1; attempt <= 2 * ATTEMPTS; attempt++)); do
        "$3" >"$1/$2.spec"
        # shellcheck disable=SC2016 # for another shell
        "$repository/scripts/sim" --packages 0 --spec "$1/$2.spec" -- bash -c '"$@" && cat /sys/class/powercap/clock >"$0"' "$1/$2.clock" \
            "${@:4}" -t $INTERVAL -f json -o "$1/$2.json" sleep $((SECONDS_RUN + SHIFT)) 2>"$1/$2.err" 3>&- || return
        late=$(jq --argjson clock_us "$(<"$1/$2.clock")" "\$clock_us / 1e6 - .elapsed_s >= $((SHIFT + 1))" "$1/$2.json")
        [[ $late == false ]] || { SHIFT=$((2 * SHIFT + 2)) && continue; }
        ! was_quiet "$1/$2" || return 0
        ((attempt < ATTEMPTS)) || break
    done
    [[ $late == false ]] || { echo "# $2: each run began after what was to happen in it" >&3 && return 1; }
    echo "# $2: none of $attempt runs was quiet: bounded by its own uncertainty only" >&3
}

# Of the event of a zone in DIR/NAME.json: what the jq expression says. A zone may be an event's name.
event() { # DIR/NAME ZONE EXPRESSION
    local name=powercap:::ENERGY_UJ:ZONE0${2/:/_SUBZONE}

    [[ $2 != *:::* ]] || name=$2
    jq -r --arg name "$name" ".components[].events[]? | select(.name == \$name) | $3" "$1.json"
}

# Is the energy of a zone the truth, and does the record know how far it is? It says how much may be missing, at the power of
# the ends; a counter is updated each millisecond. In a quiet run the energy, what is covered and the uncertainty are bounded:
# to 0.1 %, to a few milliseconds and, if the counter started again (LOST 1), to one gap between readings. The uncertainty may
# be twice that: no record says how long a reading took, within which the processor can be lost; or more where the record says
# that it is rough, as after a probe that was held up.
true_energy() { # DIR/NAME ZONE WATTS [LOST]
    local quiet=false

    ! was_quiet "$1" || quiet=true
    jq -e --arg name "$(event "$1" "$2" .name)" --argjson w "$3" --argjson lost "${4:-0}" --argjson update $UPDATE_S \
        --argjson ends $QUIET_S --argjson quiet $quiet '
        .elapsed_s as $s | ($lost * ([.components[].period_longest_s] | max + $ends)) as $lost_s |
        .components[] | .interval_s as $interval | .events[]? | select(.name == $name) |
        (.raw_total * .scale - $w * $s) as $error | .uncertainty_j > 0 and .covered_s > 0 and
        ($error | fabs) <= .uncertainty_j + $w * $update and (($quiet | not) or
            $error <= $w * ($s / 1000 + $update) and 0 - $error <= $w * ($s / 1000 + $update + $lost_s) and
            (.rough or .uncertainty_j <= 2 * $w * (2 * (.update_s // $interval) + $ends + $lost_s)) and $s - .covered_s <= $ends + $lost_s)' \
        "$1.json" >/dev/null || {
        echo "zone $2 is not that of $3 W for $(jq .elapsed_s "$1.json") s, quiet: $quiet: $(event "$1" "$2" .)"
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
