#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Regions by others' interfaces: programs marked for PAPI, LIKWID and Kokkos' tools (test/fake/regions), in Fortran and Python.

# shellcheck disable=SC2030,SC2031 # each test is a process of its own
load atime_common
load public

setup() {
    programs=$build/test/fake/regions
    json=$BATS_TEST_TMPDIR/json
    export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
    cd "$BATS_TEST_TMPDIR" || return
}

# Run a program under atime, over simulated hardware; its regions are in $json.
marked() { # COMMAND...
    sim -- "$atime" -f json -o "$json" "$@"
}

region_sum() { # REGION KEY
    jq --arg name "$1" --arg key "$2" '[.regions[] | select(.name // "" | split("/")[-1] == $name) | .[$key]] | add' "$json"
}

needs_papi_programs() {
    [[ -x $programs/papi_hl_program ]] || skip 'built without PAPI'
}

@test "PAPI: a program compiled with our header has the time of its regions, and counts no events" {
    needs_papi_programs
    needs_sim
    run --separate-stderr -0 marked env PAPI_EVENTS=PAPI_TOT_INS "$programs/papi_hl_program"
    [[ $output == "done" && $stderr == *'"never begun"'* ]]
    [[ $(region_sum computation count) == 3 && $(region_sum inner count) == 2 && $(region_sum second count) == 2 ]]
    jq -e '[.regions[] | select(.name == "computation") | .time_s > 0 and .threads == 2] == [true]' "$json"
    [[ ! -e papi_hl_output ]]
    run --separate-stderr -0 "$programs/papi_hl_program" # elsewhere all calls do nothing
    [[ -z $stderr && ! -e papi_hl_output ]]
}

# What a run of the program linked to libpapi prints, and the shape of what PAPI writes of it.
own_run() { # NAME WORD...
    export PAPI_OUTPUT_DIRECTORY=$BATS_TEST_TMPDIR/$1
    "${@:2}" "$programs/own_papi_hl_program" >"$1.printed" || return
    jq -c '[.event_definitions, [.threads[].regions[] | map_values(type)]]' "$PAPI_OUTPUT_DIRECTORY"/papi_hl_output/rank_*.json >"$1.written" ||
        [[ ! -e $PAPI_OUTPUT_DIRECTORY ]]
}

@test "PAPI: a program linked to libpapi counts and writes as ever with the library preloaded, and has regions in the record" {
    needs_papi_programs
    needs_sim
    run -0 ldd "$programs/own_papi_hl_program"
    [[ $output == *libpapi.so* && $output != *libapapi* ]]
    plain_path "$build/core/regions/compat/libapapi_papi_hl.so"
    for events in perf::TASK-CLOCK NO_SUCH_EVENT; do # without an event PAPI refuses each call
        export PAPI_EVENTS=$events
        own_run "alone-$events" env
        own_run "preloaded-$events" env LD_PRELOAD="$plain"
        own_run "measured-$events" marked env LD_PRELOAD="$plain"
        for run in preloaded measured; do
            diff "alone-$events.printed" "$run-$events.printed"
            diff "alone-$events.written" "$run-$events.written"
        done
        run -0 jq -c '[.regions[] | select(.name == "computation" or .name == "computation/inner") | [.name, .count]] | sort' "$json"
        [[ $output == '[["computation",3],["computation/inner",2]]' ]]
    done
}

@test "PAPI: a program that loads libpapi later, with a module, runs with the library preloaded" {
    needs_papi_programs
    printf '%s\n' 'int PAPI_hl_region_begin(const char *), PAPI_hl_region_end(const char *), PAPI_hl_stop(void);' \
        'int work(void) { return PAPI_hl_region_begin("late") || PAPI_hl_region_end("late") || PAPI_hl_stop(); }' |
        cc -shared -fPIC -o module.so -x c - -x none -lpapi
    plain_path "$build/core/regions/compat/libapapi_papi_hl.so"
    tells 0 '0' env LD_PRELOAD="$plain" python3 -c 'import ctypes; print(ctypes.CDLL("./module.so").work())'
}

@test "LIKWID: a program marked for it is compiled unchanged, and one that is compiled runs with the library preloaded" {
    plain_path "$build/core/regions/compat/libapapi_likwid.so"
    for words in "TERM=dumb likwid_program" "LD_PRELOAD=$plain own_likwid_program"; do
        run --separate-stderr -0 marked env "${words% *}" "$programs/${words#* }"
        [[ $output == 'work passes 3 time 1 values 4
work passes 3 time 1 values 4
first passes 1 time 1 values 4
second passes 1 time 1 values 4
first passes 0 time 0 values 4
start 0
start 0
third passes 2 time 1 values 4' && $stderr == *'"third": begun while it is open'* && $(wc -l <<<"$stderr") == 1 ]]
        [[ $(region_sum work count) == 6 && $(region_sum second count) == 2 ]]
        [[ $(region_sum third count) == 3 ]]
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
    prints 0 'fences 0' marked "$repository/test/fake/regions/kokkos_host" "$build/core/regions/compat/libkp_apapi.so" 5
    [[ $(region_sum axpy count) == 5 && $(region_sum wait count) == 5 && $(region_sum dot count) == 1 ]]
    [[ $(region_sum prefix count) == 1 && $(region_sum solve count) == 1 ]]
    # what is in it is a part of it: 5 x (axpy 1 ms, wait 1 ms), dot 1 ms, prefix 1 ms
    jq -e '[.regions[] | select(.name // "" | . == "solve" or startswith("solve/")) | .time_s] | add >= 0.012' "$json"
    jq -e '[.regions[] | select(.name // "" | contains("axpy")) | .time_s] | add >= 0.01' "$json"
    # sections that overlap with a region: what goes on after their end is counted once more
    jq -e '[.regions[] | select(.name // "" | contains("early")) | .time_s] | add >= 0.002' "$json"
    jq -e '[.regions[] | select(.name // "" | contains("late")) | .time_s] | add >= 0.004' "$json"
    [[ $(region_sum early count) == 1 && $(region_sum phase count) == 2 && $(region_sum late count) == 3 ]]
    
    [[ $(region_sum after count) == 1 && $(jq '[.regions[] | select(.name // "" | endswith("after")) | .name] == ["after"]' "$json") == true ]]
    [[ $stderr != *early* && $stderr != *late* && $stderr != *phase* ]]
    APAPI_KOKKOS_FENCES=1 run --separate-stderr -0 "$repository/test/fake/regions/kokkos_host" "$build/core/regions/compat/libkp_apapi.so"
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
    run --separate-stderr -0 marked ./program
    [[ ${output// /} == T && $stderr == *'"solve"'* ]]
    [[ $(region_sum solve count) == 3 && $(region_sum handle count) == 1 ]]
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
    run --separate-stderr -0 marked ./program
    [[ $output == '4 2 T' && -z $stderr && $(region_sum example count) == 2 ]]
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
apapi.begin("\ud800")
apapi.end("\ud800")
assert solve(7) == 7 and solve.__name__ == "solve"
apapi.fom("updates", 1e9)
apapi.stop()
EOF
}

@test "Python: the installed module is a context manager and a decorator, in threads too" {
    module=$repository/build/install/lib/python3/dist-packages
    [[ -e $module/apapi/__init__.py ]] || skip 'not installed'
    python_example
    tells 0 '' marked env PYTHONPATH="$module" PYTHONDONTWRITEBYTECODE=1 python3 example.py
    [[ $(region_sum solve count) == 5 && $(region_sum inner count) == 5 && $(region_sum raises count) == 1 ]]
}

@test "Python: without the library everything does nothing" {
    ! ldconfig -p | grep -q libapapi.so || skip 'this machine has the library'
    cp -r "$repository/bindings/python/apapi" .
    python_example
    sed -i 's/^assert apapi.available()/assert not apapi.available()/' example.py
    tells 0 '' env LD_LIBRARY_PATH=/nonexistent PYTHONDONTWRITEBYTECODE=1 python3 example.py
}

@test "a set-uid program: the caller's variables load no library and name no file" {
    [[ $build != */asan* ]] || skip "a sanitizer's library is not found then"
    make_public
    chmod 1777 "$public"
    cp "$build/core/libapapi.so.0" "$public"
    cat >program.c <<'END'
#include <apapi/catalog.h>
#include <apapi/events.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    struct apapi_environment environment;

    apapi_catalog_close(apapi_catalog_open("nvml", NULL, NULL));
    apapi_environment_read(&environment);
    return printf("%d %s\n", geteuid() == 0, environment.eventlist ? environment.eventlist : "none") < 0;
}
END
    echo '#include <fcntl.h>
        __attribute__((constructor)) static void mark(void) { creat("loaded", 0644); }' >evil.c
    cc -shared -fPIC evil.c -o "$public/evil.so"
    cc -I "$repository/core/include" program.c -o "$public/program" "$public/libapapi.so.0" -Wl,-rpath,"$public"
    caller=("${nobody[@]}" env -C "$public" PATH="$PATH" APAPI_NVML_LIBRARY="$public/evil.so"
        APAPI_EVENTLIST=/etc/shadow)
    run -0 "${caller[@]}" ./program
    [[ $output == '0 /etc/shadow' && -e $public/loaded ]]
    rm "$public/loaded"
    chown root "$public/program"
    chmod 4755 "$public/program"
    run -0 --separate-stderr "${caller[@]}" ./program
    [[ $output != 0* ]] || skip "no set-uid programs below $public"
    [[ $output == '1 none' && ! -e $public/loaded ]]
}
