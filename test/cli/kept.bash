# SPDX-License-Identifier: BSD-3-Clause
# The records that the programs write in a test file, held against their schema all at once when it ends; for `load`.
# A test file with a teardown or teardown_file of its own calls these.

# shellcheck source-path=SCRIPTDIR source=../records.bash
. "${BASH_SOURCE[0]%/*}/../records.bash"

# Keep what a program has written: the output of the latest `run`, or files.
keep_records() { # [FILE...]
    { if (($# > 0)); then cat -- "$@"; else printf '%s\n' "${output:-}" "${stderr:-}"; fi; } |
        sed -nE 's/^[[, ]*(\{"apapi":1,.*"start":.*\})[], ]*$/\1/p' >>"$BATS_FILE_TMPDIR/kept_records"
}

keep_files_below() { # FOLDER
    local files
    mapfile -d '' files < <(find "$1" -xdev -type f ! -name kept_records -size -1024k -print0)
    ((${#files[@]} == 0)) || keep_records "${files[@]}"
}

# Those of the latest `run` and in the files of the test.
keep_all_records() {
    keep_records
    keep_files_below "$BATS_TEST_TMPDIR"
}

# With those in the files of setup_file.
teardown_file() {
    keep_files_below "$BATS_FILE_TMPDIR"
    [[ ! -s $BATS_FILE_TMPDIR/kept_records ]] || validate_records "$BATS_FILE_TMPDIR/kept_records"
}
