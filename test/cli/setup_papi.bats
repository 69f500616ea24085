#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/setup-papi, without a network; truth_papi.bats uses what it builds.

# bats file_tags=long
load ../environment

setup() {
    script=$BATS_TEST_DIRNAME/../../scripts/setup-papi
    prefix=$BATS_TEST_TMPDIR/prefix
    mkdir "$BATS_TEST_TMPDIR/bin"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

# An apt-get that knows a mirror and does what the script $1 says with the last words of a command.
fake_apt() {
    cat >"$BATS_TEST_TMPDIR/bin/apt-get" <<END
#!/bin/bash
case \$* in
indextargets*) echo 'main value' ;;
$1
*) exit 100 ;;
esac
END
    chmod +x "$BATS_TEST_TMPDIR/bin/apt-get"
}

@test "help and wrong usage" {
    prints 0 'usage: scripts/setup-papi \[--stable] PREFIX*' "$script" --help
    for arguments in '' '--nonsense' 'a b' '--stable'; do
        # shellcheck disable=SC2086 # words
        run -2 --separate-stderr "$script" $arguments
        [[ -z $output && $stderr == usage:* ]]
    done
}

@test "what is there already is left as it is" {
    fake_apt ''
    mkdir -p "$prefix/share/papi"
    echo '7.2.0.0' >"$prefix/share/papi/built-by-setup-papi"
    tells 0 "setup-papi: PAPI 7.2.0.0 is ready in $prefix" "$script" "$prefix"
    tells 1 "*$prefix holds PAPI 7.2.0.0 already; choose another folder*" "$script" --stable "$prefix"
    [[ $(find "$prefix" -type f) == "$prefix/share/papi/built-by-setup-papi" ]]
}

@test "no network: it says so, with a status of its own, and leaves the log only" {
    fake_apt ''
    tells 3 '*PAPI 7.2.0 cannot be had here; taking the one of value*' "$script" "$prefix"
    [[ $output == *"the source of PAPI cannot be had from this machine's mirror, see $prefix/setup-papi.log"* ]]
    [[ $(find "$prefix" -mindepth 1) == "$prefix/setup-papi.log" ]]
}

@test "another archive than the known one is not used" {
    fake_apt '*update) ;;
*"source --tar-only"*) tar -czf papi_7.2.0.orig.tar.gz -C / etc/hostname ;;'
    tells 3 '*papi_7.2.0.orig.tar.gz is not the one that is known: not used*' "$script" "$prefix"
    [[ $(find "$prefix" -mindepth 1) == "$prefix/setup-papi.log" ]]
}
