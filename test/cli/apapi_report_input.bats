#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi report: which records are read, and from what files.

load report_common

@test "an APAPI_CONFIG that has no effect is told" {
    record 17 0 n1 0 10 100
    APAPI_CONFIG=$BATS_TEST_TMPDIR/typo prints 0 '17' report -P -n -S 2026-01-01 --format=jobid
    [[ $stderr == "apapi report: APAPI_CONFIG=$BATS_TEST_TMPDIR/typo has no effect: No such file or directory" ]]
    chmod 666 "$APAPI_CONFIG"
    prints 0 17 report -P -n -S 2026-01-01 --format=jobid
    [[ $stderr == *'has no effect: others can write it'* ]]
    chmod 644 "$APAPI_CONFIG"
    printf '%s\n' 'acct_dir = shared/acct' 'user_records = shared' 'interval = 100' >"$APAPI_CONFIG" # of other lines only --check speaks
    prints 0 17 report -P -n -S 2026-01-01 --format=jobid
    [[ $stderr == "apapi report: $APAPI_CONFIG:1: 'acct_dir = shared/acct' has no effect: not an absolute path; "* && $stderr == *":2: 'user_records = shared' has no effect: "* && $stderr != *interval* ]]
}

@test "jobs by number, step, array and component" {
    record 30 0 n1 0 10 100
    record 31 0 n1 20 10 100 '.array_job = 40 | .array_task = 3'
    record 32 0 n1 40 10 100 '.array_job = 40 | .array_task = 4'
    record 33 0 n1 60 10 100 '.het_job = 33 | .het_offset = 0'
    record 33 batch n1 60 10 100 '.het_job = 33 | .het_offset = 0'
    record 34 0 n1 80 10 100 '.het_job = 33 | .het_offset = 1'
    for case in "30=30" "31=40_3" "40_3=40_3" "40_*=40_3 40_4" "40=40_3 40_4" "40+0=" "33+0=33+0" "33=33+0 33+1" "33+1=33+1" "33_0=" \
        "30,40_4=30 40_4" "40.batch="; do
        [[ $case != *= ]] || { run -1 cells jobid -j "${case%=}"; continue; }
        run -0 cells jobid -j "${case%%=*}"
        [[ $(xargs <<<"$output") == "${case#*=}" ]] || { echo "$case: $output"; false; }
    done
    tells 0 '33+0.batch' cells stepid --by step -j 33.batch
}

@test "times; without any it is today, with -j or a file it is all" {
    record 60 0 n1 0 10 100
    tells 0 '60|*' report -n -P -S 2026-11-20T10:00 -E 2026-11-20T10:01
    tells 1 'apapi report: no job found' report -S 2026-11-20T10:01 -E 2026-11-20T10:02
    tells 1 '{"version":1,*"rows":*}*no job found' report -S 2026-11-20T10:01 -E 2026-11-20T10:02 --json
    tells 1 'jobid,energy_j*no job found' report -S 2026-11-20T10:01 -E 2026-11-20T10:02 --csv --format=jobid,energy
    run -1 report -E 2026-11-20T10:00:10Z
    tells 0 '60|*' "$apapi" report -n -P - <"$acct"/*/n1.jsonl
    now=$(date +%s)
    record 61 0 n1 $((now - 1795168800 - 20)) 10 100
    run -0 report -n -P
    [[ $output == 61\|* && ${#lines[@]} -eq 1 ]] || [[ $(date +%H%M) == 0000 ]]
}

@test "an array as srun writes it is read: 726.5 J; a merged record has no records" {
    record 5 0 n1 0 1 241.7 '.nodes = 3 | .nodelist = "n[1-3]"'
    record 5 0 n2 0 1 242.4 '.nodes = 3 | .nodelist = "n[1-3]" | .domains.dram = {energy_j: 0, mean_w: 0}'
    record 5 0 n3 0 1 242.4 '.nodes = 3 | .nodelist = "n[1-3]"'
    "$apapi" show -f json "$acct" >array.json
    "$apapi" show -f merged "$acct" >merged.json
    cat array.json - <<<'{"apapi":1,"node":"n4","complete":false,"reason":"no answer"}' >absent.json
    for file in array.json absent.json; do
        run -0 --separate-stderr "$apapi" report -P -n --format=jobid,nodes,energy,power,measured,missing "$file"
        [[ $output == '5|3|726.5|726.5|100|0' && -z $stderr ]] || { echo "$file: $output $stderr"; false; }
        run -0 --separate-stderr "$apapi" report -P -n --by node --format=node,energy "$file"
        [[ $output == $'n1|241.7\nn2|242.4\nn3|242.4' ]] || { echo "$file: $output"; false; }
        run -0 --separate-stderr "$apapi" show 5 "$file"
        [[ ${lines[0]} == "apapi: job 5  3 nodes "* && $output == *"726.5 J"* && -z $stderr ]]
        run -0 --separate-stderr "$apapi" show -f merged "$file"
        [[ $(jq -c '[.total.energy_j, .recorded, .complete]' <<<"$output") == '[726.5,3,true]' && -z $stderr ]]
        complains 0 '' "$apapi" plot 5 -o plot.svg "$file"
    done
    complains 1 '*merged.json:1: a merged record has no records of nodes*' "$apapi" report -v merged.json
    # an array in one line, and a part of one that is torn, are lines that are skipped
    jq -c . array.json >line.json
    head -c 400 array.json >torn.json
    for file in line.json torn.json; do
        complains 1 '*1 line skipped*' "$apapi" report -j 1,5 "$file"
    done
}

@test "days that gzip has compressed are read, also when named or in a pipe" {
    record 6 0 n1 0 10 100
    record 6 0 n2 0 10 200
    record 6 0 n3 0 10 300
    cd "$acct"/*/
    gzip n1.jsonl
    gzip n2.jsonl
    run -0 --separate-stderr cells jobid,nodes,energy
    [[ $output == '6|3|6000' && -z $stderr ]]
    tells 0 '6|2|3000' cells jobid,nodes,energy -N 'n[1-2]'
    run -0 --separate-stderr "$apapi" report -P -n --format=energy n1.jsonl.gz n2.jsonl.gz
    [[ $output == 3000 && -z $stderr ]]
    mv n1.jsonl.gz other-name
    tells 0 3000 "$apapi" report -P -n --format=energy other-name - <n2.jsonl.gz
    cat other-name other-name >n4.jsonl.gz # as logs that are appended to
    tells 0 6000 cells energy
    tells 0 '*total *6.000 kJ*' "$apapi" show --acct-dir "$acct" 6
}

@test "a compressed day that cannot be read is counted and told, not passed over" {
    record 6 0 n1 0 10 100
    record 6 0 n2 0 10 200
    cd "$acct"/*/
    gzip -c n1.jsonl | head -c 200 >n3.jsonl.gz
    mv n2.jsonl n2.jsonl.xz
    run -1 --separate-stderr cells energy
    [[ $output == 1000 && $stderr == "apapi report: 2 files or folders cannot be read (-v shows them)" ]]
    complains 1 '*n2.jsonl.xz: its name ends neither with .jsonl nor with .gz*' cells energy -v
    [[ $stderr == *"n3.jsonl.gz: it is compressed, and its end is missing"* ]]
    rm n2.jsonl.xz
    for command in 'show 6' 'show --brief 6' 'plot -o plot.svg 6' 'import --db sqlite:db'; do
        read -ra words <<<"$command"
        run -1 --separate-stderr "$apapi" "${words[@]}" --acct-dir "$acct"
        [[ $stderr == "apapi ${words[0]}: 1 file or folder cannot be read (-v shows them)" && ($output || -s plot.svg) ]]
    done
    printf '\x1f\x8b\x08 no such thing' >n3.jsonl.gz
    complains 1 '*n3.jsonl.gz: it is compressed, and damaged*' cells energy -v
    tells 1 'apapi report: n3.jsonl.gz: it is compressed, and damaged' "$apapi" report n3.jsonl.gz
    { gzip -c n1.jsonl && cat n1.jsonl; } >n3.jsonl.gz # these are records, too
    complains 1 '*n3.jsonl.gz: it is compressed, and damaged*' cells energy -v
    printf '\x28\xb5\x2f\xfd\x04' >n3.jsonl.zst
    tells 1 'apapi report: n3.jsonl.zst: it is compressed with zstd, and only gzip is read' "$apapi" report n3.jsonl.zst
}
