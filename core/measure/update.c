/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/update.h"

#define UNKNOWN_NS UINT64_C(1000000) /* RAPL's counters move once a millisecond */
#define LONG_GAPS 3                  /* so many show a longer period ... */
#define LONG_SHARE 8                 /* ... if they are at least this part of all */
#define SHORT_GAPS APAPI_UPDATE_GAPS /* so many show a shorter one, if no gap is long */
#define STANDSTILL 4                 /* times the mean gap: that is no period */

void apapi_update_init(struct apapi_update *update, uint64_t stated_ns)
{
    *update = (struct apapi_update){.stated_ns = stated_ns};
    apapi_update_restart(update);
}

void apapi_update_restart(struct apapi_update *update)
{
    *update = (struct apapi_update){
        .stated_ns = update->stated_ns,
        .period_ns = update->stated_ns ? update->stated_ns : UNKNOWN_NS,
    };
}

static uint64_t update_mean_ns(const struct apapi_update *update)
{
    return update->sum_ns / update->gaps;
}

/* Readings are never exactly an interval apart: a small difference shows nothing. */
static bool update_is_longer(const struct apapi_update *update)
{
    return update->long_gaps >= LONG_GAPS && update->long_gaps >= update->gaps / LONG_SHARE &&
           update_mean_ns(update) / 3 > update->period_ns / 2;
}

static bool update_is_shorter(const struct apapi_update *update)
{
    return update->gaps >= SHORT_GAPS && update->long_gaps == 0 &&
           update_mean_ns(update) / 3 < update->period_ns / 4;
}

bool apapi_update_learn(struct apapi_update *update)
{
    if (!update->learned && !update_is_longer(update) && !update_is_shorter(update)) {
        return false;
    }
    update->period_ns = update_mean_ns(update);
    update->learned = true;
    return true;
}

static bool update_is_standstill(const struct apapi_update *update, uint64_t gap_ns)
{
    return update->gaps >= LONG_GAPS && gap_ns / STANDSTILL > update_mean_ns(update);
}

static uint64_t update_least(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/*
 * Two readings may lie within one update: only a longer time without a move shows something, and it
 * shows nothing of a time without readings.
 */
bool apapi_update_add_rare(struct apapi_update *update, uint64_t gap_ns, uint64_t still_ns)
{
    bool first = !update->moved, is_long = still_ns >= update->period_ns;
    uint64_t likely_ns = update_least(gap_ns, 2 * still_ns);

    update->moved = true;
    if (update_is_standstill(update, gap_ns)) {
        return false;
    }
    if (is_long && likely_ns > update->longest_ns) {
        update->longest_ns = likely_ns;
    }
    if (first) {
        return false;
    }
    update->gaps++;
    update->long_gaps += is_long;
    update->sum_ns += still_ns ? likely_ns : gap_ns;
    return apapi_update_learn(update);
}

void apapi_update_break(struct apapi_update *update)
{
    update->moved = false;
}
