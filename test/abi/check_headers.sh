#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_headers.sh INCLUDE CC [CXX]: each public header compiles alone, without a warning, as C99, C11 and C++11.
#   INCLUDE  folder with apapi/*.h
# Exit status: 0 they do, 1 not, 2 usage.
set -u

if [ $# -lt 2 ] || [ $# -gt 3 ] || [ ! -d "$1/apapi" ]; then
    sed -n '3,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
include=$1 cc=$2 cxx=${3:-}
status=0

# compile HEADER COMPILER LANGUAGE STANDARD
compile() {
    echo "#include <apapi/$1>" |
        $2 -x "$3" "-std=$4" -Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror -fsyntax-only -I "$include" - ||
        { echo "apapi/$1 does not compile alone as $4" >&2; status=1; }
}

for header in "$include"/apapi/*.h; do
    name=${header##*/}
    compile "$name" "$cc" c c99
    compile "$name" "$cc" c c11
    [ -z "$cxx" ] || compile "$name" "$cxx" c++ c++11
    grep -q '^APAPI_BEGIN_C$' "$header" || { echo "apapi/$name: no APAPI_BEGIN_C" >&2; status=1; }
done
exit $status
