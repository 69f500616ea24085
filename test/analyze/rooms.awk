# SPDX-License-Identifier: BSD-3-Clause
# Part of test/analyze/rooms and test/analyze/links: the table core/rooms, and circles of files. Paths are those
# below core/.

function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

# --- the table ----------------------------------------------------------------------------------

# The room of a path: the longest one whose folder the path lies in; a folder of cli is a room, too.
function room_of(path, room) {
    room = path
    while (sub(/\/[^\/]*$/, "", room)) {
        if (room in may || room ~ /^cli\/[^\/]+$/) return room
    }
    return ""
}
function add(room, other) { allowed[room, other] = 1 }
function add_all(room, other, key, parts) {
    add(room, other)
    for (key in allowed) {
        split(key, parts, SUBSEP)
        if (parts[1] == other) add(room, parts[2])
    }
}
function read_row(line, colon, words, count, room, i, all) {
    colon = index(line, ":")
    if (!colon) { print "core/rooms:" FNR ": no colon"; bad++; return }
    room = trim(substr(line, 1, colon - 1))
    may[room] = 1
    count = split(substr(line, colon + 1), words)
    for (i = 1; i <= count; i++) {
        if (words[i] == "+") { all = 1; continue }
        if (!(words[i] in may) && words[i] !~ /^sources\//) {
            print "core/rooms:" FNR ": room \"" words[i] "\" must stand above \"" room "\""
            bad++
        }
        if (all) add_all(room, words[i])
        else add(room, words[i])
        all = 0
    }
}
# "FILE lists ROOM...": the file is a table of what these rooms have.
function read_list(line, words, count, i) {
    count = split(line, words)
    for (i = 3; i <= count; i++) listed[words[1], words[i]] = 1
}
# "FOLDER takes N lines": it and what lies below it may have so many.
function read_size(line, words) {
    split(line, words)
    most[words[1]] = words[3]
    sized[++sizes] = words[1]
}
function count_line(path) {
    while (sub(/\/[^\/]*$/, "", path)) used[path]++
}
function find_too_long(i) {
    for (i = 1; i <= sizes; i++) {
        if (used[sized[i]] + 0 > most[sized[i]]) {
            print "core/" sized[i] ": has " used[sized[i]] " lines, and core/rooms gives it " most[sized[i]]
            bad++
        }
    }
}
function print_lines(i, all) {
    for (i = 1; i <= sizes; i++) {
        printf "  %-12s %6d of %6d lines\n", sized[i], used[sized[i]], most[sized[i]]
        all += used[sized[i]]
    }
    printf "  %-12s %6d lines\n", "core", all
}
function read_table(line) {
    if (line ~ /^#/ || line !~ /[^ \t]/) return
    if (line ~ /^[^: ]+ lists /) read_list(line)
    else if (line ~ /^[^: ]+ takes [0-9]+ lines$/) read_size(line)
    else read_row(line)
}
function may_use(room, other, shared) {
    if (room == other || (room, other) in allowed) return 1
    if (room in may) return 0
    for (shared in may) { # a command of cli
        if (shared ~ /^cli(\/|$)/ && (other == shared || (shared, other) in allowed)) return 1
    }
    return 0
}
# Whether a file is a table of what a room has; "cli/*" stands for all commands.
function lists(file, room, star) {
    star = room
    sub(/\/[^\/]*$/, "/*", star)
    return (file, room) in listed || (file, star) in listed
}

# --- circles ------------------------------------------------------------------------------------

# A file is NAME.c with its NAME.h.
function file_of(path) { sub(/\.[ch]$/, "", path); return path }
function add_arrow(from, to) {
    from = file_of(from)
    to = file_of(to)
    if (from == to || (from, to) in arrows) return
    arrows[from, to] = 1
    targets[from] = targets[from] " " to
}
# A file from which `file` can be reached step by step is on a circle. The steps are in `stack`, a file's colour is
# 1 while it is there and 2 when nothing more can be found from it.
function follow(file, depth, words, count, i) {
    colour[file] = 1
    stack[depth] = file
    count = split(targets[file], words)
    for (i = 1; i <= count; i++) {
        if (colour[words[i]] == 1) print_circle(words[i], depth)
        else if (!colour[words[i]]) follow(words[i], depth + 1)
    }
    colour[file] = 2
}
function print_circle(first, depth, i, text) {
    for (i = depth; stack[i] != first; i--) text = " -> " stack[i] text
    print "core/: a circle of files: " first text " -> " first
    bad++
}
function find_circles(files, count, names, i) {
    count = split(files, names)
    for (i = 1; i <= count; i++) if (!colour[names[i]]) follow(names[i], 1)
}
