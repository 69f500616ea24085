#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=long
# scripts/package: what the packages contain, and a clean Debian 12 with Slurm in which they are installed, used,
# upgraded while steps run, and purged. APAPI_TEST_SUITE=trixie: all of it with another release of Debian and its Slurm,
# but for .rpm and .tar.gz.

load ../environment
load ../eventually

setup_file() {
    export packages=$BATS_FILE_TMPDIR/1 newer=$BATS_FILE_TMPDIR/2
    export DEBFULLNAME="APAPI maintainers" DEBEMAIL=apapi@hpc.uni-beispiel.de # of a domain that nobody has
    export suite=${APAPI_TEST_SUITE:-bookworm}
    if [[ $suite == bookworm ]]; then
        run -1 "$repository/scripts/package" --slurm=/nosuch deb # and the next run looks for Slurm again
        "$repository/scripts/package" --output="$newer" --release=2 deb
        "$repository/scripts/package" --output="$packages" deb rpm tar
        export fuse=libfuse3-3 simulator=$repository/build/release/test/sim/apapi-simhw
    else
        package_elsewhere
        export fuse=libfuse3-4 simulator=$repository/build/slurm-matrix/$suite/build/release/test/sim/apapi-simhw
    fi
}

# In a release of scripts/slurm-matrix, where the repository's build/ is another folder.
package_elsewhere() {
    local built=$repository/build/slurm-matrix/$suite/build
    "$repository/scripts/slurm-matrix" make "$suite"
    rm -rf "$built/1" "$built/2"
    for release in 2 1; do
        "$repository/scripts/slurm-matrix" run "$suite" env DEBFULLNAME="$DEBFULLNAME" DEBEMAIL="$DEBEMAIL" \
            scripts/package --output="$repository/build/$release" --release=$release deb
    done
    cp -r "$built/1" "$built/2" "$BATS_FILE_TMPDIR"
}

needs_rpm() { [[ $suite == bookworm ]] || skip "only with Debian 12"; }

deb() { echo "$packages/$1"_[0-9]*.deb; }
rpm_file() { echo "$packages/$1"-[0-9]*.rpm; }

deb_files() { dpkg-deb --fsys-tarfile "$(deb "$1")" | tar -t | sed 's/^\.//' | grep -v '/$' | sort; }
rpm_files() { # but for folders and build ids
    rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$(rpm_file "$1")" | awk '$1 !~ /^d/ { print $2 }' |
        grep -v '^/usr/lib/.build-id' | sort
}

# --- what is in them ------------------------------------------------------------------------------------------

@test "lintian finds no error" {
    run -0 lintian --allow-root --fail-on error "$packages"/*.deb
}

@test "each package has what it is for" {
    deb_files apapi >"$BATS_TEST_TMPDIR/apapi"
    for path in /usr/bin/{apapi,apapi-mail,atime} /usr/libexec/apapi/apapi-{sampler,collect} /etc/apapi/apapi.conf \
        /usr/lib/tmpfiles.d/apapi.conf /usr/share/apapi/{logrotate,60-apapi-powercap.rules} \
        /usr/share/man/man1/atime.1.gz; do
        grep -qxF "$path" "$BATS_TEST_TMPDIR/apapi" || { echo "no $path"; false; }
    done
    run ! grep -E '\.h$|spank_apapi\.so|libexec/.*apapi-sync|libapapi\.so$' "$BATS_TEST_TMPDIR/apapi"
    run -0 deb_files apapi-devel
    [[ $output == */usr/include/apapi/session.h* && $output == */libapapi.so$'\n'* && $output == */apapi.pc* ]]
    run -0 deb_files python3-apapi
    [[ $output == */dist-packages/apapi/__init__.py* && $output != *.so* ]]
    run -0 deb_files slurm-spank-apapi
    [[ $output == */spank_apapi.so* && $output == */etc/slurm/plugstack.conf.d/apapi.conf* ]]
    run -0 deb_files slurm-acct-energy-apapi
    [[ $output == */acct_gather_energy_apapi.so* && $output != */etc/* ]]
}

@test "the library exports what its headers declare, as that of the other builds" {
    dpkg-deb --fsys-tarfile "$(deb apapi)" | tar -xO --wildcards '*/libapapi.so.0.*' >"$BATS_TEST_TMPDIR/libapapi"
    "$repository/test/abi/check_exports.sh" "$BATS_TEST_TMPDIR/libapapi" "$repository/test/abi/libapapi.layout" library libapapi.so.0
}

@test "only the plugins' packages depend on Slurm, and on the version that they were built for" {
    needs_rpm # the Slurm of this machine
    version=$(dpkg-query -W -f '${Version}' libslurm-dev | grep -oE '^[0-9]+\.[0-9]+')
    run -0 dpkg-deb -f "$(deb apapi)" Depends
    [[ $output != *slurm* ]]
    run -0 dpkg-deb -f "$(deb slurm-spank-apapi)" Depends
    [[ $output == *"slurm-wlm-basic-plugins (>= $version), slurm-wlm-basic-plugins (<< $version.99)"* ]]
    version=$(dpkg-query -W -f '${Version}' libslurm-dev | grep -oE '^[0-9]+\.[0-9]+\.[0-9]+') # the micro version, too
    run -0 dpkg-deb -f "$(deb slurm-acct-energy-apapi)" Depends
    [[ $output == *"slurm-wlm-basic-plugins (>= $version), slurm-wlm-basic-plugins (<< $version.99)"* ]]
}

@test "compute nodes get neither X11 nor fonts" {
    for name in apapi slurm-spank-apapi slurm-acct-energy-apapi; do
        run -0 dpkg-deb -f "$(deb $name)" Depends Recommends
        [[ $output == *libc6* && $output != *cairo* ]]
    done
}

@test "a site's configuration is kept: conffiles, and noreplace" {
    needs_rpm
    for name in apapi slurm-spank-apapi; do
        dpkg-deb --ctrl-tarfile "$(deb $name)" | tar -xO ./conffiles | sort >"$BATS_TEST_TMPDIR/conffiles"
        diff "$BATS_TEST_TMPDIR/conffiles" <(deb_files $name | grep '^/etc/')
        diff "$BATS_TEST_TMPDIR/conffiles" <(rpm -qpc "$(rpm_file $name)" | sort)
        rpm -qp --qf '[%{FILEFLAGS:fflags} %{FILENAMES}\n]' "$(rpm_file $name)" | grep -F ' /etc/apapi/a' |
            while read -r flags _; do [[ $flags == *n* ]]; done
    done
}

@test "no line for Slurm is active until the site wants it" {
    dpkg-deb --fsys-tarfile "$(deb slurm-spank-apapi)" | tar -xO ./etc/slurm/plugstack.conf.d/apapi.conf >"$BATS_TEST_TMPDIR/line"
    run ! grep -E '^[[:space:]]*[^#[:space:]]' "$BATS_TEST_TMPDIR/line"
    path=$(sed -nE 's/^#optional (\S+)$/\1/p' "$BATS_TEST_TMPDIR/line")
    deb_files slurm-spank-apapi | grep -qxF "$path"
}

@test "no package starts a service or has a path of the build" {
    for file in "$packages"/*.deb; do
        rm -rf "$BATS_TEST_TMPDIR/tree"
        dpkg-deb -R "$file" "$BATS_TEST_TMPDIR/tree"
        run ! grep -rlF "$repository" "$BATS_TEST_TMPDIR/tree"
        run ! grep -rE 'systemctl|deb-systemd|invoke-rc' "$BATS_TEST_TMPDIR/tree/DEBIAN"
    done
}

@test "an .rpm has the same files, and scripts that a shell can read" {
    needs_rpm
    version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    for name in apapi apapi-devel python3-apapi slurm-spank-apapi slurm-acct-energy-apapi; do
        diff <(deb_files $name | grep -vE '/(changelog.Debian.gz|copyright)$' | sed "s#/python3/dist-packages/#/python$version/site-packages/#") <(rpm_files $name)
        for tag in POSTIN POSTUN; do
            rpm -qp --qf "%|$tag?{%{$tag}}|" "$(rpm_file $name)" | sh -n
        done
    done
    run -0 rpm -qp --requires "$(rpm_file slurm-spank-apapi)"
    [[ $output == *'slurm >= '* && $output == *'slurm < '* ]]
    run -0 rpm -qp --requires "$(rpm_file python3-apapi)"
    grep -qx "python(abi) = $version" <<<"$output"
}

@test "the archive has what the packages have" {
    needs_rpm
    diff <(tar -tf "$packages"/apapi-*.tar.gz | grep -v '/$' | sed 's#^\(\./\)\?#/#' | sort) \
        <(for name in apapi apapi-devel python3-apapi slurm-spank-apapi slurm-acct-energy-apapi; do deb_files $name; done | grep -vE '/(changelog.Debian.gz|copyright)$' | sort)
}

@test "all in the archive is root's, and it has no folder of other packages" {
    needs_rpm
    run -1 bash -c 'tar -tvf "$1"/apapi-*.tar.gz | grep -v " root/root "' _ "$packages"
    run -1 bash -c 'tar -tf "$1"/apapi-*.tar.gz | grep "/$" | grep -v "apapi"' _ "$packages"
    run -0 bash -c 'tar -tvf "$1"/apapi-*.tar.gz | grep " \./var/.*apapi/$"' _ "$packages"
}

@test "wrong words" {
    complains 2 '*"snap" is no kind of package: deb, rpm, tar or source*' "$repository/scripts/package" snap
    complains 2 '*say which: deb, rpm, tar or source*' "$repository/scripts/package"
    complains 2 '*--release=x: a release begins with a digit*' "$repository/scripts/package" --release=x deb
}

# --- a clean Debian 12 ----------------------------------------------------------------------------------------

# Runs a step of scenario.bash in it. The first one makes it, and skips the test where that cannot be.
in_tree() { # STEP
    local status=0 folder=$repository/build/package-trees/$suite
    ((EUID == 0)) || skip 'needs root'
    "$repository/scripts/slurm-matrix" --dir "${folder%/*}" make "$suite" slurm-wlm munge iproute2 procps "$fuse" \
        >"$BATS_TEST_TMPDIR/make" 2>&1 || status=$?
    [[ $status != 125 ]] || skip "$(tail -n 1 "$BATS_TEST_TMPDIR/make")"
    [[ $status == 0 ]] || { cat "$BATS_TEST_TMPDIR/make"; return 1; }
    mkdir -p "$folder/build/release/test/sim"
    rm -rf "$folder/build/1" "$folder/build/2"
    cp -r "$packages" "$newer" "$folder/build"
    cp "$simulator" "$folder/build/release/test/sim"
    "$repository/scripts/slurm-matrix" --dir "${folder%/*}" run "$suite" \
        bash "$repository/test/packages/scenario.bash" "$1"
}

@test "from a clean Debian with Slurm to the first table in less than 60 s" {
    in_tree first_table >"$BATS_TEST_TMPDIR/log" 2>&1 || { cat "$BATS_TEST_TMPDIR/log"; false; }
    sed -n 's/^from apt-get install to/# to/p' "$BATS_TEST_TMPDIR/log" >&3
}

@test "an upgrade while 20 steps run: each has its record" {
    in_tree upgrade
}

@test "purging leaves nothing but records" {
    in_tree purge
}
