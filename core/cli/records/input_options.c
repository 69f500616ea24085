/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/records/input_options.h"

bool input_option(struct report_input *input, int letter)
{
    const struct {
        int letter;
        const char **text;
    } texts[] = {
        {'j', &input->jobs},           {'u', &input->users},   {'A', &input->accounts},
        {'r', &input->partitions},     {'N', &input->nodes},   {'M', &input->clusters},
        {'S', &input->from_text},      {'E', &input->to_text}, {INPUT_NAME, &input->job_names},
        {INPUT_ACCT_DIR, &input->dir}, {INPUT_DB, &input->db}};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].letter == letter) {
            *texts[i].text = optarg;
            return true;
        }
    }
    input->verbose = input->verbose || letter == 'v';
    input->strict = input->strict || letter == INPUT_STRICT;
    return letter == 'v' || letter == INPUT_STRICT;
}
