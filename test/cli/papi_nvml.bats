#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# GPUs through PAPI's own nvml component, with a stand-in for NVIDIA's library.

# bats file_tags=long
load truth.bash
load papi_common.bash

setup_file() {
    [[ ${APAPI_TEST_BUILD:-} != *san ]] || skip_all 'tried with the usual build' || return 0
    need_papi papi-prefix
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    grep -q nvmlInit "$repository/build/papi-prefix/lib/libpapi.so" ||
        skip_all 'this PAPI has no nvml: the package libnvidia-ml-dev cannot be had here' || return 0
    build_with_newer
}

setup() {
    skip_if_all_are
    atime=$repository/build/papi/core/atime/atime
    export LD_LIBRARY_PATH=$repository/build/papi/test/fake/gpu APAPI_SOURCES=papi
    export FAKE_GPUS=$BATS_TEST_TMPDIR/gpus
    unset APAPI_GPUS SLURM_STEP_GPUS SLURM_JOB_GPUS
}

measure_gpus() { # SPEC SECONDS [FILE that appears after half of them]
    # shellcheck disable=SC2059 # lines
    printf "$1" >"$FAKE_GPUS"
    run -0 --separate-stderr "$atime" -c nvml -t 50ms -f json sh -c 'sleep "$0"; touch "$2"; sleep "$1"' \
        "$(jq -n "$2 / 2")" "$(jq -n "$2 / 2")" "${3:-/dev/null}"
    keep_records
    echo "$stderr"
}

holds() { # EXPRESSION, in which gpu(N; WORD) is an event of a GPU
    jq -e 'def gpu($n; $word): .components[0].events[] | select(.name | endswith("device_\($n):\($word)"));
        '"$1" <<<"$stderr"
}

@test "nvml: each GPU's own power, its units, and the energy from it" {
    measure_gpus 'gpu power_w=250 uuid=GPU-a minor=0\ngpu power_w=400 uuid=GPU-b minor=1\n' 0.5
    holds '.components[0].source | test("^PAPI [0-9.]+ nvml, power integrated$")'
    holds 'gpu(0; "power") | .mean == 250 and .unit == "W"'
    holds 'gpu(1; "power") | .mean == 400 and .unit == "W"'
    holds 'gpu(1; "temperature") | .mean == 50 and .unit == "C"'
    holds 'gpu(1; "sm_clock") | .mean == 1.1e9 and .unit == "Hz"'
    holds '.domains.gpu.mean_w == 650'
}

@test "nvml: CUDA_VISIBLE_DEVICES hides nothing" {
    export CUDA_VISIBLE_DEVICES=1
    measure_gpus 'gpu power_w=250 uuid=GPU-a minor=0\ngpu power_w=400 uuid=GPU-b minor=1\n' 0.3
    holds '.domains.gpu.mean_w == 650'
}

# PAPI then fails for all of them and leaves its values as they were.
@test "nvml: where one GPU is lost, nothing stale is taken for a value" {
    measure_gpus 'gpu power_w=250 uuid=GPU-a minor=0\ngpu power_w=400 uuid=GPU-b minor=1 lost_with='"$BATS_TEST_TMPDIR/lost"'\n' 3 "$BATS_TEST_TMPDIR/lost"
    holds '.elapsed_s as $elapsed | gpu(0, 1; "power") | .samples > 2 and .failed > 0 and .covered_s < $elapsed - 1'
    holds 'gpu(0; "power").mean == 250 and gpu(1; "power").mean == 400'
}

@test "nvml: a library that does not start is a reason" {
    measure_gpus 'library fail=Init_v2:9\n' 0.1
    [[ $stderr == *'"reason":"'* ]]
}

@test "nvml: PAPI's component comes last; its names and units are those of NVML's own" {
    local two='gpu power_w=250 uuid=GPU-a minor=0\ngpu power_w=400 uuid=GPU-b minor=1\n'
    local names='[.components[].events[] | select(.kind != "energy") | [.name, .unit, .kind, .domain, .scale]] | sort'

    unset APAPI_SOURCES
    measure_gpus "$two" 0.3
    holds '.components[0].source | startswith("NVML ")'
    jq "$names" <<<"$stderr" >"$BATS_TEST_TMPDIR/own"
    export APAPI_SOURCES=papi
    measure_gpus "$two" 0.6
    holds '.components[0].source | test("^PAPI [0-9.]+ nvml, power integrated$")'
    jq -e --slurpfile own "$BATS_TEST_TMPDIR/own" "\$own[0] - ($names) == []" <<<"$stderr"
    export APAPI_GPUS=1
    measure_gpus "$two" 0.3
    holds ".components[0].reason == \"PAPI's nvml cannot leave GPUs out\""
}

@test "nvml: beside another one of PAPI's components" {
    printf 'gpu power_w=250 uuid=GPU-a minor=0\ngpu power_w=400 uuid=GPU-b minor=1\n' >"$FAKE_GPUS"
    run -0 --separate-stderr "$atime" -c net:nvml -t 50ms -f json sleep 0.6
    keep_records
    jq -e '(.components[0].source | test("^PAPI [0-9.]+ net$")) and .domains.gpu.mean_w == 650' <<<"$stderr"
}
