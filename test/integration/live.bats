#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The live page of a step: what it says, who may read it, how long it is there. docs/live-page.md says what is promised.

load survive

pages=/run/apapi

setup_file() {
    start_simulated_cluster
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    compile cc "$repository/docs/examples/read_live.c" look
    # the example of the documentation is the program that is tried
    awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$repository/docs/live-page.md" \
        >"$BATS_FILE_TMPDIR/region.c"
    compile cc "$BATS_FILE_TMPDIR/region.c" region
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

# The pages of a node, as JSON.
top_on() { # NODE USER
    cluster on "$1" setpriv --reuid "$2" --regid "$2" --init-groups "$install/bin/apapi" top --dir $pages -1 --json
}

# How many of them are steps' that run, others', of killed samplers, and none.
counts() { # NODE USER
    top_on "$1" "$2" | jq -r '"\(.steps | length) \(.foreign) \(.dead) \(.broken)"'
}

gone() { # PAGE
    ! cluster on n1 test -e "$1"
}

@test "a running step's page says whose it is and what its meters show" {
    begin_it --apapi=rapl --apapi-interval=1s -J myjob
    [[ $page =~ ^$pages/n1/[0-9]+/([0-9]+)\.0$ ]]
    job=${BASH_REMATCH[1]}
    looks() { # JQ EXPRESSION that holds for the step
        latest=$(top_on n1 alice | jq -ce '.steps[0]') && jq -e "$1" <<<"$latest" >/dev/null
    }
    eventually looks '.total.energy_j > 200'
    # Between a meter and the clock a machine may take the CPU away for a part of the interval of 1 s, of which power_w is.
    holds "$latest" ".node == \"n1\" and .job == $job and .state == \"running\" and .tasks == 1 and .user == \"alice\" and .cluster == \"apapi\" and
        .uid == $(cluster run id -u alice) and .job_name == \"myjob\" and (.domains | keys) == [\"dram\", \"package\"] and
        (.domains.package.power_w / 200 | . > 0.55 and . < 1.8)"
    run -0 as alice "$look" "$page"
    [[ $(sed -n 's/^\(rapl:::.*\) [0-9.]* J$/\1/p' <<<"$output") == $'rapl:::PACKAGE_ENERGY:PACKAGE0\nrapl:::DRAM_ENERGY:PACKAGE0
rapl:::PACKAGE_ENERGY:PACKAGE1\nrapl:::DRAM_ENERGY:PACKAGE1' ]]
    end_it
    gone "$page"
}

@test "its user and root can read it, nobody else; none but root can write it" {
    begin_it --apapi=rapl
    as alice "$look" "$page"
    cluster on n1 "$look" "$page"
    tells 1 "$page: Permission denied" as bob "$look" "$page"
    # nor does he see that it is there
    [[ $(counts n1 bob) == '0 0 0 0' ]]
    fails '*Permission denied*' as bob ls "$pages/n1"
    fails '*Permission denied*' as bob ls "${page%/*}"
    # the page, and the socket by which programs tell their regions
    [[ $(as alice ls "${page%/*}") == "${page##*/}"$'\n'"${page##*/}.regions" ]]
    [[ $(counts n1 alice) == '1 0 0 0' ]]
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

@test "the page of a sampler that was killed is dead, and goes with the next step" {
    begin_it --apapi=rapl
    cluster on n1 pkill -KILL -x apapi-sampler
    dead() { [[ $(counts n1 root) == '0 0 1 0' ]]; }
    eventually dead
    tells 1 "$page: no process writes it" as alice "$look" "$page"
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
step $job.batch on n1
$own/$job.0
0" ]]
    run as_alice env APAPI_LIVE_PAGE=/x srun -N1 --apapi=off printenv APAPI_LIVE_PAGE
    [[ $status -ne 0 && $output != */x* ]]
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
    says_package() { cluster on n1 sh -c "$look $small/n1/*/*.0" | grep -q '^package [0-9]'; }
    eventually says_package
    end_it
    whole "$(last_record n1)"
    cluster on n1 umount "$small"
}
