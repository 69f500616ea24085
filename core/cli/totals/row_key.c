/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "cli/totals/pieces.h"

#define REGION_SIZE (APAPI_REGION_PATH_SIZE + 2)

/* Named regions come first, and none of them is taken for another kind. */
static void row_key_region(const struct report_ledger *ledger, const struct report_region *region,
                           char text[REGION_SIZE])
{
    snprintf(text, REGION_SIZE, "%c%s", (char)('a' + region->kind),
             pool_text(&ledger->texts, region->name));
}

void report_row_key(const struct report_ledger *ledger, const struct report_bucket *bucket,
                    const struct report_region *region, char key[REPORT_ROW_KEY_SIZE])
{
    const uint32_t texts[REPORT_GROUPS] = {
        [REPORT_GROUP_USER] = bucket->user,           [REPORT_GROUP_ACCOUNT] = bucket->account,
        [REPORT_GROUP_PARTITION] = bucket->partition, [REPORT_GROUP_QOS] = bucket->qos,
        [REPORT_GROUP_CLUSTER] = bucket->cluster,     [REPORT_GROUP_DAY] = bucket->day};
    char name[REGION_SIZE] = "";
    size_t length = 0;

    if (region) {
        row_key_region(ledger, region, name);
    }
    *key = '\0';
    for (size_t i = 0; i < ledger->group_count && length < REPORT_ROW_KEY_SIZE; i++) {
        enum report_group group = ledger->groups[i];

        length += (size_t)snprintf(
            key + length, REPORT_ROW_KEY_SIZE - length, "%s%s", i ? "\x1f" : "",
            group == REPORT_GROUP_REGION ? name : pool_text(&ledger->texts, texts[group]));
    }
}
