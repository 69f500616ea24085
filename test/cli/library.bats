#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# libapapi as other programs use it: the examples are compiled against an installed tree, outside of the sources, and run.

# bats file_tags=long
load atime_common

# Two trees that have been moved since they were installed: $tree by renaming, $staged by DESTDIR.
setup_file() {
    export tree=$BATS_FILE_TMPDIR/tree staged=$BATS_FILE_TMPDIR/package/opt/apapi
    install_tree --prefix "$BATS_FILE_TMPDIR/first"
    mv "$BATS_FILE_TMPDIR/first" "$tree"
    DESTDIR=$BATS_FILE_TMPDIR/package install_tree --prefix /opt/apapi
    export examples=$BATS_FILE_TMPDIR/examples built=$BATS_FILE_TMPDIR/cmake # sources, programs
    cp -r "$tree/share/doc/apapi/docs/examples" "$examples"
    { cmake -S "$examples" -B "$built" -DCMAKE_PREFIX_PATH="$tree" &&
        cmake --build "$built"; } >"$BATS_FILE_TMPDIR/cmake.log" 2>&1 ||
        { tail -n 30 "$BATS_FILE_TMPDIR/cmake.log"; return 1; }
}

# A column of a line of $output.
word() { # FIRST-WORD COLUMN
    awk -v first="$1" -v column="$2" '$1 == first { print $column }' <<<"$output"
}

@test "CMake: find_package(apapi) finds the library next to it, and only a compatible version" {
    tells 0 "*libapapi.so.0 => $tree/*" ldd "$built/measure_block"
    run -1 grep -r -e "$repository" -e "$BATS_FILE_TMPDIR/first" "$tree/lib/cmake" "$tree/lib/pkgconfig" # no match
    mkdir "$BATS_TEST_TMPDIR/other"
    printf 'cmake_minimum_required(VERSION 3.16)\nproject(other LANGUAGES NONE)\nfind_package(apapi %s REQUIRED)\n' 0.99 \
        >"$BATS_TEST_TMPDIR/other/CMakeLists.txt"
    run ! cmake -S "$BATS_TEST_TMPDIR/other" -B "$BATS_TEST_TMPDIR/other/build" -DCMAKE_PREFIX_PATH="$tree"
    [[ $output == *"$tree/lib/cmake/apapi/apapiConfig.cmake, version: 0.1."* ]]
}

@test "pkg-config: each example is compiled and finds the library, also below DESTDIR" {
    command -v pkg-config >/dev/null || skip "no pkg-config"
    export PKG_CONFIG_PATH=$staged/lib/pkgconfig
    [[ $(pkg-config --modversion apapi) == "$("$apapi" --version | cut -d ' ' -f 2)" ]]
    [[ $(pkg-config --static --libs apapi) == "$(pkg-config --libs apapi)" ]]
    read -ra flags < <(pkg-config --cflags --libs apapi)
    for source in "$examples"/*.c; do
        program=$BATS_TEST_TMPDIR/$(basename "$source" .c)
        cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$source" -o "$program" "${flags[@]}"
        tells 0 '*APAPI_0.1*' readelf -V "$program"
        run -0 ldd "$program"
        [[ $(realpath "$(sed -n 's/.*libapapi.so.0 => \([^ ]*\).*/\1/p' <<<"$output")") == "$staged"/lib/* ]]
    done
    tells 1 'usage: read_records JOB FILE...' "$BATS_TEST_TMPDIR/read_records"
}

@test "measure_block: the joules of the simulated meters" {
    needs_sim
    run -0 sim "$built/measure_block" rapl
    elapsed=$(word elapsed 2)
    for domain in package:200 dram:40; do
        name=${domain%:*} watts=${domain#*:}
        awk -v j="$(word "$name" 2)" -v unsure="$(word "$name" 5)" -v s="$elapsed" -v w="$watts" \
            'BEGIN { error = j - w * s; exit !(s > 0 && j > 0 && (error < 0 ? -error : error) <= unsure + w * 0.001) }'
    done
    awk -v sum="$(word total 2)" -v p="$(word package 2)" -v d="$(word dram 2)" \
        'BEGIN { error = sum - p - d; exit !(error < 0.002 && error > -0.002) }'
}

@test "measure_block: without a meter there is a reason and no joules" {
    export APAPI_SYSROOT=$BATS_TEST_TMPDIR/root APAPI_PAPI_LIBRARY=/nonexistent/libpapi.so
    mkdir -p "$APAPI_SYSROOT/sys/class/powercap"
    run -0 "$built/measure_block" rapl
    [[ $output == *$'\ntotal nan J\n'* && $output == *'rapl not measured: '?* && $output != *package* ]]
    tells 1 "unknown component 'rpal': did you mean 'rapl'[?]*" "$built/measure_block" rpal
}

@test "apapi(3): the example of the manual page compiles and prints joules" {
    needs_sim
    cd "$BATS_TEST_TMPDIR"
    sed '1,/^# EXAMPLES/d' "$repository/docs/man/apapi.3.scd" |
        awk '/^```$/ { inside = !inside; next } inside' | sed 's/\\\\/\\/g' >page.c
    echo 'void work(void) { for (volatile long i = 0; i < 100000000; i++) {} }' >work.c
    read -ra flags < <(PKG_CONFIG_PATH=$tree/lib/pkgconfig pkg-config --cflags --libs apapi)
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror page.c work.c -o page "${flags[@]}"
    run -0 sim ./page
    [[ $output =~ ^[0-9]+\.[0-9]{3}' J'$ && $output != '0.000 J' ]]
}

@test "list_events: each event with its kind, domain and value" {
    needs_sim
    run -0 sim --packages 1 --package-w 0 --dram-w 0 --start-uj 7250000 "$built/list_events" rapl
    [[ $output == 'rapl:::PACKAGE_ENERGY:PACKAGE0 energy package 7.250 J
rapl:::DRAM_ENERGY:PACKAGE0 energy dram 7.250 J
rapl is read from sysfs powercap' ]]
}

record() { # JOB STEP SECONDS: of 100 W
    printf '{"apapi":1,"job":%s,"step":"%s","name":"app","node":"n1","nodes":1,' "$1" "$2"
    printf '"start":"2026-11-21T11:20:01.000000000Z","elapsed_s":%s,"late_s":0.0,"complete":true,' "$3"
    printf '"end":"2026-11-21T11:20:%02d.000000000Z",' "$(($3 + 1))"
    printf '"domains":{"package":{"energy_j":%s,"mean_w":100.0}},' "$(($3 * 100))"
    printf '"components":[],"trust":{"covered":1.0,"cpu_s":0.0,"samples":100}}\n'
}

@test "read_records: the steps of a job, each moment of the node once; what is no record is reported" {
    cd "$BATS_TEST_TMPDIR"
    { record 7 batch 20; record 8 0 5; record 7 0 10; echo torn; } >n1.jsonl
    run --separate-stderr -0 "$built/read_records" 7 n1.jsonl
    [[ $output == 'step batch on n1: 2000.000 J
step 0 on n1: 1000.000 J
job 7: 2 records, 1 nodes, 2000.000 J' ]]
    [[ $stderr == n1.jsonl:4:\ ?* ]]
    tells 1 '*absent.jsonl*' "$built/read_records" 7 absent.jsonl
}

@test "read_live: the figures of the page" {
    build=$repository/build/release live=$BATS_TEST_TMPDIR/live
    mkdir "$live"
    clocked=()
    load live
    hold_pages '[{node: "n1", job: 17, step: "0", user: "anna", uid: 1000, age_s: 60,
                  domains: {package: {now: 200, total: 1000.5}, dram: {now: 40, total: 200}},
                  events: [{name: "rapl:::A", unit: "J", kind: 0, domain: 1, counter: true, now: 200, total: 1000.5}]}]'
    run -0 "$built/read_live" "$live/n1/17.0"
    let_go
    [[ $output == 'step 17.0 on n1
package 1000.500 J, 200.0 W
dram 200.000 J, 40.0 W
rapl:::A 1000.500 J' ]]
    tells 1 '*APAPI_LIVE_PAGE*' env -u APAPI_LIVE_PAGE "$built/read_live"
}

# overflow_papi.bats has a PAPI that can count on every machine.
@test "overflow: PAPI's example prints where the program was, or why PAPI cannot count here" {
    run "$built/overflow" perf::TASK-CLOCK 5000000 3
    if ((status == 77)); then
        [[ $output == 'overflow: '*[a-zA-Z]* && ${#lines[@]} -eq 1 ]]
        skip "${output#overflow: }"
    fi
    ((status == 0 && ${#lines[@]} >= 3))
    [[ ${lines[0]} =~ ^handler\(0\)\ overflow\ at\ 0x[0-9a-f]+!\ vector=0x1\ count=[1-9] ]]
}

@test "a program with a sanitizer may ask PAPI" {
    echo 'int main() { return 0; }' >"$BATS_TEST_TMPDIR/empty.c"
    cc -fsanitize=address "$BATS_TEST_TMPDIR/empty.c" -o "$BATS_TEST_TMPDIR/empty" || skip "no AddressSanitizer"
    cc -fsanitize=address -I"$tree/include" "$examples/measure_block.c" -o "$BATS_TEST_TMPDIR/block" -L"$tree/lib" -lapapi -Wl,-rpath,"$tree/lib"
    run -1 "$BATS_TEST_TMPDIR/block" nonsense
    [[ $output == *nonsense* && $output != *DEEPBIND* ]]
}

@test "regions: the phases of a program" {
    needs_sim
    run -0 "$built/regions"
    [[ $output =~ ^[0-9.]+$ ]]
    run -0 sim -- "$tree/bin/atime" -f json -o "$BATS_TEST_TMPDIR/json" "$built/regions"
    [[ $output =~ ^[0-9.]+$ ]]
    run -0 jq -c '[.regions[] | select(.name) | {(.name): .count}] | add | to_entries | sort' "$BATS_TEST_TMPDIR/json"
    [[ $output == '[{"key":"assemble","value":1},{"key":"solve","value":1},{"key":"solve/smooth","value":100}]' ]]
    jq -e '.foms == [{name: "updates", value: 100000000, unit: "points", programs: 1}]' "$BATS_TEST_TMPDIR/json"
}
