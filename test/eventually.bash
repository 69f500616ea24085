# SPDX-License-Identifier: BSD-3-Clause

# Wait, at most 20 s, until the command succeeds.
eventually() { # CMD...
    local deadline=$((SECONDS + 20))
    while ((SECONDS < deadline)); do
        ! "$@" || return 0
        sleep 0.05
    done
    echo "never: $*"
    return 1
}
