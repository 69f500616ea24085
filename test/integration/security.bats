#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The influence of a hostile user: none. docs/security.md says what is promised.

load survive

setup_file() {
    start_simulated_cluster
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    remember_traces
    local folder=$APAPI_CLUSTER_DIR/home/alice/hostile
    as_alice mkdir "$folder"
    # notes whose process it is loaded into
    printf '%s\n' '#include <stdio.h>' '#include <unistd.h>' \
        '__attribute__((constructor)) static void note(void) {' \
        "FILE *file = fopen(\"$folder/loaded\", \"ae\");" \
        'if (file) { fprintf(file, "%d\n", (int)geteuid()); fclose(file); } }' \
        >"$BATS_FILE_TMPDIR/evil.c"
    cc -shared -fPIC -o "$APAPI_CLUSTER_DIR/evil.so" "$BATS_FILE_TMPDIR/evil.c"
    as_alice cp "$APAPI_CLUSTER_DIR/evil.so" "$folder/evil.so"
    as_alice sh -c "echo rapl:::PACKAGE_ENERGY:PACKAGE0 >$folder/list; echo 'exit 1' >$folder/sh"
}

setup() {
    common_setup
    folder=$APAPI_CLUSTER_DIR/home/alice/hostile
    hostile=("LD_PRELOAD=$folder/evil.so" "LD_LIBRARY_PATH=$folder" "LD_AUDIT="
        "PAPI_COMPONENT=$folder" "PAPI_DISABLE_COMPONENTS=1" "APAPI_EVENTLIST=$folder/list"
        "APAPI_PAPI_LIBRARY=$folder/evil.so" "APAPI_CONFIG=$folder/list" "APAPI_SOURCES=papi"
        "APAPI_ACCT_DIR=$folder" "APAPI_SYSFS_ROOT=$folder" "TMPDIR=$folder" "HOME=$folder"
        "BASH_ENV=$folder/sh" "ENV=$folder/sh" "GCONV_PATH=$folder" "LOCPATH=$folder"
        "LANG=evil" "MALLOC_CHECK_=3" "GLIBC_TUNABLES=glibc.malloc.check=3"
        "SLURMD_NODENAME=../../evil" "SLURM_CLUSTER_NAME=../evil" "SLURM_JOB_USER=root")
}

# A hostile step of alice's on n1, in the background, until `touch $folder/over`.
begin_hostile_step() { # ARGUMENTS OF srun
    rm -f "$folder/over"
    as_alice env -C "$folder" "${hostile[@]}" srun -N1 -w n1 "$@" \
        sh -c 'while [ ! -e over ]; do sleep 0.05; done' \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    step=$!
}

end_hostile_step() {
    as_alice touch "$folder/over"
    end_step
    [[ $status -eq 0 ]]
}

# The environment of a process as sorted lines.
environment() { # PID, read by COMMAND...
    "${@:2}" cat "/proc/$1/environ" | tr '\0' '\n' | sort
}

@test "the helpers' environment is theirs, whatever the user's is; his libraries are not loaded as root" {
    begin_hostile_step --apapi=rapl
    begun_on n1 sh
    only=$'LANG=C\nPATH=/usr/sbin:/usr/bin:/sbin:/bin'
    [[ $(environment "$(helpers_on n1)" cluster on n1) == "$only" ]]
    [[ $(environment "$(cluster run pgrep -x apapi-collect)" cluster run) == "$only" ]]
    end_hostile_step
    grep -q '^  package' "$BATS_TEST_TMPDIR/err"
    [[ $(sort -u "$folder/loaded") == "$(cluster run id -u alice)" ]]
    # a record of this node, of this cluster
    holds "$(last_record n1)" '.complete and .node == "n1" and .uid == '"$(cluster run id -u alice)"
    [[ -z $(find "$APAPI_CLUSTER_DIR" -name '*evil*' ! -name 'evil.so') ]]
}

# System calls with names of files, of everything that slurmd starts, while a step of alice's runs.
traced_step() { # OPTION
    local slurmd
    slurmd=$(cluster on n1 pgrep -o -x slurmd)
    cluster on n1 strace -f -qq -y -s 4096 -e trace=%file,connect,bind -o "$APAPI_CLUSTER_DIR/trace" -p "$slurmd" 3>&- &
    local strace=$!
    is_traced() { ! cluster on n1 grep -q '^TracerPid:[[:space:]]0$' "/proc/$slurmd/status"; }
    eventually is_traced
    begin_hostile_step "$1"
    eventually runs_on n1 sh
    sleep 0.3 # a few readings
    end_hostile_step
    eventually nodes_idle
    cluster on n1 pkill -x strace
    wait "$strace" || true
}

# The calls, without process and result, in which the user's folder occurs and that are not those of
# programs of his: slurmstepd's and the helpers'.
calls_with_the_users_names() {
    local programs
    programs=$(grep -E '^[0-9]+ +execve\(' "$APAPI_CLUSTER_DIR/trace" |
        grep -vE 'execve\("[^"]*/(slurmstepd|apapi-sampler)"' | cut -d' ' -f1 | sort -u | paste -sd '|')
    grep -vE "^(${programs:-none}) " "$APAPI_CLUSTER_DIR/trace" | grep -F "$folder" | grep -vE ' (getcwd\(|<\.\.\. getcwd)' |
        sed -E 's/^[0-9]+ +//; s/ += .*//; s/ *<unfinished.*//; s/\)$//; s/0x[0-9a-f]+/0x/g; s/(\/|_)[0-9]+/\1N/g' | sort -u
}

@test "nothing that the user names is opened, looked up or connected to by slurmstepd or the sampler" {
    command -v strace >/dev/null || skip "there is no strace"
    traced_step --apapi=off
    without=$(calls_with_the_users_names)
    traced_step --apapi=rapl
    with=$(calls_with_the_users_names)
    echo "without: $without"
    diff <(echo "$without") <(echo "$with")
    # the sampler itself: nothing but the system's and the site's files, and the way to its own program
    outside=()
    sampler=$(sed -nE 's/^([0-9]+) +execve\("[^"]*apapi-sampler".*/\1/p' "$APAPI_CLUSTER_DIR/trace")
    [[ -n $sampler ]]
    own=$(realpath "$install") # strace prints letters that are not ASCII as octal numbers
    others=$(grep -E "^$sampler " "$APAPI_CLUSTER_DIR/trace" | grep -oE '"/[^"]*"' | tr -d '"' | sed 's/\\/\\0/g' | sort -u)
    others=$(printf '%b\n' "$others" |
        grep -avE "^(/|/proc|/(etc|lib|lib64|usr|proc|sys|dev|var/run/nscd)/.*|$own/.*|$install/.*|$libexec/.*|$APAPI_CLUSTER_DIR/etc/slurm.conf|$APAPI_ACCT_DIR.*|$APAPI_SPOOL_DIR.*|/run/apapi/n1/(.now|readings|[0-9]+/[0-9]+\.0\.regions))\$" || true)
    while read -r path; do
        [[ -z $path || $libexec/ == "$path"/* || $own/ == "$path"/* ]] || outside+=("$path")
    done <<<"$others"
    echo "outside: ${outside[*]:-}"
    [[ -z ${outside[*]:-} ]]
}

@test "the user can neither trace nor read nor signal the sampler, nor the process that acts for it" {
    as_alice sh -c "cat >$folder/attack; chmod 755 $folder/attack" <<'END'
#!/bin/bash
for sampler in $(pgrep -x apapi-sampler); do
    for signal in 0 STOP KILL TERM; do
        ! kill -$signal "$sampler" 2>/dev/null || echo "signal $signal"
    done
    for file in environ fd mem maps auxv stack io; do
        [[ -z $(ls "/proc/$sampler/$file/" 2>/dev/null) ]] || echo "$file listed"
        ! head -c 1 "/proc/$sampler/$file" 2>/dev/null | grep -q . || echo "$file read"
    done
    ! command -v strace >/dev/null || ! timeout 2 strace -p "$sampler" -o /dev/null 2>/dev/null || echo traced
    echo tried
done
END
    run --separate-stderr as_alice srun -N1 -w n1 --apapi=rapl --apapi-overflow='total >= 1MJ : exec=true' "$folder/attack"
    echo "$status $output $stderr"
    [[ $status -eq 0 && $output == $'tried\ntried' && $stderr == *'  package'* ]]
    # nor the one of a step of his that measures as himself: the collector holds the token
    begin_held_step '' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    collector=$(cluster run pgrep -x apapi-collect)
    run as_alice cat "/proc/$collector/environ"
    [[ $status -ne 0 ]]
    end_held_step
}

# One of the sampler's sets of capabilities, as the kernel prints it. Its writers are younger than itself.
capabilities() { # SET
    cluster on n1 sed -n "s/^Cap$1:[[:space:]]*0*//p" "/proc/$(cluster on n1 pgrep -o -x apapi-sampler)/status"
}

@test "the sampler has only the capabilities that it needs, and so has what it executes" {
    local DAC_OVERRIDE=$((1 << 1)) KILL=$((1 << 5)) RAWIO=$((1 << 17)) ADMIN=$((1 << 21)) PERFMON=$((1 << 38)) needed set
    needed=$((DAC_OVERRIDE | RAWIO | ADMIN | PERFMON))
    for options in '' "--apapi-trace=trace.csv"; do
        # shellcheck disable=SC2086 # none, or one
        begin_hostile_step --apapi=rapl $options
        begun_on n1 sh
        [[ -z $options ]] || needed=$((needed | KILL))
        for set in Prm Eff Bnd; do
            echo "$set $(capabilities $set), needed: $(printf %x "$needed")"
            [[ $((0x$(capabilities $set) & ~needed)) -eq 0 ]]
        done
        [[ -z $(capabilities Inh) && -z $(capabilities Amb) ]]
        # those of its threads, too
        [[ $(cluster on n1 sh -c "grep -h ^Cap /proc/\$(pgrep -o -x apapi-sampler)/task/*/status | sort -u | wc -l") -eq 5 ]]
        end_hostile_step
        right_energy "$(last_record n1)"
    done
    [[ $(cluster run stat -c %U "$folder/trace.csv") == alice ]]
    [[ $(wc -l <"$folder/trace.csv") -gt 1 ]]
}

@test "low limits that the sampler inherits end nothing and cut nothing short" {
    local soft hard limit
    sampler_is $'#!/bin/bash\nulimit -S -f 1 -t 1 -n 10 -v 200000 -s 256 -l 0 -u 1\n'"exec '$libexec/apapi-sampler' \"\$@\""
    begin_hostile_step --apapi=rapl
    begun_on n1 sh
    cluster on n1 cat "/proc/$(helpers_on n1)/limits" >"$BATS_TEST_TMPDIR/limits"
    end_hostile_step
    plugstack
    cat "$BATS_TEST_TMPDIR/limits"
    for limit in 'cpu time' 'file size' 'data size' 'resident set' 'processes' 'locked memory' 'address space' 'file locks'; do
        read -r soft hard _ <<<"$(sed -n "s/^Max $limit *//p" "$BATS_TEST_TMPDIR/limits")"
        echo "$limit: $soft of $hard"
        [[ -n $soft && $soft == "$hard" ]]
    done
    grep -qE '^Max core file size +0 +0 ' "$BATS_TEST_TMPDIR/limits"
    [[ $(sed -nE 's/^Max open files +([0-9]+).*/\1/p' "$BATS_TEST_TMPDIR/limits") -gt 10 ]]
    right_energy "$(last_record n1)"
}

@test "no descriptor leaks to a task" {
    run as_alice srun -N1 -w n1 --apapi=off ls -l /proc/self/fd
    without=$(sed -nE 's/.* ([0-9]+) -> ([^0-9]*).*/\1 \2/p' <<<"$output")
    run --separate-stderr as_alice srun -N1 -w n1 --apapi=rapl ls -l /proc/self/fd
    [[ $(sed -nE 's/.* ([0-9]+) -> ([^0-9]*).*/\1 \2/p' <<<"$output") == "$without" ]]
    for option in --apapi=off --apapi=rapl; do
        run --separate-stderr as_alice salloc --quiet -N1 "$option" ls /proc/self/fd
        [[ $option != --apapi=off ]] || without=$output
        [[ $output == "$without" ]]
    done
}

@test "a batch step sends nothing to an address that the user names" {
    cat >"$APAPI_CLUSTER_DIR/listen.py" <<'END'
import select, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(f"{listener.getsockname()[1]}\n")
print("connected" if select.select([listener, sys.stdin], [], [])[0] == [listener] else "none")
END
    : >"$APAPI_CLUSTER_DIR/port"
    mkfifo "$BATS_TEST_TMPDIR/over"
    cluster on n1 python3 "$APAPI_CLUSTER_DIR/listen.py" "$APAPI_CLUSTER_DIR/port" \
        <"$BATS_TEST_TMPDIR/over" >"$BATS_TEST_TMPDIR/heard" 3>&- &
    listener=$!
    exec 8>"$BATS_TEST_TMPDIR/over"
    eventually test -s "$APAPI_CLUSTER_DIR/port"
    as_alice env "SLURM_APAPI_COLLECT=$(<"$APAPI_CLUSTER_DIR/port"):0123456789abcdef0123456789abcdef" \
        SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 SLURM_SRUN_COMM_HOST=127.0.0.1 \
        sh -c "$(<"$tests/sbatch_wait.sh")" sbatch_wait --output=/dev/null --apapi=rapl -N1 -w n1 --wrap 'sleep 0.2'
    holds "$(last_record n1)" '.step == "batch" and .complete'
    exec 8>&-
    wait "$listener"
    [[ $(<"$BATS_TEST_TMPDIR/heard") == none ]]
}

@test "the token is in no task's environment, and in no process's arguments" {
    run --separate-stderr as_alice srun -N1 -w n1 --apapi=rapl sh -c 'env | grep -c "^SLURM_APAPI_"; ps -e -o args='
    [[ $(head -n 1 <<<"$output") == 0 ]]
    run ! grep -qE '(^|[^0-9a-f])[0-9a-f]{32}([^0-9a-f]|$)' <<<"$output"
}

@test "what is kept is root's alone" {
    as_alice srun -N1 --apapi=rapl sleep 0.1
    for folder in "$APAPI_ACCT_DIR" "$APAPI_SPOOL_DIR"; do
        [[ -e $folder ]] || continue
        [[ $(stat -c %U:%a "$folder") == root:700 ]]
        [[ -z $(find "$folder" ! -user root) ]]
        [[ -z $(find "$folder" -type d ! -perm 700) && -z $(find "$folder" -type f ! -perm 600) ]]
        run cluster run --user bob ls "$folder"
        [[ $status -ne 0 ]]
    done
}
