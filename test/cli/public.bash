# SPDX-License-Identifier: BSD-3-Clause
# Being another user, wherever the repository and bats' own folders lie; for `load`. $nobody is the command's beginning.
# shellcheck disable=SC2034 # they are the tests'

nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

needs_another_user() {
    if ((EUID != 0)) || ! "${nobody[@]}" true 2>/dev/null; then
        skip "only root can try as another user"
    fi
}

# $public: a folder that every user can enter, and from which programs can be run. End with leave_public.
make_public() {
    needs_another_user
    find_public
}

find_public() {
    local place
    for place in "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm; do
        public=$(mktemp -d "$place/apapi-test.XXXXXX" 2>/dev/null) || continue
        chmod 755 "$public"
        cp /bin/true "$public"
        ! "${nobody[@]}" "$public/true" 2>/dev/null || return 0
        leave_public
    done
    echo "no folder here that another user can enter"
    return 1
}

leave_public() {
    [[ -z ${public:-} ]] || rm -rf "$public"
    public=
}

# Copies in $public, with the libraries that the programs have from the build's folder.
publish() { # FILE...
    local library
    cp "$@" "$public"
    while read -r library; do
        [[ $library != "$repository"/* ]] || cp "$library" "$public"
    done < <(ldd "$@" 2>/dev/null | sed -nE 's/^.* => (.*) \(0x[0-9a-f]+\)$/\1/p' | sort -u)
    nobody+=(env "LD_LIBRARY_PATH=$public")
    open_way
}

# The programs look for event files below the build's folder. If a folder above the repository bars the way, nobody is
# in a mount namespace where another stands in its place, which holds nothing but the repository.
open_way() {
    local folder=$repository barred=
    while [[ $folder == /?* ]]; do
        [[ $(stat -c %A "$folder") == *[xt] ]] || barred=$folder
        folder=${folder%/*}
    done
    [[ -n $barred && $barred != "$repository" && $(id -u) == 0 ]] || return 0
    nobody=(unshare -m bash -c 'exec {fd}<"$1" && mount -t tmpfs -o mode=755 tmpfs "$2" && mkdir -p "$1" &&
        mount --no-canonicalize --rbind "/proc/self/fd/$fd" "$1" && exec {fd}<&- && cd / && shift 2 && exec "$@"' \
        bash "$repository" "$barred" "${nobody[@]}")
}
