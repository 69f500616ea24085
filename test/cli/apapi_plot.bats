#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi plot: pictures and pages from records written by hand, the page in a real browser.

load report_common
load ../browser/browser

setup() { common_setup && page=$BATS_TEST_TMPDIR/a.html; }
plot() { "$apapi" plot --acct-dir "$acct" "$@"; }

model() { # PAGE: what it shows, as JSON
    sed -n 's|^<script type="application/json" id="model">\(.*\)</script>$|\1|p' "$1"
}

powers() { # PAGE NAME: of this line
    model "$1" | jq -c --arg name "$2" '.series[] | select(.name == $name).power_w'
}

hostile='.job_name = "<script>document.title=1</script><img src=x onerror=alert(1)>" | .user = "</script><b>u"'

@test "SVG: well-formed, with the job's name as text that does nothing" {
    record 17 0 n1 0 100 200 "$hostile"
    tells 0 '' plot 17 -o "$BATS_TEST_TMPDIR/a.svg"
    python3 -c 'import sys, xml.dom.minidom as x; d = x.parse(sys.argv[1]).documentElement
assert d.tagName == "svg" and not d.getElementsByTagName("script") and len(d.getElementsByTagName("path")) > 10' "$BATS_TEST_TMPDIR/a.svg"
}

@test "-o -: what -f says, else SVG" {
    record 17 0 n1 0 100 200
    plot 17 -o - >a.svg
    plot 17 -o b.SVG
    cmp a.svg b.SVG
    [[ $(head -n 1 a.svg) == "<svg "* ]]
    plot 17 --output=- --format=html >a.html
    plot 17 -o b.html
    cmp a.html b.html
    plot 17 -f html -o page
    cmp a.html page
}

@test "what was crossed is marked in time, in the page and in the picture" {
    record 17 0 n1 0 100 200 '.crossings = [{threshold: "total >= 5J", time: .start, value: 5, unit: "J", count: 1, action: "stamp"},
        {threshold: "gpu > <b>", time: .end, count: 1, action: "log"}]'
    record 18 0 n1 200 100 200
    run -0 plot 17 -o "$page"
    [[ $(model "$page" | jq -c '[.crossings[] | [.threshold, .node, .step, .at_s]]') == \
        '[["total >= 5J","n1","0",0],["gpu > <b>","n1","0",100]]' ]]
    [[ $(plot -f html -o - 18 | model /dev/stdin | jq 'has("crossings") or has("regions")') == false ]]
    plot 17 -o "$BATS_TEST_TMPDIR/a.svg"
    plot 18 -o "$BATS_TEST_TMPDIR/b.svg"
    fills() { grep -c 'class="crossing"' "$1" || true; }
    (($(fills "$BATS_TEST_TMPDIR/a.svg") == 2 && $(fills "$BATS_TEST_TMPDIR/b.svg") == 0))
    grep -qF '>total &#62;= 5J</text>' "$BATS_TEST_TMPDIR/a.svg"
}

@test "the energy by region below the curve, for a job that has regions" {
    local region regions=() name=2 more
    for region in a/b c d e f g h i; do regions+=("{name: \"$region\", method: \"measured\", time_s: 1, domains: {package: {energy_j: $((100 * name++))}}}"); done
    more=$(IFS=,; echo "${regions[*]}")
    record 17 0 n1 0 100 50 ".regions = [$more, {kind: \"idle\", method: \"estimated\", time_s: 1, domains: {package: {energy_j: 600}}}, {name: \"<b>\", method: \"unknown\", time_s: 1}]"
    record 18 0 n1 0 100 200
    run -0 plot 17 -o "$BATS_TEST_TMPDIR/a.html"
    [[ $(model "$BATS_TEST_TMPDIR/a.html" | jq -c '[.regions[] | [.name, .energy_j, .share]]') == \
        '[["i",900,0.18],["h",800,0.16],["g",700,0.14],["f",600,0.12],["e",500,0.1],["d",400,0.08],["(idle)",600,0.12]]' ]]
    plot 17 -o "$BATS_TEST_TMPDIR/a.svg"
    plot 18 -o "$BATS_TEST_TMPDIR/b.svg"
    height() { grep -oE 'viewBox="0 0 [0-9.]+ [0-9]+' "$1" | head -n 1 | awk '{ print $4 }'; }
    (($(height "$BATS_TEST_TMPDIR/a.svg") == $(height "$BATS_TEST_TMPDIR/b.svg") + 34))
}

@test "the greatest values of the axes; marks where steps begin" {
    record 17 batch n1 0 100 200
    record 17 1 n1 60 20 200
    record 17 0 n1 10 50 200
    record 18 0 n1 200 400 900
    run -0 plot 17 -o "$page"
    [[ $(model "$page" | jq -c '[.length_s, .greatest_w | round]') == '[100,200]' ]]
    [[ $(model "$page" | jq -c '[.steps[] | .step, (.start_s | round)]') == '["0",10,"1",60]' ]]
    run -0 plot 17 -o "$BATS_TEST_TMPDIR/a.svg"
    plot 18 -o "$BATS_TEST_TMPDIR/b.svg"
    (($(grep -c '<path' "$BATS_TEST_TMPDIR/a.svg") > $(grep -c '<path' "$BATS_TEST_TMPDIR/b.svg")))
}

@test "a picture: a line for each node, at the height of its power; of files and of a database, too" {
    record 18 0 n1 200 100 300
    record 18 0 n2 200 100 100
    plot 18 --by node -o "$BATS_TEST_TMPDIR/a.svg"
    python3 - "$BATS_TEST_TMPDIR/a.svg" <<'EOF'
import sys, xml.dom.minidom as x
svg = x.parse(sys.argv[1]).documentElement
assert svg.getAttribute("width") == "900"
lines = [path.getAttribute("d") for path in svg.getElementsByTagName("path") if path.getAttribute("class") == "line"]
curves = [d for d in lines if not d.endswith("h26")]
assert len(curves) == 2 and len(lines) == 4, lines
heights = [float(d.split("H")[0].split()[1]) for d in curves] # 52: above, 310: 0 W; an axis of 400 W
assert heights == [116.5, 245.5], heights
texts = [text.firstChild.data for text in svg.getElementsByTagName("text")]
assert texts.count("n1") == 1 and texts.count("n2") == 1 and texts.count("power [W]") == 1, texts
EOF
    "$apapi" import --db "sqlite:$BATS_TEST_TMPDIR/db" --acct-dir "$acct" >/dev/null
    "$apapi" plot 18 --by node --db "sqlite:$BATS_TEST_TMPDIR/db" -o "$BATS_TEST_TMPDIR/b.svg"
    "$apapi" plot -j 18 --by node -o "$BATS_TEST_TMPDIR/c.svg" "$acct"/*/*.jsonl
    cmp "$BATS_TEST_TMPDIR/a.svg" "$BATS_TEST_TMPDIR/b.svg"
    cmp "$BATS_TEST_TMPDIR/a.svg" "$BATS_TEST_TMPDIR/c.svg"
}

@test "a gap where a node that ran is not known; domains and their total" {
    record 17 0 n1 0 100 200 '.timeline.package.n = [5000, null, 5000, 5000] | .domains.package.energy_j = 15000 |
        .domains.gpu = .domains.package | .timeline.gpu = {unit_j: 1, n: [5000, 5000, 5000, null]}'
    record 17 0 n2 0 100 300
    run -0 plot 17 -o "$page"
    [[ $(powers "$page" package | jq -c '[.[30, 90, 150]]') == "[500,null,500]" ]]
    [[ $(powers "$page" gpu | jq -c '[.[30, 90, 210]]') == "[200,200,null]" ]]
    [[ $(powers "$page" total | jq -c '[.[30, 90, 150, 210]]') == "[700,null,700,null]" ]]
    run -0 plot 17 --by node -o "$page"
    [[ $(powers "$page" n1 | jq -c '[.[30, 90, 150, 210]]') == "[400,null,400,null]" ]]
    [[ $(powers "$page" n2 | jq -c '[.[30, 90, 150, 210]]') == "[300,300,300,300]" ]]
}

@test "more nodes than lines: the highest energies, and the mean of the others" {
    for ((i = 1; i <= 10; i++)); do record 17 0 n$i 0 100 $((i * 100)); done
    run -0 plot 17 --by node -o "$page"
    [[ $(model "$page" | jq -c '[.series[].name]') == '["n10","n9","n8","n7","n6","n5","n4","mean of 3 others"]' ]]
    [[ $(powers "$page" "mean of 3 others" | jq '.[7]') == 200 ]]
}

@test "what cannot be drawn is told, and leaves no file" {
    record 17 0 n1 0 100 200
    record 18 0 n1 0 100 200 'del(.timeline)'
    tells 1 'apapi plot: no record of this job found' plot 19 -o a.html
    tells 1 'apapi plot: the records of job 18 have no power over time' plot 18 -o a.html
    tells 1 'apapi plot: *nowhere*No such file or directory*' plot 17 -o nowhere/a.html
    run -1 compgen -G '*.[hsg][tvi]*'
}

@test "a file is replaced whole, or kept" {
    record 17 0 n1 0 100 200
    echo old >a.html
    run -1 plot 18 -o a.html
    [[ $(<a.html) == old ]]
    (umask 027 && plot 17 -o a.html)
    [[ $(stat -c %a a.html) == 640 && $(head -n 1 a.html) == "<!DOCTYPE html>" ]]
}

@test "the page asks for nothing from elsewhere, and hostile names stay texts" {
    record 17 0 n1 0 100 200 "$hostile"
    run -0 plot 17 -o "$page"
    [[ $(grep -o 'https\?://[^"]*' "$page" | sort -u) == http://www.w3.org/2000/svg ]]
    grep -q "default-src 'none'" "$page"
    [[ $(grep -c '<script' "$page") == 2 && $(grep -c '</script>' "$page") == 2 ]]
}

# bats test_tags=long
@test "in the browser: curves, table, trust, no error on the console, and hostile names stay texts" {
    need_browser
    record 17 0 n1 0 100 200 "$hostile"
    run -0 plot 17 -o "$page"
    run -0 browse "$page" --dump-dom
    [[ $output != *CONSOLE* ]]
    [[ $(grep -o '<article>' <<<"$output" | wc -l) == 1 && $(grep -o 'class="line" d="M58.00 [0-9]' <<<"$output" | wc -l) == 1 ]]
    [[ $output == *"apapi: job 17  1 node  1 step"*"How far it can be trusted"*"1 of 1 records are complete"*"What is unusual"* ]]
    [[ $output == *'<h2>job 17  &lt;script&gt;document.title=1&lt;/script&gt;&lt;img src=x'* && $output == *"<dd>&lt;/script&gt;&lt;b&gt;u</dd>"* ]]
    [[ $output == *"<title>apapi: power of job 17</title>"* ]]
    broken=$BATS_TEST_TMPDIR/broken.html
    sed 's|</body>|<script>nonsense()</script></body>|' "$page" >"$broken"
    tells 0 '*CONSOLE*nonsense*' browse "$broken" --dump-dom
}

# bats test_tags=long
@test "in the browser: marks of steps, tooltip, zoom by wheel and by dragging, double click, keys" {
    need_browser
    record 17 batch n1 0 100 200 '.timeline.package.n = [5000, null, 5000, 10000] | .domains.package.energy_j = 20000'
    record 17 0 n1 75 20 400
    run -0 plot 17 -o "$page"
    act "$page" "at('pointermove', 0.1); say(tip());
        at('pointermove', 0.4); say(tip());
        at('pointerleave', 0.4); say(tip());
        key('ArrowRight'); say(tip());
        at('wheel', 0.5, {deltaY: -1}); say(range());
        at('dblclick', 0.5); say(range());
        at('pointerdown', 0.25, {button: 0}); at('pointermove', 0.75); at('pointerup', 0.75); say(range());
        key('Escape'); say(range()); key('+'); say(range()); key('-'); say(range());
        say([...chart.svg.querySelectorAll('text.step')].map(text => text.textContent).join(' ')); say(chart.svg.querySelectorAll('line.mark').length);"
    [[ ${lines[0]} == "2026-11-20 10:00:10 UTC, 10 s|package: 200.0 W" ]]
    [[ ${lines[1]} == *"40 s|package: not known" ]]
    [[ ${lines[2]} == hidden ]]
    [[ ${lines[3]} == *"51.67 s|package: 200.0 W" ]]
    [[ ${lines[4]} == "10 90" && ${lines[5]} == "0 100" && ${lines[6]} == "25 75" ]]
    [[ ${lines[7]} == "0 100" && ${lines[8]} == "25 75" && ${lines[9]} == "0 100" ]]
    [[ ${lines[10]} == 0 && ${lines[11]} == 1 ]]
}
