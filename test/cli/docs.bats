#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# test/analyze/docs: do the documents say what is true of the tree and of the programs?

load ../environment

setup() {
    docs=$BATS_TEST_DIRNAME/../../test/analyze/docs
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree"/{build/install/bin,core/config,docs/man,scripts,spank_apapi,test/unit}
    touch "$tree/test/unit/test_units.c"
    printf 'config_keys[CONFIG_KEYS] = {\n    {"interval", 0},\n};\n' >"$tree/core/config/config.c"
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
`apapi list --json`, `srun --apapi-format=json ./app --other`, `scripts/demo --fast`, `[x](none)`
```
[x](none)
```
END
    tells 0 '' "$docs" "$tree"
}

@test "each mistake in a page, a manual page, an option or a key is named with its line" {
    local file text said
    while IFS='|' read -r file text said; do
        setup
        printf '%b' "$text" >>"$tree/$file"
        finds "$said"
    done <<'END'
README.md|\n[x](docs/none.md)\n|README.md:6: dead link: docs/none.md
README.md|\n[x](docs/page.md#c)\n|README.md:6: dead anchor: docs/page.md#c
README.md|\nin `core/none/`\n|README.md:6: there is no core/none/
docs/man/apapi-list.1.scd|\nscripts\\/none\n|docs/man/apapi-list.1.scd:7: there is no scripts/none
docs/man/apapi-list.1.scd|\n_test/unit/\\*.h_\n|docs/man/apapi-list.1.scd:7: there is no test/unit/*.h
docs/man/apapi-list.1.scd|\n*--extra*\n|docs/man/apapi-list.1.scd:7: apapi list has no option --extra
docs/man/apapi-list.1.scd|```\n$ apapi list --no \n```\n|docs/man/apapi-list.1.scd:7: apapi list has no option --no
build/install/bin/apapi|printf '      --new\\n'\n|docs/man/apapi-list.1.scd:1: option --new of apapi list is missing
spank_apapi/options.c|{"apapi-trace", 0}\n|docs/man/spank_apapi.8.scd:1: option --apapi-trace of srun is missing
README.md|\n`apapi list --no x`\n|README.md:6: apapi list has no option --no
README.md|\n```\nscripts/demo --slow\n```\n|README.md:7: scripts/demo has no option --slow
README.md|\n```\nsrun --apapi-fast=1 ./app\n```\n|README.md:7: srun has no option --apapi-fast
core/config/sections.def|CONFIG_SECTION_KEY(ipmi, user, TEXT(16), "")\n|docs/man/apapi.conf.5.scd:1: key user is missing
docs/man/apapi.conf.5.scd|\n*old* = _WORD_\n|docs/man/apapi.conf.5.scd:5: there is no key old
END
    setup
    # shellcheck disable=SC2016 # not a command
    printf '\n`scripts/setup --test`\n' >>"$tree/README.md"
    tells 1 "*there is no 'scripts/setup'*" "$docs" "$tree"
}
