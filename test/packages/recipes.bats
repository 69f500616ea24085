#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=long
# shellcheck disable=SC2030,SC2031 # each test has its own environment
# The recipes for sites, each read as its tool reads it; and the archive that they build from.

load ../environment

setup() {
    recipes=$repository/config/recipes
}

recipe() { # KIND FILE [CHECKSUM]
    run python3 "$BATS_TEST_DIRNAME/check_recipe.py" "$1" "$2" "$repository" "$repository/build/install" "${@:3}"
    echo "$output"
}

@test "Spack's package names options, versions and variants that exist" {
    recipe spack "$recipes/spack/apapi/package.py"
    [[ $status == 0 ]]
}

@test "EasyBuild's recipe is complete, and what it looks for is installed" {
    recipe easybuild "$recipes/easybuild/"*.eb
    [[ $status == 0 ]]
}

@test "Ansible reads the playbook and the role" {
    export LC_ALL=C.UTF-8 # as Ansible demands
    cd "$recipes/ansible"
    run -0 ansible-playbook --syntax-check -i localhost, apapi.yml
    prints 0 '*Activate the plugin, always as optional*' ansible-playbook --list-tasks -i localhost, apapi.yml
}

@test "the role's apapi.conf and line for Slurm are right" {
    export LC_ALL=C.UTF-8
    cat >"$BATS_TEST_TMPDIR/play.yml" <<END
- hosts: localhost
  connection: local
  gather_facts: false
  vars_files: ["$recipes/ansible/roles/apapi/defaults/main.yml"]
  tasks:
    - ansible.builtin.template:
        src: "$recipes/ansible/roles/apapi/templates/apapi.conf.j2"
        dest: "$BATS_TEST_TMPDIR/apapi.conf"
        validate: $repository/build/install/bin/apapi config --check %s
END
    run -0 ansible-playbook -i localhost, -e apapi_default=rapl:nvml -e '{"apapi_conf": "interval = 1s"}' \
        "$BATS_TEST_TMPDIR/play.yml"
    grep -qx 'default = rapl:nvml' "$BATS_TEST_TMPDIR/apapi.conf"
    pattern=$(sed -nE "s/^ +regexp: '(.*)'/\1/p" "$recipes/ansible/roles/apapi/tasks/main.yml")
    # the line that the package installs is the one that is replaced
    sed 's/^optional/#optional/; s#@APAPI_PLUGIN@#/usr/lib/slurm/spank_apapi.so#' "$repository/config/plugstack.conf.in" |
        python3 -c 'import re, sys; sys.exit(sum(1 for l in sys.stdin if re.search(sys.argv[1], l.rstrip())) != 1)' "$pattern"
}

@test "the archive of the sources configures, without Slurm too" {
    run -0 "$repository/scripts/package" --output="$BATS_TEST_TMPDIR" source
    # the recipes beside it have its checksum
    sum=$(sha256sum "$BATS_TEST_TMPDIR"/apapi-*.tar.gz | cut -d' ' -f1)
    recipe spack "$BATS_TEST_TMPDIR/package.py" "$sum"
    [[ $status == 0 ]]
    recipe easybuild "$BATS_TEST_TMPDIR"/APAPI-*.eb "$sum"
    [[ $status == 0 ]]
    tar -xzf "$BATS_TEST_TMPDIR"/apapi-*.tar.gz -C "$BATS_TEST_TMPDIR"
    run -0 cmake -S "$(echo "$BATS_TEST_TMPDIR"/apapi-*/)" -B "$BATS_TEST_TMPDIR/build" -G Ninja -DWITH_SLURM=OFF
    run -0 ninja -C "$BATS_TEST_TMPDIR/build" -n
    [[ $output != *spank_apapi.so* && $output == *atime* ]]
    run ! grep -E ' (test|docs/examples)/' <<<"$output" # an installation needs no tests
    grep -qx 'CMAKE_BUILD_TYPE:STRING=RelWithDebInfo' "$BATS_TEST_TMPDIR/build/CMakeCache.txt"
    run -1 cmake -S "$(echo "$BATS_TEST_TMPDIR"/apapi-*/)" -B "$BATS_TEST_TMPDIR/build2" -G Ninja -DWITH_SLURM=OFF \
        -DBUILD_TESTING=ON
    [[ $output == *'WITH_SLURM=OFF: the tests need Slurm'* ]]
}

@test "the pipelines in docs/ci.md are YAML, and their condition fails for more energy alone" {
    for number in 1 2; do
        awk -v number=$number '/^```yaml/ { n++; inside = n == number; next } /^```/ { inside = 0 } inside' "$repository/docs/ci.md" >"$BATS_TEST_TMPDIR/ci.yml"
        run -0 /usr/bin/python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))' "$BATS_TEST_TMPDIR/ci.yml"
        [[ $output == *'atime -c rapl -r 10 --warmup 1'* ]]
    done
    condition=$(sed -nE "s/.*jq -e '(\.difference.*)' energy.json/\1/p" "$repository/docs/ci.md" | sort -u)
    [[ $(wc -l <<<"$condition") -eq 1 ]]
    jq -e "$condition" <<<'{"difference":{}}'
    jq -e "$condition" <<<'{"difference":{"energy_j":{"mean":-5,"ci95":1,"p":0.001}}}'
    jq -e "$condition" <<<'{"difference":{"energy_j":{"mean":5,"ci95":9,"p":0.3}}}'
    run -1 jq -e "$condition" <<<'{"difference":{"energy_j":{"mean":5,"ci95":1,"p":0.001}}}'
    # what atime writes has these keys
    run -0 --separate-stderr "$repository/scripts/sim" -- "$repository/build/install/bin/atime" -c rapl -r 2 -f json --compare sleep 0.1 -- sleep 0.3
    jq -e '.difference.energy_j | has("mean") and has("ci95") and has("p")' <<<"$(tail -n 1 <<<"$stderr")"
}
