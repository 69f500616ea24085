# SPDX-License-Identifier: BSD-3-Clause

# Wait until the command succeeds, and no longer; at most 120 s, for machines that are very busy. The time is that since the
# boot: other clocks may be set.
eventually() { # CMD...
    local now deadline
    read -r now _ </proc/uptime
    deadline=$((${now%.*} + 120))
    until "$@"; do
        read -r now _ </proc/uptime
        if ((${now%.*} >= deadline)); then
            echo "not within 120 s: $*"
            return 1
        fi
        sleep 0.05
    done
}
