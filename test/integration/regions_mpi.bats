#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=long
# Regions of the ranks of an MPI program (Open MPI) on two nodes.

load common

# Nodes have folders of their own for PMIx, as machines have.
setup_file() {
    start_simulated_cluster --extra "TmpFS=$BATS_FILE_TMPDIR/cluster/tmp-%n"
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    mkdir -m 755 "$APAPI_CLUSTER_DIR/tmp-n1" "$APAPI_CLUSTER_DIR/tmp-n2"
    command -v mpicc >/dev/null || { export APAPI_SKIP_ALL='no mpicc'; return 0; }
    mpicc -Wall -Wextra -Werror -I "$install/include" "$BATS_TEST_DIRNAME/regions_mpi.c" -o "$APAPI_CLUSTER_DIR/ranks" \
        -L "$install/lib" -lapapi "-Wl,-rpath,$install/lib"
}

setup() {
    common_setup
    make_work
}

# The ranks in the records of all steps of the last job.
right_records() {
    local file=$BATS_TEST_TMPDIR/records
    { records n1; records n2; } >"$file"
    jq -es '[.[] | select(.job == $job) | select(.regions)] as $records | ($records | map(.node) | sort == ["n1", "n2"]) and
        ([$records[].regions[] | select(.name == "computation") | .programs] == [2, 2]) and
        ([$records[].regions[] | select(.name // "" | startswith("computation/rank ")) | .name] | sort ==
            [range(4) | "computation/rank \(.) of 4"]) and ([$records[].foms[0].value] == [20, 20])' \
        --argjson job "$(jq -s 'max_by(.job).job' "$file")" "$file"
}

@test "ranks that srun starts through PMIx" {
    run --separate-stderr as_alice srun -N2 --ntasks-per-node=2 --mpi=pmix --apapi=rapl "$APAPI_CLUSTER_DIR/ranks"
    echo "$output$stderr"
    [[ $status == 0 && $output == $'done\ndone\ndone\ndone' ]]
    right_records
}

@test "ranks that mpirun starts in a job" {
    cat >"$BATS_TEST_TMPDIR/job" <<END
#!/bin/sh
mpirun -n 4 --map-by ppr:2:node '$APAPI_CLUSTER_DIR/ranks'
END
    run alice_sh "sbatch_wait -N2 --ntasks-per-node=2 --apapi=rapl --output='$work/log'" <"$BATS_TEST_TMPDIR/job"
    cat "$work/log"
    [[ $status == 0 && $(<"$work/log") == $'done\ndone\ndone\ndone'* ]]
    right_records
}
