# SPDX-License-Identifier: BSD-3-Clause
# Shared by the tests of atime and apapi; for `load`.

load ../environment
load kept

sim() { "$repository/scripts/sim" "$@"; }

needs_sim() {
    sim -- true || skip "no simulated hardware here: see scripts/sim"
}

gpus() { # LINES: what the stand-ins have, see test/fake/gpu/gpu_spec.h
    local folder=$build/test/fake/gpu
    export FAKE_GPUS=$BATS_TEST_TMPDIR/gpus
    export APAPI_NVML_LIBRARY=$folder/libnvidia-ml.so.1
    export APAPI_ROCM_SMI_LIBRARY=$folder/librocm_smi64.so.7 APAPI_AMD_SMI_LIBRARY=$folder/libamd_smi.so.26
    unset APAPI_GPUS SLURM_STEP_GPUS SLURM_JOB_GPUS
    printf '%b' "$1" >"$FAKE_GPUS"
}

# A PAPI like the original's: components maxeler, micknc and ipmi, and old names of the others.
old_papi() {
    export APAPI_PAPI_LIBRARY=$build/test/fake/papi/libfake_papi.so
    export FAKE_PAPI_EVENTS=$repository/config/legacy/default_eventops.csv
    [[ -e $APAPI_PAPI_LIBRARY ]] || skip 'built without PAPI'
}

install_tree() { # OPTION OF CMAKE...
    cmake --install "$repository/build/release" "$@" >"$BATS_FILE_TMPDIR/install.log" 2>&1 ||
        { tail -n 20 "$BATS_FILE_TMPDIR/install.log"; return 1; }
}

# Does an energy fit its power? A reading is of some instant between its beginning and its end, so it is
# no less than in the covered and no more than in the whole time, but for one update of the meter at each end.
energy_fits() { # ENERGY_J WATTS COVERED_S ELAPSED_S [UPDATE_S]
    LC_ALL=C awk -v j="$1" -v w="$2" -v covered="$3" -v elapsed="$4" -v update="${5:-0.001}" 'BEGIN {
        exit !(j >= w * (covered - update) - 1e-6 && j <= w * (elapsed + update) + 1e-6 && covered > 0) }' || {
        echo "$1 J are not those of $2 W in $3 to $4 s"
        return 1
    }
}

# The same of a domain of a record, by its own uncertainty.
domain_fits() { # DOMAIN WATTS RECORD [UPDATE_S]
    jq -e --arg name "$1" --argjson w "$2" --argjson update "${4:-0.001}" '.elapsed_s as $elapsed |
        (if $name == "total" then .total + {uncertainty_j: .trust.uncertainty_j} else .domains[$name] end) |
        (.energy_j - $w * $elapsed | fabs) <= .uncertainty_j + $w * $update' <<<"$3" >/dev/null || {
        jq -c '[.elapsed_s, .total, .trust, .domains]' <<<"$3"
        echo "$1 is not that of $2 W"
        return 1
    }
}

close_to() { # VALUE TRUTH TOLERANCE
    LC_ALL=C awk -v v="$1" -v t="$2" -v r="$3" 'BEGIN { exit !(v > t * (1 - r) && v < t * (1 + r)) }' || {
        echo "$1 is not $2"
        return 1
    }
}
