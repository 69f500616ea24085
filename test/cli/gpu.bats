#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# GPUs through stand-ins for the vendors' libraries, whose truth is known: energy is power x time.

load atime_common

amd() { # LINES: the same with what AMD's kernel driver shows
    gpus "$1"
    export APAPI_SYSROOT=$BATS_TEST_TMPDIR/root
    mkdir -p "$APAPI_SYSROOT"/sys/class/{kfd,drm}
}

measure() { # COMPONENT COMMAND...: JSON in $json; '' is what is measured by default
    run --separate-stderr "$atime" -f json -o "$BATS_TEST_TMPDIR/json" ${1:+-c "$1"} "${@:2}"
    keep_records "$BATS_TEST_TMPDIR/json"
    echo "$stderr"
    json=$(<"$BATS_TEST_TMPDIR/json")
    jq . <<<"$json"
}

# A number of a GPU's event of a kind.
number() { # GPU KIND KEY
    jq --arg n "$1" --arg kind "$2" '.components[].events[] | select(.kind == $kind) |
        select(.name | test("device[_=]" + $n + "(:|$)"))'"$3" <<<"$json"
}

# Is the energy of a GPU what its power gives in the time that it was read?
true_energy() { # GPU WATTS [UPDATE_S]
    energy_fits "$(number "$1" energy .total)" "$2" "$(number "$1" energy .covered_s)" "$(jq .elapsed_s <<<"$json")" "${3:-0.001}"
}

source_is() { # TEXT
    [[ $(jq -r '.components[0].source' <<<"$json") == "$1" ]]
}

@test "several GPUs: each its power x time, and the sum" {
    gpus 'gpu power_w=250\ngpu power_w=400\ngpu power_w=30 step_ms=20\n'
    measure nvml sleep 1.5
    [[ $status -eq 0 && -z $output ]]
    source_is 'NVML 12.535.104.05'
    true_energy 0 250
    true_energy 1 400
    true_energy 2 30 0.02
    domain_fits gpu 680 "$json"
    close_to "$(jq .total.energy_j <<<"$json")" \
        "$(jq '[.components[].events[] | select(.kind == "energy").total] | add' <<<"$json")" 0.0001
    jq -e '.trust.failed == 0 and .trust.stalls == 0 and .trust.covered > 0' <<<"$json"
}

@test "NVIDIA without an energy counter: the power is integrated, and the report says so" {
    gpus 'gpu power_w=250 counter=0\ngpu power_w=400 counter=0\n'
    measure nvml sleep 1
    source_is 'NVML 12.535.104.05, power integrated'
    [[ -z $(number 0 energy .name) ]]
    close_to "$(jq .domains.gpu.mean_w <<<"$json")" 650 0.01
    close_to "$(jq .domains.gpu.energy_j <<<"$json")" "$(jq "650 * ." <<<"$(number 0 power .covered_s)")" 0.01
}

@test "a GPU that was lost before the start: the others are not taken for all, unless they alone are asked for" {
    gpus ''
    gpus "gpu power_w=250 lost_with=$FAKE_GPUS\ngpu power_w=400\n"
    measure nvml sleep 0.5
    true_energy 1 400
    jq -e '.domains.gpu == null and .total == null and .trust.unknown_domains == ["gpu"] and .trust.failed > 0' <<<"$json"
    source_is 'NVML 12.535.104.05, 1 GPU not measured'
    export APAPI_GPUS=1
    measure nvml sleep 0.5
    domain_fits gpu 400 "$json"
    jq -e '.trust.failed == 0' <<<"$json"
}

@test "a power meter of a GPU that always shows 0 W: no energy, and the table says why" {
    gpus 'gpu power_w=0 counter=0\n'
    measure nvml sleep 0.3
    jq -e '.domains.gpu == null and .trust.unknown_domains == ["gpu"]' <<<"$json"
    run --separate-stderr "$atime" -c nvml sleep 0.3
    [[ ${stderr//$'\n    '/ } == *'device_0:power: never above 0 W, not counted'* ]]
}

# Which GPUs are measured, as in "0 2"?
measured() {
    "$atime" -f json -o "$BATS_TEST_TMPDIR/json" -c "${1:-nvml}" sleep 0.3
    jq -r '[.components[].events[]? | select(.kind == "energy").name |
        capture("device[_=](?<n>[0-9]+)").n] | join(" ")' "$BATS_TEST_TMPDIR/json"
}

@test "no driver: the reason, no other word, and PAPI is not loaded for it" {
    gpus ''
    unset APAPI_NVML_LIBRARY
    ! "$atime" -c nvml sleep 0.3 2>&1 | grep -q NVML || skip 'this machine has an NVIDIA driver'
    LD_DEBUG=libs LD_DEBUG_OUTPUT=$BATS_TEST_TMPDIR/loader run --separate-stderr "$atime" -c nvml:rocm_smi sleep 0.3
    [[ $status -eq 0 && $stderr == *'nvml: not measured (no NVIDIA driver: libnvidia-ml.so.1: cannot open shared'* ]]
    [[ $stderr == *'rocm_smi: not measured (no AMD GPU with a driver: there is no /sys/class/kfd)'* ]]
    [[ $(head -n 1 <<<"$stderr") == apapi:* ]]
    grep -q libnvidia-ml "$BATS_TEST_TMPDIR"/loader.*
    run ! grep -q 'libpapi\|librocm' "$BATS_TEST_TMPDIR"/loader.*
}

@test "a driver that starts slowly: waited for if it was named, 2 s at most" {
    gpus 'library init_ms=300\ngpu power_w=250\n'
    measure nvml sleep 0.5
    true_energy 0 250
    # the whole program, which did not begin before
    jq -e '.components[0].events[0].covered_s > 0.45' <<<"$json"
    gpus 'library init_ms=3000\ngpu power_w=250\n'
    measure nvml sleep 2
    true_energy 0 250
    jq -e '.program.elapsed_s - .components[0].events[0].covered_s > 0.3' <<<"$json"
}

@test "a driver that starts slowly does not hold the program up if nobody named it" {
    gpus 'library init_ms=1500\ngpu power_w=250\n'
    measure '' sleep 2.5
    # what another thread reads may be read later than all that counts as elapsed, by what the uncertainty says
    jq -e '.components[].events[]? | select(.kind == "energy") |
        .total >= 250 * (.covered_s - 0.001) and .total <= 250 * (.covered_s + 0.001) + .uncertainty_j' <<<"$json"
    jq -e --argjson covered "$(number 0 energy .covered_s)" '.program.elapsed_s - $covered > 0.6' <<<"$json"
}

@test "a program of a few milliseconds" {
    gpus 'library init_ms=100\ngpu power_w=250\n'
    measure nvml true
    [[ $(jq .components[0].events[0].samples <<<"$json") -ge 1 ]]
    true_energy 0 250
}

@test "AMD GPUs by either library: energy, and power where there is no counter" {
    amd 'gpu power_w=300\ngpu power_w=500\n'
    for component in rocm_smi amd_smi; do
        measure $component sleep 0.6
        true_energy 1 500
        domain_fits gpu 800 "$json"
    done
    amd 'gpu power_w=300 counter=0\n'
    for component in rocm_smi amd_smi; do
        measure $component sleep 0.6
        close_to "$(jq .domains.gpu.mean_w <<<"$json")" 300 0.01
        [[ $(jq -r '.components[0].source' <<<"$json") == *', power integrated' ]]
    done
    amd 'gpu\ngpu\n'
    [[ $(APAPI_GPUS=1 measured rocm_smi) == 1 ]]
    [[ $(SLURM_STEP_GPUS=0 measured amd_smi) == 0 ]]
}
