#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail

usage() {
    cat <<END
usage: test/fuzz/run.sh [RUNS | SECONDSs] [PARSER]...
Fuzz the parsers (config, events, packet, record, regions, sacct, threshold; default: all of them) with 20000 inputs each, or
RUNS, or with others for SECONDS each ("60s"). Exit status: 0 nothing found, 1 something found, 2 wrong usage, 77 no libFuzzer here.
What is found, and new inputs, lie in build/fuzz.
END
}

amount=20000
case ${1:-} in
-h | --help) usage; exit 0 ;;
[0-9]*) amount=$1; shift ;;
esac
if [[ ! $amount =~ ^[0-9]+s?$ ]]; then
    usage >&2
    exit 2
fi
limit=(-runs="$amount" -seed=1) # always the same inputs
[[ $amount != *s ]] || limit=(-max_total_time="${amount%s}")

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$here"
flags=(-std=c11 -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer
    "-fsanitize=fuzzer,address,undefined" -fno-sanitize-recover=all -Icore -Icore/include -Itest
    '-DAPAPI_PREFIX="/p"' '-DAPAPI_VERSION="0"')
for folder in CONFIG ACCT SPOOL LIBEXEC DATA; do
    flags+=("-DAPAPI_${folder}_DIR=\"/p/$folder\"" "-DAPAPI_BELOW_$folder=\"$folder\"")
done
flags+=('-DAPAPI_BELOW_BIN="bin"' '-DAPAPI_BELOW_PLUGIN="lib"')
declare -A sources=(
    [events]="core/config/definitions.c core/config/event_files.c core/config/selection.c core/base/error.c core/base/lines.c core/base/nearest.c
        core/base/text.c core/base/files.c core/measure/event.c -lm"
    [config]="core/base/lines.c core/config/config.c core/config/filename.c core/config/installed.c core/base/nearest.c core/base/interval.c core/base/error.c core/base/files.c"
    [packet]="core/channel/channel.c core/channel/deadline.c"
    [regions]="core/record/*.c core/regions/observe/observe.c core/regions/message.c core/regions/page.c core/base/*.c core/measure/*.c -ljansson -lm -pthread"
    [threshold]="core/limit/grammar.c core/limit/site.c core/base/error.c core/base/interval.c core/base/nearest.c core/base/text.c
        core/measure/event.c"
    [sacct]="core/cli/show/sacct.c core/sum/members.c core/record/*.c core/base/*.c core/measure/*.c -ljansson -lm -pthread"
    [record]="core/record/*.c core/base/*.c core/measure/*.c -ljansson -lm -pthread")

# The parsers that are named, in the order of the words.
parsers=("$@")
((${#parsers[@]} > 0)) || parsers=(config events packet record regions sacct threshold)
for name in "${parsers[@]}"; do
    if [[ -z ${sources[$name]:-} ]]; then
        echo "run.sh: no parser is called '$name'" >&2
        usage >&2
        exit 2
    fi
done

has_libfuzzer() {
    command -v clang >/dev/null &&
        echo 'int LLVMFuzzerTestOneInput(const char *i, unsigned long s) { return i && s ? 0 : 0; }' |
        clang -x c -fsanitize=fuzzer -o /dev/null - 2>/dev/null
}

# If anything is newer than the program.
build() { # NAME
    local program=build/fuzz/$1/fuzz_$1
    [[ ! -e $program || -n $(find core test/fuzz -name '*.[ch]' -newer "$program") || $0 -nt $program ]] || return 0
    # shellcheck disable=SC2086 # a list of patterns and libraries
    clang "${flags[@]}" "test/fuzz/fuzz_$1.c" ${sources[$1]} -o "$program"
}

fuzz() { # NAME
    local dir=build/fuzz/$1 words=test/fuzz/$1.dict
    mkdir -p "$dir/corpus" || return 1
    exec {lock}>"$dir/lock"
    flock "$lock" # one at a time: they write the same files
    build "$1" || return 1
    [[ -e $words ]] || words= # the others' are found without
    if "$dir/fuzz_$1" "${limit[@]}" ${words:+-dict="$words"} -max_len=2048 -timeout=10 \
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
if ! has_libfuzzer; then
    echo "skipped: clang has no libFuzzer here"
    exit 77
fi
status=0
for name in "${parsers[@]}"; do
    fuzz "$name" || status=1
done
exit $status
