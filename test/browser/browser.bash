# SPDX-License-Identifier: BSD-3-Clause
# A page in headless Chromium, without network; for `load`.
# shellcheck shell=bash

need_browser() {
    command -v chromium >/dev/null || skip "no chromium"
}

# The page's console stands in the output as "CONSOLE".
browse() { # PAGE OPTION...
    timeout 300 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --proxy-server=127.0.0.1:9 --user-data-dir="$BATS_TEST_TMPDIR/browser" --enable-logging=stderr \
        --virtual-time-budget=2000 --window-size="${browser_width:-1200}",900 "${@:2}" "file://$1" 2>&1 3>&-
}

# Run SCRIPT in a copy of the page; what it says are the $lines. It can call:
# at(EVENT, SHARE OF THE TIME AXIS, {MORE}), key(KEY), tip(), range(), say(TEXT).
act() { # PAGE SCRIPT
    local copy=${1%.html}.acted.html
    sed 's|</body>||; s|</html>||' "$1" >"$copy"
    cat >>"$copy" <<EOF
<script>
const said = [], svg = document.querySelector(".chart svg"), box = svg.getBoundingClientRect();
function at(name, share, more) {
  const kind = name === "wheel" ? WheelEvent : name.startsWith("pointer") ? PointerEvent : MouseEvent;
  const clientX = box.left + box.width * (58 + share * 570) / 640;
  svg.dispatchEvent(new kind(name, {clientX, clientY: box.top + 50, bubbles: true, cancelable: true, ...more}));
}
function key(name) { svg.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true})); }
function tip() {
  const node = document.querySelector(".tip");
  return node.hidden ? "hidden" : [...node.children].map(line => line.textContent).join("|");
}
function range() { return [chart.view.from, chart.view.to].map(s => String(Math.round(s))).join(" "); }
function say(text) { said.push(text); }
$2
document.body.replaceChildren();
document.body.textContent = "SAID\n" + said.join("\n") + "\nEND";
</script></body></html>
EOF
    run -0 browse "$copy" --dump-dom
    refute_console
    # shellcheck disable=SC2154 # set by run
    run -0 sed -n '/SAID$/,/^END/{//!p}' <<<"$output"
}

refute_console() {
    # shellcheck disable=SC2154
    if [[ $output == *CONSOLE* ]]; then
        printf '%s\n' "$output" >&2
        return 1
    fi
}
