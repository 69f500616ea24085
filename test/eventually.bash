# SPDX-License-Identifier: BSD-3-Clause

# Wait until the command succeeds, and no longer; at most 120 s, for machines that are very busy. The time is that since the
# boot: other clocks may be set.
# It looks again after 50 ms, and less and less often: each look costs other tests processor time.
eventually() { # CMD...
    local now deadline pause pause_ms=50
    read -r now _ </proc/uptime
    deadline=$((${now%.*} + 120))
    until "$@"; do
        read -r now _ </proc/uptime
        if ((${now%.*} >= deadline)); then
            echo "not within 120 s: $*"
            return 1
        fi
        printf -v pause '0.%03d' "$pause_ms"
        sleep "$pause"
        pause_ms=$((pause_ms < 300 ? pause_ms * 4 / 3 : 400))
    done
}
