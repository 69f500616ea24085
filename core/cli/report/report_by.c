/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/report_by.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* Groups with one bucket per row. */
static const struct {
    enum report_by by;
    const char *name, *format;
} wholes[] = {
    {REPORT_BY_JOB, "job", "jobid,user,jobname,nodes,elapsed,energy,power,measured"},
    {REPORT_BY_STEP, "step", "stepid,name,nodes,elapsed,energy,power,maxpower,measured"},
    {REPORT_BY_NODE, "node", "node,records,energy,package,dram,gpu,power,measured"},
};
#define WHOLES COUNT_OF(wholes)

/* Also the names of the fields. */
static const char *const groups[] = {
    [REPORT_GROUP_USER] = "user",           [REPORT_GROUP_ACCOUNT] = "account",
    [REPORT_GROUP_PARTITION] = "partition", [REPORT_GROUP_QOS] = "qos",
    [REPORT_GROUP_CLUSTER] = "cluster",     [REPORT_GROUP_DAY] = "day",
    [REPORT_GROUP_REGION] = "region"};

static bool find_group(const char *word, size_t size, enum report_group *group)
{
    for (int i = 0; i < REPORT_GROUPS; i++) {
        if (word_is(word, size, groups[i])) {
            *group = (enum report_group)i;
            return true;
        }
    }
    return false;
}

static bool has_group(const struct report_ledger *ledger, enum report_group group)
{
    for (size_t i = 0; i < ledger->group_count; i++) {
        if (ledger->groups[i] == group) {
            return true;
        }
    }
    return false;
}

static int report_by_parse_groups(const char *text, struct report_ledger *parsed,
                                  struct apapi_error *err)
{
    for (const char *word = text;; word++) {
        size_t size = strcspn(word, ",");
        enum report_group group;

        if (!find_group(word, size, &group)) {
            return apapi_fail(err, EINVAL,
                              "--by=%.40s: valid are job, step, node, or a list of user, account, "
                              "partition, qos, cluster, day and region",
                              text);
        }
        if (has_group(parsed, group)) {
            return apapi_fail(err, EINVAL, "--by=%.40s: %s is listed twice", text, groups[group]);
        }
        parsed->groups[parsed->group_count++] = group;
        word += size;
        if (*word == '\0') {
            return 0;
        }
    }
}

static enum report_by report_by_choose(const struct report_ledger *parsed)
{
    return has_group(parsed, REPORT_GROUP_REGION) ? REPORT_BY_REGION
           : has_group(parsed, REPORT_GROUP_DAY)  ? REPORT_BY_DAY
                                                  : REPORT_BY_GROUP;
}

int report_by_parse(const char *text, struct report_ledger *ledger, struct apapi_error *err)
{
    struct report_ledger parsed = {.group_count = 0};

    for (size_t i = 0; i < WHOLES; i++) {
        if (strcmp(wholes[i].name, text) == 0) {
            ledger->by = wholes[i].by;
            ledger->group_count = 0;
            return 0;
        }
    }
    if (report_by_parse_groups(text, &parsed, err)) {
        return -1;
    }
    if (has_group(&parsed, REPORT_GROUP_DAY) && has_group(&parsed, REPORT_GROUP_REGION)) {
        return apapi_fail(err, EINVAL,
                          "--by=%.40s: regions are of whole records, which are not divided by day",
                          text);
    }
    ledger->by = report_by_choose(&parsed);
    ledger->group_count = parsed.group_count;
    memcpy(ledger->groups, parsed.groups, sizeof ledger->groups);
    return 0;
}

static const char *whole_name(const struct report_ledger *ledger, bool format)
{
    for (size_t i = 0; i < WHOLES; i++) {
        if (wholes[i].by == ledger->by) {
            return format ? wholes[i].format : wholes[i].name;
        }
    }
    return "";
}

static size_t put_groups(const struct report_ledger *ledger, char *text, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < ledger->group_count && length < size; i++) {
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? "," : "",
                                   groups[ledger->groups[i]]);
    }
    return length < size ? length : size - 1;
}

void report_by_text(const struct report_ledger *ledger, char *text, size_t size)
{
    if (ledger->group_count > 0) {
        put_groups(ledger, text, size);
    } else {
        snprintf(text, size, "%s", whole_name(ledger, false));
    }
}

void report_by_format(const struct report_ledger *ledger, char *text, size_t size)
{
    if (ledger->group_count > 0) {
        size_t length = put_groups(ledger, text, size);

        snprintf(text + length, size - length, "%s",
                 ledger->by == REPORT_BY_REGION ? ",jobs,count,time,energy,power"
                                                : ",jobs,elapsed,energy,power,measured");
    } else {
        snprintf(text, size, "%s", whole_name(ledger, true));
    }
}
