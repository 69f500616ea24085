#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The Python package: records, frames of pandas, live pages, pictures.

load report_common
load live

setup() {
    common_setup
    live=$BATS_TEST_TMPDIR/live
    mkdir -p "$live"
    export PYTHONPATH=$repository/bindings/python PYTHONDONTWRITEBYTECODE=1 PATH=${apapi%/*}:$PATH
}

# Of Debian, which has pandas.
python() { # CODE
    /usr/bin/python3 -W error -c "import apapi, datetime, json
$1"
}

@test "records of a folder, a file, a pattern, an open file, and compressed ones" {
    record 7 0 n1 0 100 50
    record 7 0 n2 0 100 70
    record 8 0 n1 200 100 30 '.user = "ben"'
    gzip "$acct"/*/n2.jsonl
    run -0 python "
for r in apapi.records('$acct'): print(r.job, r.node, r.energy_j, r.user, r.start.isoformat(), (r.end - r.start).total_seconds())"
    [[ $(sort <<<"$output") == "7 n1 5000.0 anna 2026-11-20T10:00:00+00:00 100.0
7 n2 7000.0 anna 2026-11-20T10:00:00+00:00 100.0
8 n1 3000.0 ben 2026-11-20T10:03:20+00:00 100.0" ]]
    gzip -c "$acct"/*/n1.jsonl >n1.jsonl.gz
    run -0 python "
with open('$(echo "$acct"/*/n1.jsonl)') as file:
    print(sum(1 for _ in apapi.records('n1.jsonl.gz')), sum(1 for _ in apapi.records('$acct/*/n*')),
      sum(1 for _ in apapi.records('$acct', job=7)), sum(1 for _ in apapi.records('$acct', user='ben')),
      sum(1 for _ in apapi.records(file)))
print(sum(1 for _ in apapi.records('$acct', since=datetime.datetime(2026, 11, 20, 12))), sum(1 for _ in apapi.records('$acct', since=datetime.date(2026, 11, 21))))"
    [[ $output == $'2 3 2 1 2\n3 0' ]]
    "$apapi" show -f json -j 7.0 "$acct"/*/* >array.json
    run -0 python "
found = apapi.records('array.json')
print(sorted(r.energy_j for r in found), found.skipped)"
    [[ $output == '[5000.0, 7000.0] 0' ]]
    cp n1.jsonl.gz "$acct"/2026-11-20/ # each line once, also while gzip works
    count="print(sum(1 for _ in apapi.records('$acct')), sum(1 for _ in apapi.records('$acct/2026-11-20/n2.jsonl')))"
    tells 0 '3 1' python "$count"
    truncate -s 100 "$acct"/2026-11-20/n1.jsonl.gz
    tells 0 '3 1' python "$count"
    touch -d @1 "$acct"/2026-11-20/n1.jsonl.gz # not of the plain file, which is newer
    run -1 python "$count"
    [[ ${lines[-1]} == EOFError:* ]]
    rm "$acct"/2026-11-20/n1.jsonl.gz
    run -1 python "apapi.records('$acct', job='7')"
    [[ ${lines[-1]} == "TypeError: 'str' object cannot be interpreted as an integer" ]]
    tells 1 "*No such file or directory: '$acct/nothing'" python "list(apapi.records('$acct/nothing'))"
}

@test "without a source: the site's accounting folder" {
    record 7 0 n1 0 100 50
    echo "acct_dir = $acct" >"$APAPI_CONFIG"
    tells 0 '\[7]' python "print([r.job for r in apapi.records()])"
    for call in 'apapi.records()|apapi' 'apapi.plot(7)|apapi'; do
        PATH=$BATS_TEST_TMPDIR run -1 python "${call%|*}"
        [[ ${lines[-1]} == "FileNotFoundError: the program '${call#*|}' is not in PATH" ]]
    done
    touch "$acct/n2.jsonl.zst" # not passed over
    run -1 python "list(apapi.records('$acct'))"
    [[ ${lines[-1]} == "OSError: $acct/n2.jsonl.zst: compressed with zstd, and only gzip is read" ]]
}

@test "what is not known is None, and what is no record is counted" {
    record 7 0 n1 0 100 50 'del(.domains.package.energy_j, .total, .trust.covered, .user)'
    printf '{"apapi":1,"job":7,"no\n"x"\n{"apapi":2,"start":"x"}\n{"apapi":1,"node":"n3","complete":false,"reason":"late"}\n' >>"$(echo "$acct"/*/n1.jsonl)"
    for change in '.domains.package.energy_j = -1' 'del(.late_s)' '.domains = []' '.trust = 5'; do
        record 7 0 n4 0 100 50 "$change"
    done
    record_line 7 0 n4 0 100 50 | sed 's/"covered":1/"covered":NaN/p; s/NaN/1,"covered":1/; /NaN/d' >>"$(echo "$acct"/*/n4.jsonl)"
    printf '[%.0s' {1..2000} >>"$(echo "$acct"/*/n4.jsonl)"
    run -0 python "
found = apapi.records('$acct')
records = list(found)
print(len(records), found.skipped, found.newer, records[0].energy_j, records[0].user, records[0].covered, records[0].domains['package'].mean_w)"
    [[ $output == '1 9 1 None None None 50.0' ]]
}

@test "the figures are those of apapi show and report" {
    record 7 0 n1 0 3 300 '.domains.package += {uncertainty_j: 3.5, covered: 0.75, rest_j: 30}
        | .domains += {dram: {energy_j: 60.5, uncertainty_j: 1.25, covered: 0.5, mean_w: 20.25}, core: {energy_j: 5, uncertainty_j: 0.5, mean_w: 1.75}} | .total = {energy_j: 960.5}'
    run python "
import subprocess
def of(*words): return json.loads(subprocess.run(['$apapi', *words, '$(echo "$acct"/*/n1.jsonl)'], check=True, stdout=subprocess.PIPE).stdout)
r = next(apapi.records('$acct'))
whole, row = of('show', '-f', 'json', '-j', '7')[0], of('report', '--json', '-j', '7')['rows'][0]
print([(name, key) for name, said in whole['domains'].items() for key, value in said.items() if getattr(r.domains[name], key, value) != value])
print(r.energy_j == row['energy_j'] == 960.5, r.uncertainty_j == row['uncertainty_j'] == 4.75, r.mean_w, r.domains['core'].covered)"
    echo "$output"
    [[ $output == $'[]\nTrue True 320.25 None' ]]
}

@test "all of a record's keys are those of the schema" {
    run -0 python "
import dataclasses, json
with open('$repository/docs/record.schema.json') as file:
    schema = json.load(file)
own = {f.name for f in dataclasses.fields(apapi.Record)} - {'raw'}
text = json.dumps(schema)
print(sorted(own - set(schema['properties'])), [f.name for f in dataclasses.fields(apapi.Domain) if f.name not in text])"
    [[ $output == '[] []' ]]
}

@test "the timeline adds up to the energy; what is not covered is None" {
    record 7 0 n1 0 100 50
    record 8 0 n1 200 90 50 '.timeline = {bin_s: 40, package: {unit_j: 10, n: [200, null, 5], covered_pct: {"2": 50}}}'
    run -0 python "
seven, eight = sorted(apapi.records('$acct'), key=lambda r: r.job)
print(sum(b.energy_j for b in seven.timeline('package')), seven.timeline('package')[1].mean_w, seven.timeline('gpu'))
print([(b.start_s, b.length_s, b.energy_j, b.covered, b.mean_w) for b in eight.timeline('package')])"
    [[ ${lines[0]} == '5000 50.0 []' ]]
    [[ ${lines[1]} == '[(0, 40, 2000, 1.0, 50.0), (40, 40, None, 0.0, None), (80, 10.0, 50, 0.5, 10.0)]' ]]
}

# bats test_tags=long
@test "a frame of pandas" {
    record 7 0 n1 0 100 50
    record 7 0 n2 0 100 70 'del(.total)'
    run -0 python "
import warnings
warnings.simplefilter('ignore') # of pandas itself
f = apapi.frame(apapi.records('$acct'))
print(len(f), f.groupby('job').package_j.sum()[7], f.energy_j.isna().sum(), f.start.dtype)
print(list(apapi.frame([]).columns)[:3])"
    [[ ${lines[0]} == '2 12000.0 1 datetime64[ns, UTC]' && ${lines[1]} == "['cluster', 'job', 'step']" ]]
}

@test "a live page has what its writer says" {
    set_clock stands
    hold_pages '[{node: "n1", job: 7, step: "0", user: "anna", cluster: "c1", age_s: 90, start_s: 1795168800,
        domains: {package: {now: 77, total: 4500, uncertainty_j: 3.5}, dram: {now: 5, total: 300, failed: true},
            node: {readings: 1}}}]'
    page=$(find "$live" -type f)
    run -0 python "
with apapi.LivePage('$page') as page:
    print(page.job, page.step, page.user, page.node, page.cluster, page.state, sorted(page.domains()))
    package = page.domain('package')
    print(package.total, package.rate, package.uncertainty_j, package.failed, page.domain('dram').failed, page.domain('dram').uncertainty_j)
    print(page.domain('gpu'))
    print(page.energy_j('package', package.time_ns), page.energy_j('package', package.time_ns + package.interval_ns // 2) - 4500
          - 77 * package.interval_ns / 2e9 < 1e-9, page.energy_j('gpu'), page.energy_j('node', page.domain('node').time_ns))"
    echo "$output"
    [[ ${lines[0]} == "7 0 anna n1 c1 running ['dram', 'node', 'package']" ]]
    [[ ${lines[1]} == '4500.0 77.0 3.5 False True None' && ${lines[2]} == None && ${lines[3]} == '4500.0 True None None' ]]
    run -1 python "apapi.LivePage('/dev/null')"
    head -c 2000 /dev/zero >zeros
    tells 1 '*ValueError: zeros: not a live page' python "apapi.LivePage('zeros')"
    tells 1 '*FileNotFoundError: APAPI_LIVE_PAGE is not set: this process is not in a measured step' python "apapi.LivePage()"
}

@test "a picture for notebooks" {
    record 7 0 n1 0 100 50
    run -0 python "
picture = apapi.plot(7, *__import__('glob').glob('$acct/*/*'))
print(picture._repr_svg_()[:5], picture.svg.count('<svg'))
picture.save('power.svg')"
    [[ $output == '<svg  1' && -s power.svg ]]
    tells 1 '*RuntimeError:*apapi plot:*no record*' python "apapi.plot(8, *__import__('glob').glob('$acct/*/*'))"
}

@test "a region decorates no function whose call only begins the work" {
    for function in 'async def f(): pass' 'def f(): yield' 'async def f(): yield'; do
        run -1 python "@apapi.region('r')
$function"
        [[ ${lines[-1]} == "TypeError: region r: a call of f() only makes a coroutine or generator; use 'with' "* ]]
    done
}

# bats test_tags=long
@test "types" {
    command -v mypy >/dev/null # scripts/setup --test installs it
    run -0 mypy --strict --cache-dir="$BATS_TEST_TMPDIR/cache" "$repository/bindings/python/apapi"
}
