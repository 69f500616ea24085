#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The live page of a step: what it says, who may read it, how long it is there. docs/live-page.md says what is promised.

load survive

pages=/run/apapi

setup_file() {
    start_simulated_cluster
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    compile "$BATS_TEST_DIRNAME/live_look.c" "$APAPI_CLUSTER_DIR/look"
    # the example of the documentation is the program that is tried
    awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$repository/docs/live-page.md" \
        >"$BATS_FILE_TMPDIR/region.c"
    compile "$BATS_FILE_TMPDIR/region.c" "$APAPI_CLUSTER_DIR/region"
}

compile() { # SOURCE PROGRAM
    cc -Wall -Wextra -Werror -I "$install/include" "$1" -o "$2" -L "$install/lib" -lapapi "-Wl,-rpath,$install/lib"
}

setup() {
    common_setup
    hold
    look=$APAPI_CLUSTER_DIR/look
}

# A step of alice's on n1 that lasts until end_it; its page is $page.
begin_it() { # ARGUMENTS OF srun
    begin_held_step '' -N1 -w n1 "$@"
    begun_on n1 sh
    page=$(cluster on n1 sh -c "ls $pages/n1/*/*.0")
}

end_it() {
    end_held_step
    [[ $status -eq 0 ]]
}

# On n1, where the pages are.
as() { # USER COMMAND...
    cluster on n1 setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}

gone() { # PAGE
    ! cluster on n1 test -e "$1"
}

# A column of a line of look's.
figure() { # TEXT NAME COLUMN
    awk -v name="$2" -v column="$3" '$2 == name { print $column }' <<<"$1"
}

@test "a running step's page says whose it is and what its meters show" {
    begin_it --apapi=rapl --apapi-interval=1s -J myjob
    [[ $page =~ ^$pages/n1/[0-9]+/([0-9]+)\.0$ ]]
    job=${BASH_REMATCH[1]}
    has_samples() { # NUMBER; a look is in $latest
        latest=$(as alice "$look" "$page")
        (($(figure "$latest" package 6) >= $1 && $(figure "$latest" dram 6) >= $1))
    }
    eventually has_samples 2
    first=$latest
    eventually has_samples $(($(figure "$first" package 6) + 3))
    second=$latest
    echo "$first"
    echo "$second"
    [[ $(head -n 1 <<<"$first") == "page n1/$job.0 state 1 uid $(cluster run id -u alice) tasks 1 user alice cluster apapi name myjob" ]]
    [[ $(awk '{ print $1, $2 }' <<<"$second" | sed 1d) == $'domain package\ndomain dram
event rapl:::PACKAGE_ENERGY:PACKAGE0\nevent rapl:::DRAM_ENERGY:PACKAGE0
event rapl:::PACKAGE_ENERGY:PACKAGE1\nevent rapl:::DRAM_ENERGY:PACKAGE1' ]]
    # In between: 200 W and 40 W, as the meters are simulated. Between a meter and the clock a machine may take the CPU away
    # for a part of the interval of 1 s, of which now_w is.
    for domain in package:200 dram:40; do
        name=${domain%:*}
        awk -v j0="$(figure "$first" "$name" 3)" -v j1="$(figure "$second" "$name" 3)" -v t0="$(figure "$first" "$name" 4)" \
            -v t1="$(figure "$second" "$name" 4)" -v w="${domain#*:}" -v now_w="$(figure "$second" "$name" 5)" 'BEGIN {
                mean = (j1 - j0) / (t1 - t0) * 1e9; print mean, now_w
                exit !(mean / w > 0.9 && mean / w < 1.1 && now_w / w > 0.55 && now_w / w < 1.8) }'
    done
    end_it
    gone "$page"
}

@test "its user and root can read it, nobody else; none but root can write it" {
    begin_it --apapi=rapl
    as alice "$look" "$page"
    cluster on n1 "$look" "$page"
    run as bob "$look" "$page"
    [[ $status -eq 1 && $output == "$page: Permission denied" ]]
    # nor does he see that it is there
    [[ $(as bob "$look" --scan $pages) == 'pages 0 foreign 0 dead 0 broken 0' ]]
    run as bob ls "$pages/n1"
    [[ $status -ne 0 && $output == *'Permission denied'* ]]
    run as bob ls "${page%/*}"
    [[ $status -ne 0 && $output == *'Permission denied'* ]]
    # the page, and the socket by which programs tell their regions
    [[ $(as alice ls "${page%/*}") == "${page##*/}"$'\n'"${page##*/}.regions" ]]
    [[ $(as alice "$look" --scan $pages) == "n1/${page##*/}"$'\npages 1 foreign 0 dead 0 broken 0' ]]
    [[ $(cluster on n1 stat -c '%u %A' "$page" $pages/n1 $pages) == $'0 -rw-r-----\n0 drwx--x--x\n0 drwxr-xr-x' ]]
    for user in alice bob; do
        for command in "echo x >>$page" ": >$page" "rm -f $page" "mv $page $page.x" "chmod 666 $page" "ln -s /etc/passwd $pages/n1/1.0" "ln -s /etc/passwd ${page%/*}/1.0" \
            "mkdir $pages/n3" "truncate -s 0 $page" "setfattr -x system.posix_acl_access $page"; do
            run ! as "$user" sh -c "$command"
        done
    done
    end_it
    whole "$(last_record n1)"
}

@test "a program reads its own energy around a part of its code" {
    run -0 --separate-stderr as_alice srun -N1 -w n1 --apapi=rapl "$APAPI_CLUSTER_DIR/region"
    # 200 W for 2 s at least; not more than the whole step, which is little longer
    step_j=$(last_record n1 | jq .domains.package.energy_j)
    awk -v step_j="$step_j" '{ print $1, "of", step_j; exit !($2 == "J" && $1 > 0.96 * 400 && $1 < 1.04 * step_j) }' <<<"$output"
}

@test "a program written for libmeasure takes the page's figures, as its user may not read the meters" {
    cc -I "$repository/test" "$repository/test/fake/ms_common/program.c" -o "$APAPI_CLUSTER_DIR/measurer" \
        -L "$install/lib" -lms_common_apapi -lapapi "-Wl,-rpath,$install/lib"
    complains 1 '*rapl is not measured: no permission to read *' as alice "$APAPI_CLUSTER_DIR/measurer" figures 0 20
    run --separate-stderr as_alice srun -N1 -w n1 --apapi=rapl "$APAPI_CLUSTER_DIR/measurer" figures 2 20
    [[ $status -eq 0 && $output == *$'enabled 10000\nlist 1\n'* ]]
    step_j=$(last_record n1 | jq '.components[0].events[] | select(.name == "rapl:::PACKAGE_ENERGY:PACKAGE1").total')
    # 100 W for 2 s at least; not more than the whole step, which is little longer
    awk -v step_j="$step_j" '$1 ~ /^cpu_energy_total_pkg/ { print $2, "of", step_j; good += $2 > 0.96 * 200e3 && $2 < 1.04e3 * step_j }
        $1 == "cpu_power_avg_pkg[1]" { good += $2 > 90e3 && $2 < 110e3 }
        $1 == "cpu_energy_total_dram[1]" { good += $2 > 0.96 * 40e3 && $2 < 0.25 * 1.04e3 * step_j }
        END { exit good != 4 }' <<<"$output"
}

@test "who has mapped it keeps the last figures, which are those of the record" {
    begin_it --apapi=rapl
    as alice "$look" --end "$page" >"$BATS_TEST_TMPDIR/looked" 3>&- &
    follower=$!
    eventually grep -q waiting "$BATS_TEST_TMPDIR/looked"
    sleep 0.7
    end_it
    wait "$follower"
    gone "$page"
    text=$(<"$BATS_TEST_TMPDIR/looked")
    record=$(last_record n1)
    echo "$text"
    [[ $text == *' state 2 '* ]]
    for name in package dram; do
        holds "$record" "(.domains.$name.energy_j / $(figure "$text" $name 3) - 1 | fabs) < 1e-6"
    done
}

@test "the page of a sampler that was killed is dead, and goes with the next step" {
    begin_it --apapi=rapl
    cluster on n1 pkill -KILL -x apapi-sampler
    dead() { [[ $(cluster on n1 "$look" --scan $pages) == 'pages 0 foreign 0 dead 1 broken 0' ]]; }
    eventually dead
    run as alice "$look" "$page"
    [[ $status -eq 1 && $output == "$page: no process writes it" ]]
    end_it
    cluster on n1 test -e "$page"
    as_alice srun -N1 -w n1 --apapi=rapl true
    gone "$page"
}

@test "the tasks of a measured step find its path, those of others nothing" {
    run --separate-stderr as_alice srun -N1 -n2 -w n1 --apapi=rapl printenv APAPI_LIVE_PAGE
    [[ $status -eq 0 && $(wc -l <<<"$output") -eq 2 && $(sort -u <<<"$output") =~ ^$pages/n1/[0-9]+/[0-9]+\.0$ ]]
    # a script that is measured: its own page, its sruns' own ones; none where nothing is measured
    sbatch_wait -N1 -w n1 --apapi=rapl --apapi-format=none --output="$APAPI_CLUSTER_DIR/home/alice/paths" --wrap \
        'echo $APAPI_LIVE_PAGE; '"$look"' $APAPI_LIVE_PAGE | head -n 1; srun -Q printenv APAPI_LIVE_PAGE; srun -Q --apapi=off env | grep -c APAPI_LIVE; true'
    paths=$(<"$APAPI_CLUSTER_DIR/home/alice/paths")
    echo "$paths"
    job=$(sed -n '1s/.*\/\([0-9]*\)\.batch$/\1/p' <<<"$paths")
    own=$pages/n1/$(cluster run id -u alice)
    [[ -n $job && $paths == "$own/$job.batch
page n1/$job.batch state 1 "*"
$own/$job.0
0" ]]
    run as_alice env APAPI_LIVE_PAGE=/x srun -N1 --apapi=off printenv APAPI_LIVE_PAGE
    [[ $status -ne 0 && $output != */x* ]]
}

@test "several steps and nodes at once: a page for each" {
    as_alice sh -c "srun -N2 --overcommit --apapi=rapl --apapi-format=none sh -c '$until_over' &
        srun -N1 -w n1 --overcommit --apapi=rapl --apapi-format=none sh -c '$until_over' & wait" 3>&- &
    step=$!
    found() { cluster on "$1" "$look" --scan $pages | tail -n 1; }
    three() { [[ $(found n1)/$(found n2) == 'pages 2 foreign 0 dead 0 broken 0/pages 1 foreign 0 dead 0 broken 0' ]]; }
    eventually three
    release
    wait "$step"
    [[ $(found n1)/$(found n2) == 'pages 0 foreign 0 dead 0 broken 0/pages 0 foreign 0 dead 0 broken 0' ]]
}

@test "memory that is taken away from under a page ends nothing" {
    # all of it is there from the start: filling the file system up afterwards costs nothing
    small=$APAPI_CLUSTER_DIR/filled
    mkdir -p "$small"
    cluster on n1 mount -t tmpfs -o size=128k,mode=755 tmpfs "$small"
    plugstack live_dir="$small"
    begin_held_step '' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    cluster on n1 sh -c "cat /dev/zero >$small/filler" 2>/dev/null || true
    says_package() { cluster on n1 sh -c "$look $small/n1/*/*.0" | grep -q '^domain package [0-9]'; }
    eventually says_package
    end_it
    whole "$(last_record n1)"
    cluster on n1 umount "$small"
}
