/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/share_sum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record/fields.h"
#include "record/members.h"

#define MIXED "mixed"

static void share_sum_word(char word[APAPI_SHARE_WORD_SIZE], const char *other)
{
    if (strcmp(word, other) != 0) {
        snprintf(word, APAPI_SHARE_WORD_SIZE, MIXED);
    }
}

/* What one node does not have is not lacking. */
static double share_sum_known(double sum, double value)
{
    if (isnan(sum) || isnan(value)) {
        return isnan(sum) ? value : sum;
    }
    return sum + value;
}

static void share_sum_energy(struct apapi_share_energy *sum,
                             const struct apapi_share_energy *energy)
{
    if (isnan(sum->energy_j)) {
        *sum = *energy;
    } else if (!isnan(energy->energy_j)) {
        sum->energy_j += energy->energy_j;
        sum->uncertainty_j += energy->uncertainty_j; /* not known, if one is not */
        sum->idle_j = share_sum_known(sum->idle_j, energy->idle_j);
        sum->idle_w = share_sum_known(sum->idle_w, energy->idle_w);
    }
}

static void share_sum_join(struct apapi_share *sum, const struct apapi_share *share)
{
    share_sum_word(sum->method, share->method);
    share_sum_word(sum->idle, share->idle);
    sum->slices |= share->slices;
    sum->interval_ns =
        share->interval_ns > sum->interval_ns ? share->interval_ns : sum->interval_ns;
    sum->tail_ns = share->tail_ns > sum->tail_ns ? share->tail_ns : sum->tail_ns;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        share_sum_energy(&sum->domains[d], &share->domains[d]);
    }
}

void share_sum_add(struct share_sum *sum, const struct apapi_share *share)
{
    if (apapi_share_known(share)) {
        if (sum->nodes++ == 0) {
            sum->share = *share;
        } else {
            share_sum_join(&sum->share, share);
        }
    } else if (share->reason[0]) {
        sum->lacking++;
        if (sum->nodes == 0) {
            sum->share = *share;
        }
    }
}

/* Nodes that are asked and do not know theirs are missing. */
int share_sum_encode(json_t *root, const struct share_sum *sum)
{
    json_t *object;

    if (sum->nodes == 0 || sum->lacking == 0) {
        return share_encode(root, &sum->share);
    }
    object = share_object(&sum->share);
    return field_put(root, "share", object) < 0
               ? -1
               : field_put_count(object, "missing_nodes", sum->lacking);
}
