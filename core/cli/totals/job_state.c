/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/totals/job_state.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

static const struct {
    unsigned state;
    const char *name, *brief;
} states[] = {{REPORT_STATE_COMPLETED, "COMPLETED", "CD"}, {REPORT_STATE_FAILED, "FAILED", "F"}};
#define STATES COUNT_OF(states)

static unsigned find_state(const char *word, size_t size)
{
    for (size_t i = 0; i < STATES; i++) {
        if ((strlen(states[i].name) == size && strncasecmp(states[i].name, word, size) == 0) ||
            (strlen(states[i].brief) == size && strncasecmp(states[i].brief, word, size) == 0)) {
            return states[i].state;
        }
    }
    return 0;
}

int report_states_parse(const char *text, unsigned *found, struct apapi_error *err)
{
    unsigned all = 0;

    for (const char *word = text;; word++) {
        size_t size = strcspn(word, ",");
        unsigned state = find_state(word, size);

        if (!state) {
            return apapi_fail(err, EINVAL,
                              "--state=%.40s: records know completed (CD) and failed (F); sacct -s "
                              "finds the jobs of other states, -j takes them",
                              text);
        }
        all |= state;
        word += size;
        if (*word == '\0') {
            *found = all;
            return 0;
        }
    }
}

unsigned report_state_of(uint32_t code, uint32_t signal)
{
    if (code == APAPI_UNKNOWN) {
        return 0;
    }
    return code == 0 && (signal == 0 || signal == APAPI_UNKNOWN) ? REPORT_STATE_COMPLETED
                                                                 : REPORT_STATE_FAILED;
}

const char *report_state_name(unsigned state)
{
    for (size_t i = 0; i < STATES; i++) {
        if (states[i].state == state) {
            return states[i].name;
        }
    }
    return "";
}
