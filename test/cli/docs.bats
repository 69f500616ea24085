#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# test/analyze/docs: do the documents say what is true of the tree and of the programs?

load ../environment

setup() {
    docs=$BATS_TEST_DIRNAME/../../test/analyze/docs
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree"/{build/install/bin,core/config,docs/man,scripts,spank_apapi,test/unit}
    touch "$tree/test/unit/test_units.c"
    printf 'config_keys[CONFIG_KEYS] = {\n    {"interval", 0},\n};\n' >"$tree/core/config/values.c"
    echo 'CONFIG_SECTION_KEY(ipmi, host, TEXT(255), "a BMC")' >"$tree/core/config/sections.def"
    echo '{"apapi-format", 0}, {"apapi", 0}' >"$tree/spank_apapi/options.c"
    printf '*--apapi*[=_LIST_]\n\n*--apapi-format*=_FORM_\n' >"$tree/docs/man/spank_apapi.8.scd"
    printf '*interval* = _LIST_\n\n*host* = _NAME_\n' >"$tree/docs/man/apapi.conf.5.scd"
    printf '# OPTIONS\n\n*--json*\n\n*-h*, *--help*\n' >"$tree/docs/man/apapi-list.1.scd"
    program build/install/bin/apapi '      --json  for programs\n  -h, --help\n'
    program scripts/demo 'usage: scripts/demo [--fast]\n'
    printf '# Top\n\nSee [here](#some-words-2) and [there](docs/page.md#a-b).\n## Some `words`, 2\n' >"$tree/README.md"
    printf '## A B\n' >"$tree/docs/page.md"
}

program() { # FILE HELP
    printf "#!/bin/sh\nprintf '%s'\n" "$2" >"$tree/$1"
    chmod +x "$tree/$1"
}

finds() { # TEXT: the one mistake
    run -1 "$docs" "$tree"
    [[ $output == "$1" ]] || { echo "$output"; false; }
}

@test "documents without a mistake" {
    cat >>"$tree/README.md" <<'END'
`test/unit/test_units.c`, `test/unit/*.c`, `test/{unit}/test_units.c`, `test/unit/test_NAME.c`, https://x.org/docs/none.md
`apapi list --json`, `srun --apapi-format=json ./app --other`, `scripts/demo --fast`
END
    tells 0 '' "$docs" "$tree"
}

@test "a dead link and a dead anchor are named, but none in code" {
    printf '\n[x](docs/none.md)\n' >>"$tree/README.md"
    finds 'README.md:6: dead link: docs/none.md'
    setup
    printf '\n[x](docs/page.md#c)\n' >>"$tree/README.md"
    finds 'README.md:6: dead anchor: docs/page.md#c'
    setup
    # shellcheck disable=SC2016 # not a command
    printf '\n`[x](none)`\n```\n[x](none)\n```\n' >>"$tree/README.md"
    run -0 "$docs" "$tree"
}

@test "a path that does not exist is named, in a page and in a manual page" {
    # shellcheck disable=SC2016 # not a command
    printf '\nin `core/none/`\n' >>"$tree/README.md"
    finds 'README.md:6: there is no core/none/'
    setup
    printf '\nscripts\\/none and _test/unit/\\*.h_\n' >>"$tree/docs/man/apapi-list.1.scd"
    run -1 "$docs" "$tree"
    [[ $output == $'docs/man/apapi-list.1.scd:7: there is no scripts/none\ndocs/man/apapi-list.1.scd:7: there is no test/unit/*.h' ]]
}

@test "an option of a manual page that the program has not, and the other way round" {
    printf '\n*-x*, *--extra*\n' >>"$tree/docs/man/apapi-list.1.scd"
    run -1 "$docs" "$tree"
    [[ $output == $'docs/man/apapi-list.1.scd:7: apapi list has no option --extra\ndocs/man/apapi-list.1.scd:7: apapi list has no option -x' ]]
    setup
    program build/install/bin/apapi '  --json\n  -h, --help\n      --new\n'
    finds 'docs/man/apapi-list.1.scd:1: option --new of apapi list is missing'
    setup
    echo '{"apapi-trace", 0}' >>"$tree/spank_apapi/options.c"
    finds 'docs/man/spank_apapi.8.scd:1: option --apapi-trace of srun is missing'
}

@test "options in the code of a page: of commands, scripts and srun" {
    # shellcheck disable=SC2016 # not a command
    printf '\n`apapi list --no x`\n' >>"$tree/README.md"
    finds 'README.md:6: apapi list has no option --no'
    setup
    printf '\n```\nscripts/demo --slow\nsrun --apapi-fast=1 ./app\n```\n' >>"$tree/README.md"
    run -1 "$docs" "$tree"
    [[ $output == $'README.md:8: srun has no option --apapi-fast\nREADME.md:7: scripts/demo has no option --slow' ||
        $output == $'README.md:7: scripts/demo has no option --slow\nREADME.md:8: srun has no option --apapi-fast' ]]
    setup
    printf '```\n$ apapi list --no | jq --raw-output\n```\n' >>"$tree/docs/man/apapi-list.1.scd"
    finds 'docs/man/apapi-list.1.scd:7: apapi list has no option --no'
    setup
    # shellcheck disable=SC2016 # not a command
    printf '\n`scripts/setup --test`\n' >>"$tree/README.md"
    tells 1 "*there is no 'scripts/setup'*" "$docs" "$tree"
}

@test "keys of apapi.conf" {
    printf '*interval* = _LIST_\n\n*old* = _WORD_\n' >"$tree/docs/man/apapi.conf.5.scd"
    run -1 "$docs" "$tree"
    [[ $output == $'docs/man/apapi.conf.5.scd:1: key host is missing\ndocs/man/apapi.conf.5.scd:3: there is no key old' ]]
}
