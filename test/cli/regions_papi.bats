#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi regions and what PAPI itself writes, beside PAPI's own output writer.

# bats file_tags=long
load ../environment
load kept
load truth.bash
load papi_common.bash

setup_file() {
    need_papi papi-prefix
}

setup() {
    skip_if_all_are
    apapi=$repository/${APAPI_TEST_BUILD:-build/release}/core/cli/apapi
    prefix=$repository/build/papi-prefix
}

# Two threads; "outer" once, and in it 20 times "inner", which is also read.
build_program() {
    cat >"$BATS_TEST_TMPDIR/program.c" <<'END'
#include <papi.h>
#include <pthread.h>

static volatile double sum;

static void work(int size)
{
    for (int i = 0; i < size; i++) {
        sum += i * 0.5;
    }
}

static void *run(void *unused)
{
    PAPI_hl_region_begin("outer");
    for (int i = 0; i < 20; i++) {
        PAPI_hl_region_begin("inner");
        work(20000);
        PAPI_hl_read("inner");
        work(100000);
        PAPI_hl_region_end("inner");
    }
    PAPI_hl_region_end("outer");
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, run, NULL);
    run(NULL);
    return pthread_join(thread, NULL);
}
END
    cc -o "$BATS_TEST_TMPDIR/program" "$BATS_TEST_TMPDIR/program.c" -I"$prefix/include" -L"$prefix/lib" -lpapi -pthread \
        -Wl,-rpath,"$prefix/lib"
}

@test "counts and times of PAPI's regions are those of its own writer" {
    build_program
    cd "$BATS_TEST_TMPDIR"
    for rank in 0 1; do
        SLURM_PROCID=$rank PAPI_EVENTS=perf::TASK-CLOCK PAPI_OUTPUT_DIRECTORY=$BATS_TEST_TMPDIR/r$rank ./program
        [[ -e r$rank/papi_hl_output/rank_00000$rank.json ]] || skip 'PAPI cannot count here'
    done
    mkdir all
    mv r0/papi_hl_output/* r1/papi_hl_output/* all
    python3 "$prefix/bin/papi_hl_output_writer.py" --source_dir all --notation raw
    run -0 "$apapi" regions --inclusive -f json all
    jq -e --slurpfile theirs papi_sum.json '
        def ours($region): .regions[] | select(.region == $region);
        def near($a; $b): ($a - $b) * ($a - $b) <= 1e-12 * $b * $b;
        (ours("outer") | .count == 4 and .ranks == 2 and .threads == 4) and
        (ours("outer/inner") | .count == 80 and .count == $theirs[0].inner.region_count) and
        near(ours("outer/inner").time_s * 1e9; $theirs[0].inner.real_time_nsec.total) and
        near(ours("outer").time_s * 1e9; $theirs[0].outer.real_time_nsec.total) and
        near(ours("outer/inner").events["perf::TASK-CLOCK"]; $theirs[0].inner["perf::TASK-CLOCK"].total)' <<<"$output"
}
