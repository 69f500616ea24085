#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# test/analyze/rooms --links: who may call whom in core/, circles of files, and files that are compiled twice.

load ../environment

setup() {
    rooms=$BATS_TEST_DIRNAME/../../test/analyze/rooms
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree"/core/{base,record,sum,cli/show} "$tree/build/core"
    cat >"$tree/core/rooms" <<'END'
libapapi:
base:
record: base
sum:    base
cli:    base libapapi
base/table lists sum
END
    put base/text.c text
    put base/table.c table
    put record/fields.c fields text
    put sum/merge.c merge text
    put cli/show/show.c show text
}

put() { # FILE FUNCTION CALLED...
    {
        printf 'void %s(void);\n' "${@:2}"
        echo "void $2(void)"
        echo '{'
        [[ $# -eq 2 ]] || printf '    %s();\n' "${@:3}"
        echo '}'
    } >"$tree/core/$1"
}

build() { # FILE...: those that libapapi exports
    local source object
    : >"$tree/build/build.ninja"
    for source in core/*/*.c core/cli/*/*.c; do
        compile "$source" "core/tool.dir/${source//\//_}.o"
    done
    cc -shared -fPIC -o "$tree/build/core/libapapi.so" "${@/#/$tree/core/}"
}
compile() { # SOURCE OBJECT
    mkdir -p "$tree/build/${2%/*}"
    echo "build $2: C_COMPILER__tool_ $tree/$1 || order" >>"$tree/build/build.ninja"
    cc -c -o "$tree/build/$2" "$tree/$1"
}

breaks() { # LINE
    run -1 "$rooms" --links "$tree/build" "$tree"
    [[ $output == "$1" ]]
}

@test "calls of rooms below are fine, and those of a table of rooms above" {
    cd "$tree"
    put base/table.c table merge
    build base/text.c
    tells 0 '' "$rooms" --links "$tree/build" "$tree"
}

@test "a call of a room above is named with both files, also without an include" {
    cd "$tree"
    put record/fields.c fields merge
    build base/text.c
    breaks 'core/record/fields.c: record may not use sum (merge of core/sum/merge.c), see core/rooms'
}

@test "what libapapi exports may be called by rooms that say so" {
    cd "$tree"
    put cli/show/show.c show merge
    build base/text.c
    breaks 'core/cli/show/show.c: cli/show may not use sum (merge of core/sum/merge.c), see core/rooms'
    build sum/merge.c
    run -0 "$rooms" --links "$tree/build" "$tree"
}

@test "files that call each other in a circle are named, also where a part of it is an include" {
    cd "$tree"
    put base/text.c text table
    put base/table.c table
    echo '#include "base/text.h"' >core/base/table.h
    : >core/base/text.h
    build base/text.c
    breaks 'core/: a circle of files: base/table -> base/text -> base/table'
}
