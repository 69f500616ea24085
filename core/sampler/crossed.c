/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/crossed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* Cut off a part at a tab. @return its text; NULL: there is none. */
static const char *crossed_cut(char **rest)
{
    return *rest ? strsep(rest, "\t") : NULL;
}

static int crossed_parse(char *line, struct apapi_crossing *crossing)
{
    const char *threshold, *action, *result;
    struct whole_number unix_ns;
    struct real_number value;

    if (whole_number_parse(line, &unix_ns) || unix_ns.negative || unix_ns.value > INT64_MAX ||
        *unix_ns.rest != ' ' || real_number_parse(unix_ns.rest + 1, &value) ||
        *value.rest != '\t') {
        return -1;
    }
    line = strchr(line, '\t') + 1;
    threshold = crossed_cut(&line);
    action = crossed_cut(&line);
    result = crossed_cut(&line);
    if (!result) {
        return -1;
    }
    *crossing = (struct apapi_crossing){
        .unix_ns = (int64_t)unix_ns.value, .value = value.value, .unit = "J", .count = 1};
    snprintf(crossing->threshold, sizeof crossing->threshold, "%s", threshold);
    snprintf(crossing->action, sizeof crossing->action, "%s", action);
    snprintf(crossing->result, sizeof crossing->result, "%s", result);
    return 0;
}

/* The crossings are in the order of time. */
static void crossed_insert(struct apapi_record *record, const struct apapi_crossing *crossing)
{
    size_t index = record->crossing_count;
    struct apapi_crossing *grown;

    record->crossings++;
    if (index == APAPI_CROSSINGS_MAX) {
        return;
    }
    grown = reallocarray(record->crossing, index + 1, sizeof *grown);
    if (!grown) {
        return;
    }
    record->crossing = grown;
    record->crossing_count++;
    for (; index > 0 && grown[index - 1].unix_ns > crossing->unix_ns; index--) {
        grown[index] = grown[index - 1];
    }
    grown[index] = *crossing;
}

void crossed_note(struct apapi_record *record, const char *lines)
{
    struct apapi_crossing crossing;
    char line[512];

    for (size_t length; *lines; lines += length + (lines[length] != '\0')) {
        length = strcspn(lines, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, lines);
        if (crossed_parse(line, &crossing) == 0) {
            crossed_insert(record, &crossing);
        }
    }
}
