# SPDX-License-Identifier: BSD-3-Clause
# Part of scripts/test: the parts. A new part is a row of the table, and a case in jobs_of() and run_job().
# shellcheck shell=bash

# part | what it needs built | what it is. Started in this order: what works long and what waits long come first.
readonly parts_table='
analyze||clang-tidy (while build/dev is built, with warnings as errors), cppcheck, who includes and who calls whom, what the documents name
integration||a private, real Slurm
cli||the programs, with simulated hardware
asan|build/asan|unit tests with AddressSanitizer and UndefinedBehaviorSanitizer
tsan|build/tsan|unit tests that start threads, with ThreadSanitizer
fuzz||a short run of the fuzzers of each parser
unit||unit tests, as installed
history||100 000 random histories of a session in simulated time; how often uncertainties cover errors
shell||shellcheck
format||clang-format
abi||exported and imported symbols, sizes, the interface of libapapi, headers in C and C++
bench||the benchmarks run, quickly
'
readonly long_parts_table='
packages||.deb, .rpm and .tar.gz, and a clean Debian 12 in which they are installed, upgraded and purged
asan-cli|build/asan|the programs with AddressSanitizer and UndefinedBehaviorSanitizer
'
readonly named_parts_table='
slurm-energy||the energy plugin with the Slurm of other Debian releases
slurm-matrix||unit, abi and integration with the Slurm and the compiler of other Debian releases
'

# Sets usual_parts, long_parts, named_parts (words) and `needs` (part: build).
declare -A needs=()
read_table() { # VARIABLE TABLE
    local part need words=()
    while IFS='|' read -r part need _; do
        [[ -n $part ]] || continue
        words+=("$part")
        needs[$part]=$need
    done <<<"$2"
    printf -v "$1" %s "${words[*]}"
}
read_table usual_parts "$parts_table"
read_table long_parts "$long_parts_table"
read_table named_parts "$named_parts_table"

is_part() { [[ " $usual_parts $long_parts $named_parts " == *" $1 "* ]]; }

describe_parts() {
    awk -F'|' 'NF { printf "  %-12s %s\n", $1, $3 }' <<<"$parts_table"
    echo 'Only when named, or with all or long:'
    awk -F'|' 'NF { printf "  %-12s %s\n", $1, $3 }' <<<"$long_parts_table"
    echo 'Only when named:'
    awk -F'|' 'NF { printf "  %-12s %s\n", $1, $3 }' <<<"$named_parts_table"
}

# Sets `need`: the build that the job needs, if any. scripts/setup has made build/release.
find_need() { # JOB
    need=
    [[ $1 == build/* ]] || need=${needs[${1%%/*}]}
}

# --- which jobs a part has ----------------------------------------------------------------------

names_in() { # PATTERN: the files' names without folders
    local file
    for file in $1; do
        echo "${file##*/}"
    done
}

# These take longest: they are started first, so that none is left alone at the end.
readonly slow_files=(sync measure survive cluster_start collect cluster job ipmi gpu)

# Files of bats whose tests of the selection (usual, long, every) are not none.
bats_files() { # FOLDER
    local file tagged
    for file in $({ printf "test/$1/%s.bats\n" "${slow_files[@]}"; ls test/"$1"/*.bats; } | awk '!seen[$0]++'); do
        [[ -e $file ]] || continue
        tagged=$(grep -oE '^# bats (file|test)_tags=.*\blong\b' "$file" | cut -d= -f1 | sort -u)
        case $selection in
        usual) [[ $tagged != *file_tags* ]] || continue ;;
        long) [[ -n $tagged ]] || continue ;;
        esac
        echo "${file##*/}"
    done
}

readonly asan_files=(apapi_doctor apapi_export apapi_import apapi_list apapi_plot apapi_show atime atime_output
    atime_regions collect estimate events ipmi ms_common papi regions truth)

unit_tests() { names_in 'test/unit/test_*.c' | sed 's/\.c$//'; }

# Those that start threads, and for the long selection the others.
tsan_tests() {
    local invert=()
    [[ $selection != long ]] || invert=(-v)
    if [[ $selection == every ]]; then unit_tests; else unit_tests | grep "${invert[@]}" -xFf test/unit/threaded; fi
}

# Of the parts that have no long tests, but for those with suites of bats.
jobs_of_checker() { # PART
    case $1 in
    unit | asan) unit_tests ;;
    fuzz) names_in 'test/fuzz/fuzz_*.c' | sed -E 's/^fuzz_(.*)\.c$/\1/' ;;
    analyze) printf '%s\n' clang-tidy cppcheck rooms links docs ;;
    history) printf '%s\n' histories verify ;;
    shell) echo shellcheck ;;
    format) echo clang-format ;;
    abi) echo symbols ;;
    bench) printf '%s\n' quick libmeasure ;;
    esac
}

jobs_of() { # PART
    case $1 in
    cli | integration | packages) bats_files "$1" ;;
    tsan) tsan_tests ;;
    asan-cli) printf '%s.bats\n' "${asan_files[@]}" ;;
    slurm-matrix | slurm-energy) tr -s ' ' '\n' <<<"${APAPI_SLURM_SUITES:-trixie}" ;;
    *) [[ $selection == long ]] || jobs_of_checker "$1" ;;
    esac
}

# The names of a job's tests, a line each.
tests_of() { # JOB
    local name=${1#*/}
    case $1 in
    cli/* | integration/* | packages/*) sed -nE 's/^@test "(.*)" \{$/\1/p' "test/$1" ;;
    asan-cli/*) tests_of "cli/$name" ;;
    unit/* | asan/* | tsan/*)
        # the first word in brackets of each row in the table of tests
        sed -nE '/struct CMUnitTest .*\{/,/^ *\};/ s/^ *\w+\((\w+).*/\1/p' "test/unit/$name.c"
        ;;
    *) echo "$name" ;;
    esac
}

job_matches() { # JOB TEXT
    tests_of "$1" | grep -E -- "$2" >/dev/null # to the end: with -q it could end the writer
}

# For --filter: this test of the job and no other.
filter_for() { # JOB TEST
    case $1 in
    *.bats) sed -E 's/[][\\.*^$+?(){}|]/\\&/g; s/.*/^&$/' <<<"$2" ;;
    *) echo "$2" ;;
    esac
}

# --- how a job is run: prints TAP ---------------------------------------------------------------

run_job() { # JOB
    local part=${1%%/*} name=${1#*/}
    case $part in
    unit) run_unit release "$name" ;;
    asan | tsan) run_unit "$part" "$name" ;;
    cli | integration | packages) run_bats "test/$1" ;;
    asan-cli) selection=every APAPI_TEST_BUILD=build/asan run_bats "test/cli/$name" ;;
    slurm-matrix) in_release "$name" slurm_matrix ;;
    slurm-energy) in_release "$name" slurm_energy ;;
    *) as_tap "$name" check "$part" "$name" ;;
    esac
}

# A command as one test; its output stands above the result.
as_tap() { # NAME COMMAND...
    local status=0
    "${@:2}" || status=$?
    case $status in
    0) echo "ok 1 - $1" ;;
    77) echo "ok 1 - $1 # skip it says why above" ;;
    *) echo "not ok 1 - $1" ;;
    esac
    return $status
}

# Tests that wait for something go before compilers and analyzers.
check() { bounded nice -n 5 scripts/test.d/check "$@"; }

run_unit() { # PRESET NAME
    local program=build/$1/test/unit/$2
    if [[ ! -x $program ]]; then
        echo "ok 1 - $2 # skip it is not built here: a library is missing or left out"
        return
    fi
    CMOCKA_MESSAGE_OUTPUT=tap UNIT_FILTER=$filter bounded "$program"
}

# By way of the words in `launcher`. Some tests are for a Slurm newer than Debian 12's.
launcher=()
run_bats() { # FILE
    local words=(--formatter tap) tags=()
    [[ ${#launcher[@]} -gt 0 ]] || tags+=('!newer-slurm')
    [[ $selection != usual ]] || tags+=('!long')
    [[ $selection != long ]] || tags+=('long')
    [[ ${#tags[@]} -eq 0 ]] || words+=(--filter-tags "$(IFS=, && echo "${tags[*]}")")
    [[ -z $filter ]] || words+=(--filter "$filter")
    bounded "${launcher[@]}" bats "${words[@]}" "$1"
}

# Make the release, which is the first test; then FUNCTION, whose commands run there.
in_release() { # SUITE FUNCTION
    local log=build/test/$2-$1.log status=0
    scripts/slurm-matrix make "$1" >"$log" 2>&1 || status=$?
    if [[ $status == 125 ]]; then
        echo "ok 1 - make # skip $(tail -n 1 "$log" | sed 's/^slurm-matrix: //')"
        return
    fi
    launcher=(scripts/slurm-matrix run "$1")
    as_tap "make" sh -c "cat $log; exit $status" || return
    "$2"
}

slurm_matrix() {
    local status=0 file
    as_tap "unit, abi" "${launcher[@]}" ctest --test-dir build/release -L 'unit|abi' \
        --output-on-failure --no-tests=error || status=1
    for file in test/integration/*.bats; do
        run_bats "$file" || status=1
    done
    return $status
}

# Without the tests marked long: what they look for does not depend on the version of Slurm.
slurm_energy() {
    local selection=usual status=0 file
    for file in $(bats_files integration | grep '^energy'); do
        run_bats "test/integration/$file" || status=1
    done
    return $status
}
