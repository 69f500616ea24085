#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_exports.sh LIB EXPORTS library SONAME: the symbols of a shared library, exactly, and the name by which programs load
#   it; and that it reads the environment by secure_getenv() only, as set-uid programs may link it.
# check_exports.sh LIB EXPORTS plugin IMPORTS-REGEX MAX-BYTES: a plugin's interface to its host, exactly: its symbols, that it
#   needs libc.so.6 and no other library, what it may leave to its host besides libc, and how much of its file may be loaded.
#   EXPORTS  file with the symbols that it must export, separated by blanks, NAME@@VERSION or NAME: these and no others;
#            or FILE.layout: the functions that it has
# Exit status: 0 as it should be, 1 not, 2 usage.
set -u

if [ $# -lt 4 ] || [ ! -r "$1" ] || [ ! -r "$2" ]; then
    sed -n '3,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
lib=$1 exports=$2
status=0

# complain WHAT LINES: unless there are none
complain() {
    [ -n "$2" ] || return 0
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
*) want=$(grep -v '^#' "$exports" | xargs -n 1) ;;
esac
have=$(nm -D --defined-only --with-symbol-versions "$lib" | awk '$2 != "A" { print $3 }') || exit 2
complain "does not export what $exports lists" "$(only "$want" "$have")"
complain "exports what $exports does not list" "$(only "$have" "$want")"

# U: undefined. Weak ones (w) are those of the compiler's start files and may stay away.
undefined=$(nm -D --undefined-only "$lib" | awk '$1 == "U" { print $2 }')
dynamic=$(readelf -d "$lib" | sed -n 's/.*(\([A-Z]*\)).*\[\(.*\)\]$/\1 \2/p')
case $3 in
library)
    complain "has not the name $4" "$(only "SONAME $4" "$dynamic")"
    complain "needs secure_getenv() instead of" "$(echo "$undefined" | grep -E '^(getenv|environ|__environ)(@|$)')"
    ;;
plugin)
    complain "leaves to its host what does not match '$4'" "$(echo "$undefined" | grep -v '@GLIBC_' | grep -vE -e "$4")"
    complain "needs other libraries than libc.so.6" "$(echo "$dynamic" | grep '^NEEDED ' | grep -vxF 'NEEDED libc.so.6')"
    # the fifth word is what the segment takes from the file
    bytes=$(readelf -lW "$lib" | awk '$1 == "LOAD" { print $5 }' | { sum=0; while read -r size; do sum=$((sum + size)); done; echo $sum; })
    if [ "$bytes" -eq 0 ] || [ "$bytes" -gt "$5" ]; then
        complain "loads not 1 to $5 bytes, but" "$bytes"
    fi
    ;;
esac
exit $status
