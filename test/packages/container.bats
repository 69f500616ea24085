#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=long
# config/recipes/container/Containerfile, as far as it goes without a registry of images: what it copies, runs and starts,
# in a clean tree of the release that it names.

load ../environment

# The text after a word that stands once in the recipe.
instruction() { # WORD
    [[ $(grep -c "^$1 " "$recipe") -eq 1 ]]
    sed -n "s/^$1 //p" "$recipe"
}

setup() {
    recipe=$repository/config/recipes/container/Containerfile
    matrix=$repository/scripts/slurm-matrix trees=$repository/build/container-trees
    rm -rf --one-file-system "$trees"
}

teardown() { rm -rf --one-file-system "$trees"; }

@test "the demo runs in a container that is made as the recipe says" {
    local status=0 root environment
    ((EUID == 0)) || skip 'needs root'
    [[ $(instruction FROM) == debian:12 && $(instruction COPY) == '. /apapi' && $(instruction WORKDIR) == /apapi ]]
    "$matrix" --dir "$trees" make bookworm ca-certificates >"$BATS_TEST_TMPDIR/make" 2>&1 || status=$?
    [[ $status != 125 ]] || skip "$(tail -n 1 "$BATS_TEST_TMPDIR/make")"
    [[ $status == 0 ]] || { cat "$BATS_TEST_TMPDIR/make"; false; }
    root=$trees/bookworm/root
    mkdir "$root/apapi"
    git -C "$repository" ls-files -z --cached --others --exclude-standard |
        tar -C "$repository" --null -T - -c | tar -C "$root/apapi" -x
    read -ra environment <<<"$(instruction ENV)"
    run "$matrix" --dir "$trees" run bookworm env "${environment[@]}" sh -c "cd /apapi && $(instruction RUN)"
    [[ $status -eq 0 ]]
    run "$matrix" --dir "$trees" run bookworm sh -c "cd /apapi && $(instruction CMD | jq -r 'join(" ")')"
    [[ $status -eq 0 && $output == *$'\n  total '* && $output == *$'\ndemo: done; '* ]]
}
