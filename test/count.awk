# SPDX-License-Identifier: BSD-3-Clause
# From the TAP of test/launch: times (if `times` is set), what was skipped and why, what has failed and how to repeat
# it, and the closing line. Tests of one file that are skipped for one reason are one; so are all that need root.
# Exit status: 1, something failed.

function job_of(file) {
    return job[file] != "" ? job[file] : file
}

# "not ok 3 - a name", bats' "ok 3 a name # skip why" or cmocka's "not ok 3 # SKIP a_name"
function name_in(line) {
    sub(/^(not )?ok *[0-9]* *(- )?/, "", line)
    sub(/^# SKIP /, "", line)
    sub(/ # skip.*/, "", line)
    return line
}

# As one word for a shell.
function quoted(text) {
    gsub(/'/, "'\\''", text)
    return "'" text "'"
}

# For -f: this test and no other.
function filter_for(name, test) {
    if (name ~ /\.bats$/) {
        gsub(/[][\\.*^$+?(){}|]/, "\\\\&", test)
        return "^" test "$"
    }
    return test
}

# cmocka has no reasons: "# skip: REASON" stands above.
function skip(line) {
    if (match(line, /# skip ./)) reason = substr(line, RSTART + 7)
    if (reason ~ /(^|[^a-z\/])root([^a-z\/]|$)/) rootless[FILENAME]
    else skips[FILENAME, reason == "" ? "its source says why" : reason]++
    reason = ""
}

function slowest(limit,    i, best) {
    for (i = 1; i <= limit; i++) {
        best = ""
        for (name in wall)
            if (!(name in shown) && (best == "" || wall[name] > wall[best])) best = name
        if (best == "") return
        shown[best] = 1
        printf "  %-40s %8.1f s %8.1f s\n", best, wall[best], cpu[best]
    }
}

function print_times(    part, name) {
    print "seconds of each part (all its tests added up; they run side by side), and of processor:"
    for (name in wall) {
        part = name
        sub(/\/.*/, "", part)
        parts[part]++
        part_wall[part] += wall[name]
        part_cpu[part] += cpu[name]
        sum += cpu[name]
    }
    for (part in parts)
        printf "  %-14s %4d tests %8.1f s %8.1f s\n", part, parts[part], part_wall[part], part_cpu[part]
    printf "  %-14s %10s %8s   %8.1f s\n", "all", "", "", sum
    print "the twenty that took longest:"
    slowest(20)
}

FNR == 1 { reason = "" }
/^# skip: / { reason = substr($0, 9) }
/^# test / { job[FILENAME] = $3; wall[$3] = $4; cpu[$3] = $5 + $6 }
/^(not )?ok/ && tolower($0) ~ /# skip/ { skip($0); next }
/^ok/ { passed++ }
/^not ok/ { failures[++failed] = FILENAME SUBSEP name_in($0) }

END {
    if (times) print_times()
    for (key in skips) {
        split(key, words, SUBSEP)
        if (!skipped++) print "skipped:"
        printf "  %s: %s\n", job_of(words[1]), words[2]
    }
    for (file in rootless) without_root = without_root (without_root == "" ? "" : ", ") job_of(file)
    if (without_root != "") {
        if (!skipped++) print "skipped:"
        print "  " without_root ": needs root"
    }
    if (failed) print "failed, and how to repeat it:"
    for (i = 1; i <= failed; i++) {
        split(failures[i], words, SUBSEP)
        name = job_of(words[1])
        printf "  %s: %s\n      scripts/test %s", name, words[2], name
        if (words[2] !~ /^ended with / && name !~ "/" words[2] "$") printf " -f %s", quoted(filter_for(name, words[2]))
        print ""
    }
    if (!failed && status != 0 && passed + skipped > 0) {
        print "ctest itself has failed: see above"
        failed = 1
    }
    printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
    exit failed > 0
}
