#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# test/analyze/rooms: who may include whom in core/, and circles of files.

load ../environment

setup() {
    rooms=$BATS_TEST_DIRNAME/../../test/analyze/rooms
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree"/core/{base,record,sum,cli/{totals,show,plot}}
    cat >"$tree/core/rooms" <<'END'
# a remark
base:
record:     base
sum:        + record
cli:        + sum
cli/totals: + cli
END
    put base/text.c 'base/text.h'
    put base/text.h
    put record/fields.h 'base/text.h' 'apapi/record.h'
    put sum/merge.c 'record/fields.h' 'base/text.h'
    put cli/grid.h 'base/text.h'
    put cli/totals/ledger.h 'sum/merge.h'
    put cli/show/show.h 'cli/grid.h' 'cli/totals/ledger.h' 'record/fields.h'
}

put() { # FILE INCLUDED...
    echo '/* a file */' >"$tree/core/$1"
    for name in "${@:2}"; do echo "#include \"$name\"" >>"$tree/core/$1"; done
}

breaks() { # LINE
    run -1 "$rooms" "$tree"
    [[ $output == "$1"* && ${#lines[@]} -eq 1 ]]
}

@test "includes of rooms below are fine, also by +, in commands and of public headers" {
    tells 0 '' "$rooms" "$tree"
}

@test "an include of a room above, of another command, or without its room is named with its file and line" {
    local said words
    while IFS='|' read -r words said; do
        rm -r "$tree"
        setup
        mkdir "$tree/core/new"
        # shellcheck disable=SC2086 # words
        put $words
        breaks "$said"
    done <<'END'
base/text.c base/text.h record/fields.h|core/base/text.c:3: base may not use record (record/fields.h)
cli/plot/plot.c cli/show/show.h|core/cli/plot/plot.c:2: cli/plot may not use cli/show
cli/totals/ledger.c cli/show/show.h|core/cli/totals/ledger.c:2: cli/totals may not use cli/show
cli/grid.c cli/totals/ledger.h|core/cli/grid.c:2: cli may not use cli/totals
new/new.c|core/new/new.c: lies in no room
sum/merge.c merge.h|core/sum/merge.c:2: "merge.h" is in no room
END
    rm -r "$tree"
    setup
    sed -i 's/^base:/base: sum/' "$tree/core/rooms"
    breaks 'core/rooms:2: room "sum" must stand above "base"'
}

@test "a circle of files is named, a file being NAME.c with its NAME.h" {
    put sum/merge.h 'sum/notes.h'
    put sum/merge.c 'sum/merge.h' 'sum/notes.h'
    put sum/notes.h
    put sum/notes.c 'sum/table.h'
    put sum/table.h 'sum/merge.h'
    breaks 'core/: a circle of files: sum/merge -> sum/notes -> sum/table -> sum/merge'
}

@test "a room with more lines than the table gives it is named, with those below it" {
    printf '%s takes %d lines\n' cli 9 base 3 >>"$tree/core/rooms"
    run -0 "$rooms" "$tree"
    put cli/plot/plot.c 'base/text.h'
    breaks 'core/cli: has 10 lines, and core/rooms gives it 9'
    run -0 "$rooms" --lines "$tree"
    [[ ${lines[0]} =~ cli\ +10\ of\ +9\ lines && ${lines[1]} =~ base\ +3\ of\ +3\ lines && ${#lines[@]} -eq 3 ]]
}
