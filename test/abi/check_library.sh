#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_library.sh LIB EXPORTS SONAME: the symbols of a shared library, exactly, and its name; and that it reads the
# environment by secure_getenv() only, as set-uid programs may link it.
#   LIB      shared object
#   EXPORTS  file with the symbols that it must export, one a line, NAME@@VERSION or NAME: these and no others;
#            or FILE.layout: the functions that it has
#   SONAME   by which programs load it
# Exit status: 0 as it should be, 1 not, 2 usage. To accept the symbols of LIB:
#   nm -D --defined-only --with-symbol-versions LIB | sed -n 's/.* [A-Z] \(.*@@.*\)/\1/p' | LC_ALL=C sort
set -u

if [ $# -ne 3 ] || [ ! -r "$1" ] || [ ! -r "$2" ]; then
    sed -n '3,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
lib=$1 exports=$2 soname=$3
status=0

# complain WHAT LINES
complain() {
    echo "$lib: $1" >&2
    echo "$2" | sed 's/^/    /' >&2
    status=1
}

# only A B: the lines of A that are not in B
only() {
    echo "$1" | grep -vxF -e "$2"
}

case $exports in
*.layout) want=$(sed -nE 's/^[^ ].*[ *]([a-z0-9_]+@@[A-Z0-9_.]+)\(.*/\1/p' "$exports") ;;
*) want=$(grep -v -e '^#' -e '^$' "$exports") ;;
esac
have=$(nm -D --defined-only --with-symbol-versions "$lib" | awk '$2 != "A" { print $3 }') || exit 2
missing=$(only "$want" "$have")
surplus=$(only "$have" "$want")
[ -z "$missing" ] || complain "does not export what $exports lists" "$missing"
[ -z "$surplus" ] || complain "exports what $exports does not list" "$surplus"

name=$(readelf -d "$lib" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
[ "$name" = "$soname" ] || complain "expected the name $soname, found" "$name"
unsafe=$(nm -D --undefined-only "$lib" | awk '{ print $2 }' | grep -E '^(getenv|environ|__environ)(@|$)')
[ -z "$unsafe" ] || complain "needs secure_getenv() instead of" "$unsafe"
exit $status
