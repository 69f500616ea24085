#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_layout.sh LIB HEADERS EXPECTED: functions, structures and enumerations of a library, as EXPECTED has them.
#   LIB       shared object with debugging information
#   HEADERS   folder of its public headers
#   EXPECTED  output of `test/abi/layout LIB HEADERS`, which shows how to accept a change
# Exit status: 0 they are the same, 1 not, 2 usage, 77 skipped.
set -u

if [ $# -ne 3 ] || [ ! -r "$1" ] || [ ! -d "$2" ] || [ ! -r "$3" ]; then
    sed -n '3,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
command -v abidw >/dev/null || { echo "skipped: no abidw (abigail-tools)"; exit 77; }
found=$(mktemp) || exit 2
trap 'rm -f "$found" "$found.expected"' EXIT
"$(dirname "$0")/layout" "$1" "$2" >"$found" || exit 1
cmp -s "$3" "$found" && exit 0
sed 's/; /;\n    /g' "$3" >"$found.expected"
sed 's/; /;\n    /g' "$found" | diff -u "$found.expected" -
echo "The binary interface has changed. docs/developing.md says when it may; to accept it:"
echo "    test/abi/layout $1 $2 >$3"
exit 1
