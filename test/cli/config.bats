#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi config, and what the programs take from apapi.conf.

# shellcheck disable=SC2030,SC2031 # each test has its own configuration
load atime_common

put() { # TEXT
    conf=$BATS_TEST_TMPDIR/apapi.conf
    printf '%s\n' "$1" >"$conf"
    chmod 644 "$conf"
}

put_programs() { # FOLDER
    ln -s /bin/true "$1/apapi-sampler"
    ln -s /bin/true "$1/apapi-collect"
}

@test "--check tells every value that its program would refuse: idle_w = many, pue = 0.5, default = rpl" {
    # shellcheck disable=SC2016 # no variables
    put 'default = rpl
interval = 100
enabled = perhaps
[estimate]
idle_w = many
core_w = -3
[ipmi]
host = bmc:99999
password_file = /no/such/file
cipher_suite = 99
timeout = 5
period = 2h
privilege = root
[nvml]
library = /no/such/library.so
[gpus]
order = size
[report]
co2_g_per_kwh = much
price_per_kwh = 0-6:1
currency = a-currency-of-more-than-16-bytes
pue = 0.5
[mail]
mailer = mail
wait = 60'
    run -1 "$apapi" config --check "$conf"
    for line in "2: 'interval = 100' has no effect: a unit is missing in '100': ms, s, m or h; " "3: 'enabled = perhaps' has no effect" \
        "1: default: unknown component 'rpl': did you mean 'rapl'" "5: [estimate]: 'idle_w = many': expected watts" \
        "6: [estimate]: 'core_w = -3': expected watts" "8: [ipmi]: 'host = bmc:99999': '99999' is not a port" \
        "9: [ipmi]: 'password_file = /no/such/file': No such file" \
        "10: [ipmi]: 'cipher_suite = 99': expected one of 1, 2, 3" \
        "11: [ipmi]: 'timeout = 5': a unit is missing in '5'" "12: [ipmi]: 'period = 2h': expected" \
        "13: [ipmi]: 'privilege = root': expected one of user" \
        "15: [nvml]: 'library = /no/such/library.so': No such file" "17: [gpus]: 'order = size': expected one of minor, pci" \
        "19: [report]: 'co2_g_per_kwh = much'" "20: [report]: 'price_per_kwh = 0-6:1'" "21: [report]: 'currency = " \
        "22: [report]: 'pue = 0.5': 0.5 is below 1" "24: [mail]: 'mailer = mail': no absolute path" "25: [mail]: 'wait = 60': a unit is missing"; do
        grep -qF "$conf:$line" <<<"$output" || { echo "missing: $line"; return 1; }
    done
    [[ ${#lines[@]} -eq 19 ]]
    put $'[estimate]\nidle_w = 60'
    tells 1 "$conf:2: \[estimate]: idle_w has no effect without core_w" "$apapi" config --check "$conf"
    put $'[Mail]\nmailer = x\nwait = 1s\n[mail]\nmailer = /nonexist'
    run -1 "$apapi" config --check "$conf"
    [[ ${lines[0]} == "$conf:1: unknown section 'Mail': did you mean 'mail'?"* && ${#lines[@]} -eq 2 ]]
    [[ ${lines[1]} == "$conf:5: [mail]: 'mailer = /nonexist': No such file"* ]]
    for host in bmc bmc:623 '[::1]:623' fe80::1 10.0.0.7; do
        put "[ipmi]"$'\n'"host = $host"
        prints 0 "*ok" "$apapi" config --check "$conf"
    done
}

@test "--check and doctor tell that nothing can be measured, and where no record can be written" {
    export APAPI_CONFIG=$BATS_TEST_TMPDIR/apapi.conf
    : >"$BATS_TEST_TMPDIR/file"
    mkdir "$BATS_TEST_TMPDIR/torn"
    echo none >"$BATS_TEST_TMPDIR/torn/apapi-sampler"
    chmod 755 "$BATS_TEST_TMPDIR/torn/apapi-sampler"
    while IFS='|' read -r line expected; do
        put "${line//TMP/$BATS_TEST_TMPDIR}"
        expected="$conf:$([[ $line == [[]* ]] && echo 2 || echo 1): ${expected//TMP/$BATS_TEST_TMPDIR}"
        [[ $line != [[]* ]] || put "${line/ /$'\n'}"
        run -1 "$apapi" config --check
        [[ $output == "$expected"* && ${#lines[@]} -eq 1 ]]
        run "$apapi" doctor estimate
        [[ $(tr -s ' \n' ' ' <<<"$output") == *" mistake $expected"* ]]
        [[ $line != libexec* || $(tr -s ' ' <<<"$output") == *"root, srun --apapi= nothing, see below"* ]]
    done <<'END'
acct_dir = TMP/not/there|acct_dir: no records can be written on this machine: TMP/not/there: the folder above it does not exist
spool_dir = TMP/file|spool_dir: no records can be written on this machine: TMP/file: not a folder
acct_dir = /proc/foo|acct_dir: no records can be written on this machine: /proc/foo: the kernel keeps no files there
user_records = /nix/a/b|user_records: no records can be written on this machine: /nix/a/b: the folder above it
live_dir = TMP|live_dir: no live pages can be written on this machine: TMP: not on a memory file system (tmpfs)
libexec_dir = /nix|libexec_dir: no step can be measured on this machine: /nix/apapi-sampler: No such file
libexec_dir = TMP/torn|libexec_dir: no step can be measured on this machine: TMP/torn/apapi-sampler: Exec format error
[index] path = rel.db|[index]: 'path = rel.db': no absolute path; path takes: absolute path of the index
END
    if unshare -m true 2>/dev/null; then # a file system that is full of files
        put 'acct_dir = /mnt/acct'
        tells 1 '*: /mnt/acct: No space left on device' unshare -m sh -c 'mount -t tmpfs -o nr_inodes=1 tmpfs /mnt; "$1" config --check' - "$apapi"
        put "acct_dir = $BATS_TEST_TMPDIR/link" # in a folder of an ordinary user, who could let it point anywhere
        chown 65534 "$BATS_TEST_TMPDIR"
        ln -s /var/lib "$BATS_TEST_TMPDIR/link"
        tells 1 '*/link: a link that ordinary users may have made' "$apapi" config --check
    fi
    put 'enabled = no'
    tells 0 '*warning: *:1: enabled: no step is measured*' "$apapi" config --check
    prints 1 '*--apapi=*nothing, see below*warning *:1: enabled: no step is measured*' "$apapi" doctor estimate
    mkdir "$BATS_TEST_TMPDIR/acct"
    mkdir "$BATS_TEST_TMPDIR/helpers"
    put_programs "$BATS_TEST_TMPDIR/helpers"
    put "acct_dir = $BATS_TEST_TMPDIR/acct"$'\n'"libexec_dir = $BATS_TEST_TMPDIR/helpers"
    chmod 640 "$conf"
    chmod 777 "$BATS_TEST_TMPDIR"/{acct,helpers}
    run "$apapi" config --check
    ((EUID)) || [[ $output == *"$conf:2: libexec_dir: $BATS_TEST_TMPDIR/helpers: others can change it: "* ]]
    [[ $output == *"warning: $conf: users cannot read it: "* ]]
    ((EUID)) || [[ $output == *"$conf:1: acct_dir: no records can be trusted on this machine: $BATS_TEST_TMPDIR/acct: others can change it: "* ]]
    chmod 666 "$conf"
    prints 1 '*mistake *apapi.conf: ignored: *' "$apapi" doctor estimate
}

@test "a folder may end with a slash; user_records that others could change or replace gets no copies" {
    ((EUID == 0)) || skip 'needs root'
    put_programs "$BATS_TEST_TMPDIR"
    users=$BATS_TEST_TMPDIR/above/users
    put "acct_dir = $BATS_TEST_TMPDIR//acct/"$'\n'"libexec_dir = $BATS_TEST_TMPDIR"$'\n'"user_records = $users"
    mkdir -p "$users" && chmod 700 "$users" # the sampler lets users in
    tells 0 "$conf: ok" "$apapi" config --check "$conf"
    for folder in "$users" "$BATS_TEST_TMPDIR/above"; do
        chown 4711 "$folder"
        prints 1 "$conf:3: user_records: no records can be trusted on this machine: $users: others than root can *" "$apapi" config --check "$conf"
        chown 0 "$folder"
    done
}

@test "ok; without --check the values and where they come from" {
    put $'default = rapl\n[estimate]\nidle_w = 60\ncore_w = 8'
    tells 0 "$conf: ok" "$apapi" config --check "$conf"
    run -0 "$apapi" config "$conf"
    [[ $output == *"default = rapl # $conf:1"* && $output == *'min_interval = 10ms # default'* ]]
    [[ $output == *$'[estimate]\nidle_w = 60'" # $conf:3"* ]]
}

@test "what is shown can be read again" {
    put $'allow_users = alice, bob\nacct_dir = "/tmp/a # b"\n[ipmi]\nhost = x'
    "$apapi" config "$conf" >"$BATS_TEST_TMPDIR/again"
    run -0 "$apapi" config --check "$BATS_TEST_TMPDIR/again"
    diff <("$apapi" config "$conf" | sed '1d; s/ # [^#]*$//') \
        <("$apapi" config "$BATS_TEST_TMPDIR/again" | sed '1d; s/ # [^#]*$//')
}

@test "the file that is installed is good, with every key and every section in it" {
    file=$BATS_TEST_TMPDIR/installed
    put_programs "$BATS_TEST_TMPDIR"
    touch "$BATS_TEST_TMPDIR/there" && chmod 600 "$BATS_TEST_TMPDIR/there"
    sed -E "s,^#(library|password_file) = .*,#\1 = $BATS_TEST_TMPDIR/there,; s,^#(user_records) = .*,#\1 = $BATS_TEST_TMPDIR,; s,^#(mailer) = .*,#\1 = /bin/true,; s,@[A-Z_]+@,$BATS_TEST_TMPDIR," \
        "$repository/config/apapi.conf.in" >"$file"
    run -0 "$apapi" config --check "$file"
    all=$BATS_TEST_TMPDIR/all
    sed -E 's/^#([a-z_]+ = |\[)/\1/' "$file" >"$all"
    run -0 "$apapi" config --check "$all"
    run -0 "$apapi" config "$all"
    [[ $output != *'# default'* ]]
    missing=$(comm -23 <(sed -nE 's/^CONFIG_SECTION_KEY\(([a-z_]+), ([a-z_]+),.*/\1 \2/p' "$repository/core/config/sections.def" | sort) \
        <(awk '/^\[/ { s = substr($1, 2, length($1) - 2) } s && /^[a-z_]+ = / { print s, $1 }' "$all" | sort))
    echo "$missing"
    [[ -z $missing ]]
}

@test "a file that cannot be read" {
    for check in '' --check; do
        tells 1 '*/no/such/file: No such file*' "$apapi" config $check /no/such/file
    done
    APAPI_CONFIG=/no/such/file tells 0 '# /no/such/file: there is no such file: these are the defaults*' "$apapi" config
    tells 1 '*not a regular file*' "$apapi" config --check "$BATS_TEST_TMPDIR"
    put 'default = rapl'
    chmod 666 "$conf"
    ((EUID)) || tells 1 "*$conf: ignored: others can write it*" "$apapi" config "$conf"
}

@test "APAPI_CONFIG: its sections are settings of sources; the environment wins" {
    put $'[estimate]\nidle_w = 60\ncore_w = 8'
    export APAPI_CONFIG=$conf
    tells 0 '*60 W + 8 W per busy core*' "$atime" -c estimate sleep 0.1
    APAPI_ESTIMATE_IDLE_W=70 tells 0 '*70 W + 8 W per busy core*' "$atime" -c estimate sleep 0.1
    tells 0 '*60 W + 8 W per busy core*' "$apapi" doctor estimate
    tells 0 "*idle_w = 60 # $conf:2*" "$apapi" config
    export APAPI_CONFIG=$conf.typo APAPI_ESTIMATE_IDLE_W=70 APAPI_ESTIMATE_CORE_W=8
    tells 0 "atime: APAPI_CONFIG=$conf.typo has no effect: No such file or directory*70 W + 8 W*" "$atime" -c estimate true
    tells 0 "apapi list: APAPI_CONFIG=$conf.typo has no effect: *70 W + 8 W*" "$apapi" list estimate
    tells 0 "*apapi doctor: APAPI_CONFIG=$conf.typo has no effect: *" "$apapi" doctor estimate
}

@test "files for which every step waits, on a network file system: config --check and doctor warn" {
    [[ ${APAPI_TEST_BUILD:-} != *san ]] || skip 'sanitizers have to be loaded first'
    put "default = rapl
acct_dir = $BATS_TEST_TMPDIR/acct
spool_dir = $BATS_TEST_TMPDIR/spool
libexec_dir = $BATS_TEST_TMPDIR/helpers"
    mkdir "$BATS_TEST_TMPDIR/helpers"
    put_programs "$BATS_TEST_TMPDIR/helpers"
    cc -D_GNU_SOURCE -shared -fPIC -o "$BATS_TEST_TMPDIR/disk.so" "$repository/test/fake/network_disk.c" -ldl
    on_nfs() { LD_PRELOAD=$BATS_TEST_TMPDIR/disk.so NETWORK_DISK=$1 APAPI_CONFIG=$conf "${@:2}"; }
    says() { echo "$BATS_TEST_TMPDIR/$1: on NFS: every step waits while its server does not respond"; }
    prints 0 "$conf: ok" on_nfs "$BATS_TEST_TMPDIR" "$apapi" config --check
    [[ $stderr == "apapi config: warning: apapi.conf: $(says apapi.conf)"$'\n'"apapi config: warning: libexec_dir: $(says helpers)" ]]
    run on_nfs "$BATS_TEST_TMPDIR" "$apapi" doctor estimate
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"warning apapi.conf: $(says apapi.conf) warning libexec_dir: $(says helpers)"* ]]
    # a folder of records there delays nobody
    run -0 --separate-stderr on_nfs "$BATS_TEST_TMPDIR/acct" "$apapi" config --check
    [[ $output == "$conf: ok" && -z $stderr ]]
}
