#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail

usage() {
    cat <<END
usage: test/fuzz/run.sh [RUNS | SECONDSs]
Fuzz the parsers of event definitions, event lists, intervals, apapi.conf, parcels and records: 20000 inputs each, or RUNS, or
for SECONDS each ("60s"). Exit status: 0 nothing found, 1 something found, 77 no libFuzzer here.
What is found, and new inputs, lie in build/fuzz.
END
}

amount=${1:-20000}
case $amount in
-h | --help) usage; exit 0 ;;
esac
if [[ ! $amount =~ ^[0-9]+s?$ ]]; then
    usage >&2
    exit 2
fi
limit=-runs=$amount
[[ $amount != *s ]] || limit=-max_total_time=${amount%s}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$here"
flags=(-std=c11 -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer
    "-fsanitize=fuzzer,address,undefined" -fno-sanitize-recover=all -Icore -Icore/include -Itest
    '-DAPAPI_CONFIG_DIR="/c"' '-DAPAPI_ACCT_DIR="/a"' '-DAPAPI_LIBEXEC_DIR="/l"' '-DAPAPI_SPOOL_DIR="/s"')
declare -A sources=(
    [eventops]="core/events/*.c core/measure/error.c core/measure/event.c"
    [eventlist]="core/events/*.c core/measure/error.c core/measure/event.c"
    [interval]="core/measure/interval.c core/measure/error.c"
    [config]="core/config/config.c core/config/file.c core/config/filename.c core/config/ini.c
        core/config/values.c core/events/nearest.c core/measure/interval.c core/measure/error.c"
    [parcel]="core/channel/parcel.c"
    [record]="core/record/copy.c core/record/decode.c core/record/encode.c core/record/fields*.c core/record/json_*.c
        core/record/measurement.c core/record/shorten.c core/record/text.c core/record/timeline.c core/record/timestamp.c
        core/measure/*.c -ljansson -lm")

has_libfuzzer() {
    command -v clang >/dev/null &&
        echo 'int LLVMFuzzerTestOneInput(const char *i, unsigned long s) { return i && s ? 0 : 0; }' |
        clang -x c -fsanitize=fuzzer -o build/fuzz/probe - 2>/dev/null
}

fuzz() { # NAME
    local dir=build/fuzz/$1
    mkdir -p "$dir/corpus" || return 1
    # shellcheck disable=SC2086 # a list of patterns and libraries
    clang "${flags[@]}" "test/fuzz/fuzz_$1.c" ${sources[$1]} -o "$dir/fuzz_$1" || return 1
    if "$dir/fuzz_$1" "$limit" -dict="test/fuzz/$1.dict" -max_len=2048 -timeout=10 \
        -print_final_stats=1 -artifact_prefix="$dir/" "$dir/corpus" "test/fuzz/corpus/$1" \
        >"$dir/log" 2>&1; then
        printf '%-10s %s executions, nothing found\n' "$1" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log")"
    else
        printf '%-10s FOUND SOMETHING, see %s/log\n' "$1" "$dir"
        tail -n 40 "$dir/log"
        return 1
    fi
}

mkdir -p build/fuzz
exec {lock}>build/fuzz/lock
flock "$lock" # one at a time: they write the same files
if ! has_libfuzzer; then
    echo "skipped: clang has no libFuzzer here"
    exit 77
fi
status=0
for name in eventops eventlist interval config parcel record; do
    fuzz "$name" || status=1
done
exit $status
