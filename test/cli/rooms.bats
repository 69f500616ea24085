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

@test "an include of a room above is named with its file and line" {
    put base/text.c 'base/text.h' 'record/fields.h'
    breaks 'core/base/text.c:3: base may not use record (record/fields.h)'
}

@test "no command uses another, and what they share uses none" {
    put cli/plot/plot.c 'cli/show/show.h'
    breaks 'core/cli/plot/plot.c:2: cli/plot may not use cli/show'
    rm "$tree/core/cli/plot/plot.c"
    put cli/totals/ledger.c 'cli/show/show.h'
    breaks 'core/cli/totals/ledger.c:2: cli/totals may not use cli/show'
    rm "$tree/core/cli/totals/ledger.c"
    put cli/grid.c 'cli/totals/ledger.h'
    breaks 'core/cli/grid.c:2: cli may not use cli/totals'
}

@test "a file in no room, a file included without its room, a row that names a room below" {
    mkdir "$tree/core/new"
    put new/new.c
    breaks 'core/new/new.c: lies in no room'
    rm "$tree/core/new/new.c"
    put sum/merge.c 'merge.h'
    breaks 'core/sum/merge.c:2: "merge.h" is in no room'
    put sum/merge.c
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
