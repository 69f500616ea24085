/* SPDX-License-Identifier: BSD-3-Clause */
#include "threshold/threshold_list.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "threshold/place.h"
#include "threshold/threshold.h"

static bool threshold_is_same(const struct threshold *left, const struct threshold *right)
{
    return strcmp(left->meter, right->meter) == 0 && left->condition == right->condition &&
           left->unit == right->unit && left->amount >= right->amount &&
           left->amount <= right->amount && left->hold_ns == right->hold_ns;
}

int threshold_list_add(struct threshold_list *list, const char *text, struct apapi_error *err)
{
    const struct place place = {text, text, err};
    struct threshold *next = &list->thresholds[list->count];

    if (list->count == THRESHOLDS_MAX) {
        return place_fail(&place, text, E2BIG, "more than %d thresholds", THRESHOLDS_MAX);
    }
    if (threshold_parse(text, next, err)) {
        return -1;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (threshold_is_same(&list->thresholds[i], next)) {
            return place_fail(&place, text, EEXIST,
                              "this threshold is there already: give all its actions at once");
        }
    }
    list->count++;
    return 0;
}

int threshold_list_parse(struct threshold_list *list, const char *lines, struct apapi_error *err)
{
    char line[THRESHOLD_TEXT_SIZE + THRESHOLD_COMMAND_SIZE + 256];

    for (; *lines; lines += *lines == '\n') {
        size_t length = strcspn(lines, "\n");
        const struct place place = {lines, lines, err};

        if (length >= sizeof line) {
            return place_fail(&place, lines, ENAMETOOLONG, "this threshold is too long");
        }
        memcpy(line, lines, length);
        line[length] = '\0';
        if (line[strspn(line, " \t")] && threshold_list_add(list, line, err)) {
            return -1;
        }
        lines += length;
    }
    return 0;
}
