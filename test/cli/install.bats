#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# cmake --install: everything names the prefix that it was installed to, which need not be the configured one.

# bats file_tags=long
load atime_common
load public

setup_file() {
    export tree=$BATS_FILE_TMPDIR/tree
    install_tree --prefix "$tree"
}

value_of() { # KEY: as apapi config of the tree has it
    "$tree/bin/apapi" config | sed -n "s/^$1 = \([^ ]*\).*/\1/p"
}

# The text of files for people; of manual pages the text that people read.
texts() { # TREE
    find "$1"/etc "$1"/share/man "$1"/share/apapi -type f -exec sed 's/\\&//g; s/\\-/-/g' {} +
}

@test "--prefix: programs look for their files below it, and say which apapi.conf they read" {
    tells 0 "# $tree/etc/apapi/apapi.conf"$'\n*' "$tree/bin/apapi" config
    [[ $(value_of acct_dir) == "$tree/var/log/apapi" && $(value_of spool_dir) == "$tree/var/spool/apapi" ]]
    [[ $(value_of libexec_dir) == "$tree/libexec/apapi" ]]
    tells 0 "$tree/etc/apapi/apapi.conf: ok" "$tree/bin/apapi" config --check
    mv "$tree/etc/apapi/apapi.conf" "$tree/etc/apapi/kept"
    tells 0 "# $tree/etc/apapi/apapi.conf: there is no such file: *" "$tree/bin/apapi" config
    mv "$tree/etc/apapi/kept" "$tree/etc/apapi/apapi.conf"
    ((EUID)) || for change in 'chown 65534' 'chmod 666'; do # nobody's: as where a file server does not trust root
        $change "$tree/etc/apapi/apapi.conf"
        complains 1 "apapi report: $tree/etc/apapi/apapi.conf has no effect: others can write it*" "$tree/bin/apapi" report
        chown 0 "$tree/etc/apapi/apapi.conf"
    done
    chmod 644 "$tree/etc/apapi/apapi.conf"
}

@test "--prefix: texts and manual pages name its folders and no others" {
    run -0 texts "$tree"
    [[ $output != *"$repository"* && $output != *@APAPI_* ]]
    for path in etc/apapi/apapi.conf var/log/apapi var/spool/apapi libexec/apapi share/apapi/60-apapi-powercap.rules; do
        [[ $output == *"$tree/$path"* ]] || { echo "nobody names $path"; return 1; }
    done
    run -0 sed -n 's/^[# ]*optional \([^ ]*\).*/\1/p' "$tree/etc/apapi/plugstack.conf"
    [[ ${#lines[@]} -eq 3 ]]
    for plugin in "${lines[@]}"; do
        [[ $plugin == "$tree"/* && -f $plugin ]]
    done
}

@test "the folders for records are there, for their owner alone; what a site has is left as it is" {
    for folder in log spool; do
        [[ $(stat -c %a "$tree/var/$folder/apapi") == 700 ]]
    done
    other=$BATS_TEST_TMPDIR/other
    mkdir -p "$other/etc" "$other/var/log/apapi"
    chmod 750 "$other/var/log/apapi"
    cp -r "$tree/etc/apapi" "$other/etc"
    find "$other/etc" -type f -exec sh -c 'for file; do echo "# ours" >"$file"; done' _ {} +
    install_tree --prefix "$other"
    [[ $(find "$other/etc" -type f -exec cat {} + | sort | uniq -c) =~ ^\ *6\ "# ours"$ && $(stat -c %a "$other/var/log/apapi") == 750 ]]
}

@test "DESTDIR: everything is below it, and no text knows it" {
    export DESTDIR=$BATS_TEST_TMPDIR/package
    install_tree --prefix /opt/elsewhere
    grep -q "^optional /opt/elsewhere/lib/slurm/spank_apapi.so$" "$DESTDIR/opt/elsewhere/etc/apapi/plugstack.conf"
    [[ -d $DESTDIR/opt/elsewhere/var/log/apapi && $(ls "$DESTDIR") == opt ]]
    run -0 texts "$DESTDIR/opt/elsewhere"
    [[ $output != *"$DESTDIR"* && $output != *"$repository"* ]]
    cd "$BATS_TEST_TMPDIR"
    DESTDIR='re*[l] ative' install_tree --prefix /opt/elsewhere
    diff -r "$DESTDIR" 're*[l] ative'
    mkdir -p apart/include # another file system
    ! unshare -m true 2>/dev/null || DESTDIR='' run -0 unshare -m sh -c 'mount -t tmpfs x apart/include && cmake --install "$0" --prefix apart' "$repository/build/release"
    rm -r "$DESTDIR"
    install_tree --prefix /usr
    grep -q '^#acct_dir = /var/log/apapi$' "$DESTDIR/etc/apapi/apapi.conf"
    [[ -d $DESTDIR/var/spool/apapi && -x $DESTDIR/usr/share/apapi/examples/epilog-slurmctld && ! -e $DESTDIR/usr/etc ]]
}

@test "helper programs of the plugin need no library of ours, others find it next to them" {
    for program in apapi-sampler apapi-collect; do
        run -0 readelf -d "$tree/libexec/apapi/$program"
        [[ $output != *libapapi* && $output != *RUNPATH* ]]
    done
    tells 0 '*\[$ORIGIN/../../lib[]:]*' readelf -d "$tree/libexec/apapi/apapi-sync"
    tells 0 "*libapapi.so.0 => $tree/*" ldd "$tree/libexec/apapi/apapi-sync"
}

@test "default event files that a user may not read: atime goes on with the built-in rules and says so" {
    make_public
    install_tree --prefix "$public/tree"
    ! "${nobody[@]}" unshare -r true || complains 3 'apapi: "sh"*' "${nobody[@]}" unshare -r "$public/tree/bin/atime" sh -c 'exit 3' # where root's files are nobody's
    chmod 700 "$public/tree/etc/apapi"
    complains 3 '*apapi: "sh"*' "${nobody[@]}" "$public/tree/bin/atime" sh -c 'exit 3'
    [[ $(grep -c "Permission denied; the built-in rules apply" <<<"$stderr") -eq 1 ]]
}

@test "documents: one screen for users, Slurm's own energy beside ours; decisions.md stays in the sources" {
    docs=$tree/share/doc/apapi/docs
    [[ -f $docs/slurm-energy.md && ! -e $docs/decisions.md ]]
    (($(wc -l <"$docs/user-guide.md") <= 50))
    while read -r file link; do
        [[ -e $docs/$link ]] || { echo "$file: no $link"; return 1; }
    done < <(cd "$docs" && grep -oE '\]\([a-z-]+\.md' ./*.md | sed 's/:\](/ /')
}

@test "a build compiles what is installed and no test, unless BUILD_TESTING=ON asks for them" {
    for way in '--preset site' '-G Ninja'; do
        # shellcheck disable=SC2086 # words
        run -0 cmake -S "$repository" -B "$BATS_TEST_TMPDIR/build $way" $way
        run -0 ninja -C "$BATS_TEST_TMPDIR/build $way" -t commands all
        [[ $output == *"$repository/core/"* && $output != *"$repository/test/"* ]]
    done
}

@test "-DSlurm_ROOT= is the Slurm of the build, whatever an earlier run has found there or elsewhere" {
    build=$BATS_TEST_TMPDIR/build
    mkdir -p "$BATS_TEST_TMPDIR"/{23/lib,24/lib64,23/include/slurm,24/include/slurm}
    touch "$BATS_TEST_TMPDIR"/{23/lib,24/lib64}/libslurm.so
    for version in 23 24; do
        cp /usr/include/slurm/*.h "$BATS_TEST_TMPDIR/$version/include/slurm"
        sed -i "s/\(define SLURM_VERSION_NUMBER\).*/\1 0x$(printf %02x $version)0204/" "$BATS_TEST_TMPDIR/$version/include/slurm/slurm_version.h"
        tells 0 "*found suitable version \"$version.02.4\"*" cmake -S "$repository" -B "$build" --preset site "-DSlurm_ROOT=$BATS_TEST_TMPDIR/$version"
        grep -q "^SLURM_LIBRARY:.*=$BATS_TEST_TMPDIR/$version/lib.*/libslurm.so$" "$build/CMakeCache.txt"
    done
    run -1 cmake -S "$repository" -B "$build" --preset site -DSlurm_ROOT=/nosuch
}

@test "purging is not stopped by a file system that is mounted for live pages" {
    unshare -m true 2>/dev/null || skip "needs root, for a mount namespace"
    # shellcheck disable=SC2016 # the other shell's
    run -0 unshare -m sh -ec 'for folder in /run /var/lib /var/spool; do mount -t tmpfs tmpfs $folder; mkdir $folder/apapi; done
        mount -t tmpfs tmpfs /run/apapi && touch /run/apapi/n1 /var/lib/apapi/index.db
        "$0" purge && [ -z "$(ls /run/apapi)" ] && [ ! -e /var/lib/apapi ]' "$repository/config/package/apapi/postrm"
}

@test "installing again: a file that steps load or run is complete when it gets its name" {
    local files=(bin/atime lib/libapapi.so.0.1.0 lib/slurm/spank_apapi.so lib/slurm/acct_gather_energy_apapi.so libexec/apapi/apapi-{sampler,collect,sync})
    other=$BATS_TEST_TMPDIR/other
    mkdir -p "$other"/{bin,lib/slurm,libexec/apapi}
    for file in "${files[@]}"; do
        echo old >"$other/$file"
    done
    mkdir -p "$other/lib/slurm/.apapi-new$other/lib/slurm" # of an install that was ended
    echo torn >"$other/lib/slurm/.apapi-new$other/lib/slurm/torn.so"
    strace -f -qq -s 4096 -e trace=%file -o "$BATS_TEST_TMPDIR/trace" cmake --install "$repository/build/release" --prefix "$other" >/dev/null
    for file in "${files[@]}"; do
        grep -q "rename.*, \"$other/$file\") = 0$" "$BATS_TEST_TMPDIR/trace"
        run -1 grep -E "(unlink|O_WRONLY|O_RDWR).*\"$other/$file\"|\"$other/$file\", (O_WRONLY|O_RDWR)" "$BATS_TEST_TMPDIR/trace"
        cmp -s "$tree/$file" "$other/$file"
    done
    [[ $(find "$other" -name .apapi-new -o -name torn.so | wc -l) -eq 0 ]]
}
