# SPDX-License-Identifier: BSD-3-Clause
# Records against their schema; for `load`.

# Is each line of the files a record? Prints what is not.
validate_records() { # FILE...
    "$(dirname "${BASH_SOURCE[0]}")/validate_records" "$@"
}
