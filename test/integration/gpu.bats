#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A step measures its own GPUs. Each node has two, one of 250 W and one of 400 W, by a stand-in for NVIDIA's
# library; Slurm takes /dev/null and /dev/zero for their device files.

load common

# Let every program on a node find the stand-in.
install_driver() { # NODE
    local folder=$APAPI_CLUSTER_DIR/gpus

    if [[ ! -d $folder ]]; then
        install -d "$folder"
        cp "$repository/${APAPI_TEST_BUILD:-build/release}/test/fake/gpu/libnvidia-ml.so.1" "$folder"
        printf '%s\n' 'gpu power_w=250 mig=MIG-1111' 'gpu power_w=400 mig=MIG-2222' >"$folder/fake-gpus"
        /sbin/ldconfig -C "$folder/loader" "$folder"
    fi
    cluster on "$1" mount --bind "$folder/loader" /etc/ld.so.cache
}

start_gpu_cluster() { # [ARGUMENTS OF scripts/cluster start]
    start_cluster "$@"
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    install_driver n1
    install_driver n2
    clear_logs # of the start
}

managed() { # ARGUMENTS: Slurm knows the GPUs
    printf 'Name=gpu File=/dev/null,/dev/zero\n' >"$BATS_FILE_TMPDIR/gres.conf"
    start_gpu_cluster --etc "$BATS_FILE_TMPDIR/gres.conf" \
        --extra 'GresTypes=gpu\nNodeName=n[1-2] CPUs=8 RealMemory=4000 Gres=gpu:2' "$@"
}

setup_file() {
    managed
}

source_of() { # RECORD
    jq -r '.components[0].source' <<<"$1"
}

@test "a step with one GPU measures that GPU" {
    as_alice srun -w n1 --gres=gpu:1 --apapi=nvml sleep 1
    record=$(last_record n1)
    holds "$record" 'near_w(.domains.gpu.mean_w; 250)'
    holds "$record" '[.components[0].events[].name | select(endswith("total_energy_consumption"))] ==
        ["nvml:::Fake_GPU:device_0:total_energy_consumption"]'
}

@test "two steps at a time measure one GPU each, a third both of both nodes after them" {
    begin_held_step 'sleep 1' -w n1 --gres=gpu:1 --exact -n1 --apapi=nvml
    first=$step
    begin_step -w n1 --gres=gpu:1 --exact -n1 --apapi=nvml sh -c "$until_over; sleep 1"
    both_run() { [[ $(helpers_on n1 | wc -l) -eq 2 && $(cluster on n1 pgrep -u alice -x -c sh) -eq 2 ]]; }
    eventually both_run
    release
    wait "$first" "$step"
    both=$(records n1 | tail -n 2 | jq -c -s 'sort_by(.domains.gpu.mean_w) | .[]')
    holds "$(head -n 1 <<<"$both")" 'near_w(.domains.gpu.mean_w; 250)'
    holds "$(tail -n 1 <<<"$both")" 'near_w(.domains.gpu.mean_w; 400)'
    run --separate-stderr as_alice srun -N2 --gres=gpu:2 --apapi=nvml sleep 1
    holds "$(last_record n1)" 'near_w(.domains.gpu.mean_w; 650)'
    holds "$(last_record n2)" 'near_w(.domains.gpu.mean_w; 650)'
    [[ $stderr == *'2 nodes'*'nvml (NVML 12.535.104.05)'* ]]
}

@test "what the user puts into the environment chooses nothing" {
    run as_alice SLURM_STEP_GPUS=1 SLURM_JOB_GPUS=0,1 APAPI_GPUS=all CUDA_VISIBLE_DEVICES=GPU-00000001 \
        srun -w n1 --gres=gpu:1 --apapi=nvml sleep 0.5
    holds "$(last_record n1)" 'near_w(.domains.gpu.mean_w; 250)'
    run as_alice SLURM_STEP_GPUS=1 CUDA_VISIBLE_DEVICES=1 srun -w n1 --apapi=nvml sleep 0.3
    holds "$(last_record n1)" '.components[0].reason == "the step has no GPU" and (.domains | has("gpu") | not)'
}

@test "a batch script measures the job's GPUs, its steps their own" {
    plugstack default=nvml
    sbatch_wait -w n2 --gres=gpu:2 -o /dev/null \
        --wrap 'srun --gres=gpu:1 sleep 0.6; srun --gres=none sleep 0.3; sleep 0.3'
    steps=$(records n2 | tail -n 3 | jq -s 'map({(.step): .}) | add')
    holds "$steps" '.batch | near_w(.domains.gpu.mean_w; 650)'
    holds "$steps" '.["0"] | near_w(.domains.gpu.mean_w; 250) or near_w(.domains.gpu.mean_w; 400)'
    holds "$steps" '.["1"].components[0].reason == "the step has no GPU"'
}

@test "atime in a step measures the step's GPU too" {
    run as_alice srun -w n1 --gres=gpu:1 --apapi=off \
        "$install/bin/atime" -c nvml -f json sleep 0.5
    holds "$output" 'near_w(.domains.gpu.mean_w; 250)'
}

# bats test_tags=long
@test "Slurm's parts of GPUs: the whole GPU, and the record says so" {
    cluster stop
    printf '(null)|8|0-7|(null)|/dev/%s|MIG-%s|nvidia_gpu_env\n' null 1111 zero 2222 >"$BATS_FILE_TMPDIR/fake_gpus.conf"
    managed --etc "$BATS_FILE_TMPDIR/fake_gpus.conf"
    as_alice srun -w n1 --gres=gpu:1 --apapi=nvml sleep 0.6
    record=$(last_record n1)
    holds "$record" 'near_w(.domains.gpu.mean_w; 250)'
    [[ $(source_of "$record") == 'NVML 12.535.104.05, whole GPU (MIG)' ]]
}

# bats test_tags=long
@test "where Slurm does not manage GPUs a step measures all of them" {
    cluster stop
    start_gpu_cluster
    as_alice SLURM_STEP_GPUS=1 srun -w n1 --apapi=nvml sleep 0.6
    record=$(last_record n1)
    holds "$record" 'near_w(.domains.gpu.mean_w; 650)'
    [[ $(source_of "$record") == 'NVML 12.535.104.05' ]]
}
