#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_exports.sh LIB EXPORTS IMPORTS-REGEX [MAX-BYTES]: a plugin's interface to its host, exactly.
#   LIB            shared object
#   EXPORTS        file with the symbols that it must export, one a line: these and no others
#   IMPORTS-REGEX  what it may leave to its host besides libc
#   MAX-BYTES      how much of the file may be loaded, which is without its symbol table
# It must need libc.so.6 and no other library. Exit status: 0 as it should be, 1 not, 2 usage.
set -u

if [ $# -lt 3 ] || [ $# -gt 4 ] || [ ! -r "$1" ] || [ ! -r "$2" ]; then
    sed -n '3,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
lib=$1 exports=$2 imports=$3 max_bytes=${4:-}
status=0

# complain WHAT [LINES]
complain() {
    echo "$lib: $1" >&2
    [ $# -lt 2 ] || echo "$2" | sed 's/^/    /' >&2
    status=1
}

# only A B: the lines of A that are not in B
only() {
    echo "$1" | while IFS= read -r line; do
        [ -z "$line" ] || echo "$2" | grep -qxF -e "$line" || echo "$line"
    done
}

symbols=$(nm -D "$lib") || exit 2
want=$(grep -v -e '^#' -e '^$' "$exports")
have=$(echo "$symbols" | awk 'NF == 3 && $2 != "A" { sub(/@.*/, "", $3); print $3 }')
missing=$(only "$want" "$have")
surplus=$(only "$have" "$want")
[ -z "$missing" ] || complain "does not export" "$missing"
[ -z "$surplus" ] || complain "exports what it should not" "$surplus"

# NF == 2: undefined. Weak ones (w) are those of the compiler's start files and may stay away.
foreign=$(echo "$symbols" | awk 'NF == 2 && $1 == "U" && $2 !~ /@GLIBC_/ { print $2 }' |
    grep -vE -e "$imports")
[ -z "$foreign" ] || complain "leaves to its host what does not match '$imports'" "$foreign"

needed=$(readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p')
[ "$needed" = libc.so.6 ] || complain "needs other libraries than libc.so.6" "$needed"

if [ -n "$max_bytes" ]; then
    bytes=0
    # the fifth word is what the segment takes from the file
    for size in $(readelf -lW "$lib" | awk '$1 == "LOAD" { print $5 }'); do
        bytes=$((bytes + size))
    done
    if [ "$bytes" -eq 0 ] || [ "$bytes" -gt "$max_bytes" ]; then
        complain "loads $bytes bytes, not 1 to $max_bytes"
    fi
fi
exit $status
