#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Regions by others' interfaces: programs marked for PAPI, LIKWID and Kokkos' tools (test/fake/regions), in Fortran and Python.

# shellcheck disable=SC2030,SC2031 # each test is a process of its own
load atime_common
load public

setup() {
    repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
    build=$repository/${APAPI_TEST_BUILD:-build/release}
    programs=$build/test/fake/regions
    apapi=$build/core/cli/apapi
    export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
    export PAPI_OUTPUT_DIRECTORY=$BATS_TEST_TMPDIR/out
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    leave_public
}

rank_file() {
    echo "$PAPI_OUTPUT_DIRECTORY"/papi_hl_output/rank_*.json
}

# Sums over all threads of the rank file.
region_sum() { # REGION EVENT
    jq --arg name "$1" --arg event "$2" '[.threads[].regions[] | select(.name == $name) | .[$event] | tonumber] | add' "$(rank_file)"
}

files_in() { # FOLDER
    find "$1" -mindepth 1 -maxdepth 1 | wc -l
}

needs_papi_programs() {
    [[ -x $programs/papi_hl_program ]] || skip 'built without PAPI'
}

@test "PAPI: a program compiled with our header has the time of its regions, and counts no events" {
    needs_papi_programs
    export PAPI_EVENTS=PAPI_TOT_INS
    run --separate-stderr -0 "$programs/papi_hl_program"
    [[ $output == "done" && $stderr == *'"never begun"'* ]]
    [[ $(region_sum computation real_time_nsec) -gt 0 && $(region_sum computation region_count) == 3 ]]
    [[ $(jq -c '.event_definitions' "$(rank_file)") == '{}' ]]
}

@test "PAPI: a program linked to libpapi has our regions with the library preloaded" {
    needs_papi_programs
    run -0 ldd "$programs/own_papi_hl_program"
    [[ $output == *libpapi.so* && $output != *libapapi* ]]
    plain_path "$build/core/regions/compat/libapapi_papi_hl.so"
    run --separate-stderr -0 env LD_PRELOAD="$plain" "$programs/own_papi_hl_program"
    [[ $output == "done" && $stderr == *'"never begun"'* ]]
    [[ $(region_sum computation real_time_nsec) -gt 0 && $(region_sum computation region_count) == 3 ]]
}

@test "PAPI: old output is renamed, not overwritten" {
    needs_papi_programs
    mkdir -p "$PAPI_OUTPUT_DIRECTORY/papi_hl_output"
    echo old >"$PAPI_OUTPUT_DIRECTORY/papi_hl_output/rank_000007.json"
    touch -d '2001-02-03 04:05:06' "$PAPI_OUTPUT_DIRECTORY/papi_hl_output"
    "$programs/papi_hl_program" >/dev/null
    [[ $(cat "$PAPI_OUTPUT_DIRECTORY"/papi_hl_output-????????-??????/rank_000007.json) == old ]]
    [[ $(jq '.threads | length' "$(rank_file)") -ge 1 ]]
}

# Eight ranks at a time.
run_ranks() { # STEP
    local rank
    for rank in {0..7}; do
        SLURM_JOB_ID=17 SLURM_STEP_ID=$1 SLURM_PROCID=$rank "$programs/likwid_program" >/dev/null &
    done
    wait
}

@test "the ranks of a step write into one folder; the next step's have a folder of their own" {
    run_ranks 0
    [[ $(ls "$PAPI_OUTPUT_DIRECTORY") == papi_hl_output && $(ls "$PAPI_OUTPUT_DIRECTORY/papi_hl_output") == "$(printf 'rank_%06d.json\n' {0..7})" ]]
    run_ranks 0 # a second program of each rank replaces nothing
    [[ $(ls "$PAPI_OUTPUT_DIRECTORY") == papi_hl_output && $(files_in "$PAPI_OUTPUT_DIRECTORY/papi_hl_output") == 16 ]]
    run_ranks 1
    [[ $(files_in "$PAPI_OUTPUT_DIRECTORY") == 2 ]]
    run -0 grep -l '"run": "slurm 17.0"' -r "$PAPI_OUTPUT_DIRECTORY"
    [[ ${#lines[@]} == 16 && $output == *papi_hl_output-????????-??????/rank_000007.json* ]]
    run -0 grep -l '"run": "slurm 17.1"' -r "$PAPI_OUTPUT_DIRECTORY/papi_hl_output"
    [[ ${#lines[@]} == 8 ]]
}

@test "the child of a fork has a file of its own in its parent's folder" {
    module=$repository/build/install/lib/python3/dist-packages
    [[ -e $module/apapi/__init__.py ]] || skip 'not installed'
    cat >fork.py <<'EOF'
import apapi, os
with apapi.region("parent"):
    pass
child = os.fork()
with apapi.region("child" if child == 0 else "parent"):
    pass
if child:
    os.waitpid(child, 0)
EOF
    PYTHONPATH=$module PYTHONDONTWRITEBYTECODE=1 SLURM_PROCID=3 run --separate-stderr -0 python3 fork.py
    [[ -z $stderr && $(ls "$PAPI_OUTPUT_DIRECTORY") == papi_hl_output && $(files_in "$PAPI_OUTPUT_DIRECTORY/papi_hl_output") == 2 ]]
    run -0 jq -s -c '[.[].threads[].regions[] | {(.name): .region_count}] | sort' "$PAPI_OUTPUT_DIRECTORY"/papi_hl_output/rank_*.json
    [[ $output == '[{"child":"1"},{"parent":"2"}]' ]]
}

@test "PAPI_REPORT prints what is written; a folder that cannot be written changes nothing for the program" {
    PAPI_REPORT=1 run --separate-stderr -0 "$programs/likwid_program"
    report=$(sed -n '/^{$/,$p' <<<"$output")
    [[ $report == "$(cat "$(rank_file)")" ]]
    touch file
    PAPI_OUTPUT_DIRECTORY=$PWD/file/below run --separate-stderr -0 "$programs/likwid_program"
    [[ ${lines[0]} == 'work passes 3 time 1 values 4' && $stderr == *'"third": begun while'* && $(wc -l <<<"$stderr") == 1 ]]
}

@test "the output is read by PAPI's own writer" {
    needs_papi_programs
    "$programs/papi_hl_program" >/dev/null
    writer=$(command -v papi_hl_output_writer.py || ls "$repository"/build/papi-prefix/bin/papi_hl_output_writer.py) ||
        skip 'no papi_hl_output_writer.py: scripts/setup-papi build/papi-prefix'
    run -0 python3 "$writer" --source_dir "$PAPI_OUTPUT_DIRECTORY/papi_hl_output"
    [[ $(jq '.computation["Region count"], .computation["Number of threads per rank"]' <<<"$output") == $'3\n2' ]]
}

@test "LIKWID: a program marked for it is compiled unchanged, and one that is compiled runs with the library preloaded" {
    plain_path "$build/core/regions/compat/libapapi_likwid.so"
    for words in "TERM=dumb likwid_program" "LD_PRELOAD=$plain own_likwid_program"; do
        rm -rf "$PAPI_OUTPUT_DIRECTORY"
        run --separate-stderr -0 env "${words% *}" "$programs/${words#* }"
        [[ $output == 'work passes 3 time 1 values 4
work passes 3 time 1 values 4
first passes 1 time 1 values 4
second passes 1 time 1 values 4
first passes 0 time 0 values 4
start 0
start 0
third passes 2 time 1 values 4' && $stderr == *'"third": begun while it is open'* && $(wc -l <<<"$stderr") == 1 ]]
        [[ $(region_sum work region_count) == 6 && $(region_sum second region_count) == 2 ]]
        [[ $(region_sum third region_count) == 3 ]]
    done
    run ! env LD_PRELOAD= "$programs/own_likwid_program"
}

@test "LIKWID: without LIKWID_PERFMON the markers of all headers are empty" {
    printf '#include <%s>\n' likwid.h likwid-marker.h likwid-cpumarker.h >empty.c
    echo 'void mark(void) { LIKWID_MARKER_INIT; LIKWID_MARKER_START("a"); }' >>empty.c
    run -0 cc -c -I "$repository/core/include/apapi/likwid" empty.c -o empty.o
    run -0 nm -u empty.o
    [[ $output != *apapi* && $output != *likwid* ]]
}

@test "Kokkos: kernels, fences and regions of a program are regions; fences only where asked for" {
    run --separate-stderr -0 "$programs/kokkos_host" "$build/core/regions/compat/libkp_apapi.so" 5
    [[ $output == 'fences 0' ]]
    [[ $(region_sum axpy region_count) == 5 && $(region_sum wait region_count) == 5 && $(region_sum dot region_count) == 1 ]]
    [[ $(region_sum prefix region_count) == 1 && $(region_sum solve region_count) == 1 ]]
    # what is in it is a part of it: 5 x (axpy 1 ms, wait 1 ms), dot 1 ms, prefix 1 ms
    [[ $(region_sum solve real_time_nsec) -ge 12000000 && $(region_sum axpy real_time_nsec) -ge 10000000 ]]
    # sections that overlap with a region: what goes on after their end is counted once more
    [[ $(region_sum early region_count) == 1 && $(region_sum phase region_count) == 2 && $(region_sum late region_count) == 3 ]]
    [[ $(region_sum early real_time_nsec) -ge 2000000 && $(region_sum late real_time_nsec) -ge 4000000 ]]
    [[ $(region_sum after region_count) == 1 && $(jq '[.threads[].regions[] | select(.name == "after") | .parent_region_id] == ["-1"]' "$(rank_file)") == true ]]
    [[ $stderr != *early* && $stderr != *late* && $stderr != *phase* ]]
    APAPI_KOKKOS_FENCES=1 run --separate-stderr -0 "$programs/kokkos_host" "$build/core/regions/compat/libkp_apapi.so"
    [[ $output == 'fences 1' ]]
}

# bats test_tags=long
@test "Fortran: the module compiles and marks regions" {
    command -v gfortran >/dev/null || skip 'no gfortran'
    cat >program.f90 <<'EOF'
program example
    use apapi
    implicit none
    integer :: i, status
    real(kind(1d0)) :: x = 0
    do i = 1, 3
        call apapi_region_begin('solve  ', status)
        if (status /= 0) stop 1
        x = x + sin(real(i, kind(1d0)))
        call apapi_region_end('solve')
    end do
    call apapi_region_enter(apapi_region_handle('handle'))
    call apapi_region_leave(apapi_region_handle('handle'))
    call apapi_region_end('solve', status)
    if (status /= -1) stop 2
    call apapi_region_stop()
    print *, x > 0
end program
EOF
    gfortran -std=f2008 -Wall -Werror "$repository/bindings/fortran/apapi.f90" program.f90 -o program \
        -L "$build/core" -lapapi "-Wl,-rpath,$build/core"
    run --separate-stderr -0 ./program
    [[ ${output// /} == T && $stderr == *'"solve"'* ]]
    [[ $(region_sum solve region_count) == 3 && $(region_sum handle region_count) == 1 ]]
}

# bats test_tags=long
@test "Fortran: a program that uses LIKWID's module is compiled with ours" {
    command -v gfortran >/dev/null || skip 'no gfortran'
    cat >program.f90 <<'EOF'
program example
    use likwid
    implicit none
    integer :: i, count = 8, passes
    double precision :: values(8), time
    call likwid_markerInit()
    call likwid_markerthreadInit()
    call likwid_markerRegisterRegion("example")
    do i = 1, 2
        call likwid_markerStartRegion("example")
        call likwid_markerStopRegion("example  ")
        call likwid_markerNextGroup()
    end do
    call likwid_markerGetRegion("example", count, values, time, passes)
    print '(i0,a,i0,a,l1)', count, ' ', passes, ' ', time > 0
    call likwid_markerClose()
end program
EOF
    gfortran -Wall -Werror "$repository/bindings/fortran/likwid.f90" program.f90 -o program -L "$build/core" -lapapi "-Wl,-rpath,$build/core"
    run --separate-stderr -0 ./program
    [[ $output == '4 2 T' && -z $stderr && $(region_sum example region_count) == 2 ]]
}

python_example() {
    cat >example.py <<'EOF'
import apapi, threading

@apapi.region("solve")
def solve(depth):
    with apapi.region("inner") as inner:
        pass
    return depth

assert apapi.available()
with apapi.region("whole"):
    threads = [threading.Thread(target=solve, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
try:
    with apapi.region("raises"):
        raise ValueError
except ValueError:
    pass
apapi.begin("a/b\0c\udcff")
apapi.end("a/b\0c\udcff")
assert solve(7) == 7 and solve.__name__ == "solve"
apapi.fom("updates", 1e9)
apapi.stop()
EOF
}

@test "Python: the installed module is a context manager and a decorator, in threads too" {
    module=$repository/build/install/lib/python3/dist-packages
    [[ -e $module/apapi/__init__.py ]] || skip 'not installed'
    python_example
    run --separate-stderr -0 env PYTHONPATH="$module" PYTHONDONTWRITEBYTECODE=1 python3 example.py
    [[ -z $output && -z $stderr ]]
    [[ $(region_sum solve region_count) == 5 && $(region_sum inner region_count) == 5 && $(region_sum raises region_count) == 1 ]]
}

@test "Python: without the library everything does nothing" {
    ! ldconfig -p | grep -q libapapi.so || skip 'this machine has the library'
    cp -r "$repository/bindings/python/apapi" .
    python_example
    sed -i 's/^assert apapi.available()/assert not apapi.available()/' example.py
    run --separate-stderr -0 env LD_LIBRARY_PATH=/nonexistent PYTHONDONTWRITEBYTECODE=1 python3 example.py
    [[ -z $output && -z $stderr ]]
}

@test "a set-uid program: the caller's variables load no library, name no file and make no folder" {
    [[ $build != */asan* ]] || skip "a sanitizer's library is not found then"
    make_public
    chmod 1777 "$public"
    cp "$build/core/libapapi.so.0" "$public"
    cat >program.c <<'END'
#include <apapi/catalog.h>
#include <apapi/events.h>
#include <apapi/papi_hl_compat.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    struct apapi_environment environment;

    apapi_catalog_close(apapi_catalog_open("nvml", NULL, NULL));
    apapi_environment_read(&environment);
    PAPI_hl_region_begin("a");
    PAPI_hl_region_end("a");
    return printf("%d %s\n", geteuid() == 0, environment.eventlist ? environment.eventlist : "none") < 0;
}
END
    echo '#include <fcntl.h>
        __attribute__((constructor)) static void mark(void) { creat("loaded", 0644); }' >evil.c
    cc -shared -fPIC evil.c -o "$public/evil.so"
    cc -I "$repository/core/include" program.c -o "$public/program" "$public/libapapi.so.0" -Wl,-rpath,"$public"
    caller=("${nobody[@]}" env -C "$public" PATH="$PATH" APAPI_NVML_LIBRARY="$public/evil.so"
        PAPI_OUTPUT_DIRECTORY="$public/out" APAPI_EVENTLIST=/etc/shadow)
    run -0 "${caller[@]}" ./program
    [[ $output == '0 /etc/shadow' && -e $public/loaded && -d $public/out ]]
    rm -r "$public/loaded" "$public/out"
    chown root "$public/program"
    chmod 4755 "$public/program"
    run -0 --separate-stderr "${caller[@]}" ./program
    [[ $output != 0* ]] || skip "no set-uid programs below $public"
    [[ $output == '1 none' && ! -e $public/loaded && ! -e $public/out && ! -e $public/papi_hl_output ]]
}
