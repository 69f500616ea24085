/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/share_claims.h"

#include <math.h>
#include <string.h>

#include "node/share_rows.h"

/* A step that no reading has seen has no row yet. */
static struct share_row *claims_row(struct share_claims *claims, const struct share_claim *claim,
                                    struct share_row *rows, uint64_t begin_ns)
{
    struct cgroup_step step = {.job = claim->job, .inode = claim->inode};
    unsigned at;

    memcpy(step.step, claim->step, sizeof step.step - 1);
    at = share_rows_find(rows, &step);
    if (at != SHARE_ROWS_NONE) {
        return &rows[at];
    }
    at = share_rows_free(rows);
    if (at == SHARE_ROWS_NONE) {
        return NULL;
    }
    rows[at] = (struct share_row){.inode = claim->inode, .job = claim->job, .begin_ns = begin_ns};
    memcpy(rows[at].step, step.step, sizeof step.step);
    claims->begun++;
    return &rows[at];
}

/*
 * The last reading may have been after the claim was made: then the row has some of it already. A
 * record may say less than the row, as no step has more than the node used while it ran.
 */
static void claims_grant(struct share_claims *claims, const struct share_claim *claim,
                         struct share_row *row)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double more_j = claim->energy_j[d] - row->energy_j[d];

        if (isfinite(more_j)) {
            *(more_j > 0 ? &claims->owed_j[d] : &claims->returned_j[d]) += fabs(more_j);
            row->energy_j[d] = claim->energy_j[d];
            row->idle_j[d] = claim->idle_j[d];
        }
    }
}

static void claims_take_one(struct share_claims *claims, const struct share_claim *claim,
                            struct share_row *rows, const struct node_reading *reading)
{
    struct share_row *row = claims_row(claims, claim, rows, reading->begin_ns);

    claims->any = true;
    claims->cpu_s += claim->cpu_s > 0 ? claim->cpu_s : 0;
    if (row) {
        claims_grant(claims, claim, row);
        row->flags |= SHARE_ROW_USED | SHARE_ROW_ENDED;
        row->time_ns = reading->end_ns;
    }
}

/* A claim that is not complete gets a second look: its writer may have been killed. */
void share_claims_take(struct share_claims *claims, const struct share_page *page,
                       struct share_row *rows, const struct node_reading *reading)
{
    uint64_t made = __atomic_load_n(&page->head.claims, __ATOMIC_ACQUIRE);
    struct share_claim claim;

    claims->any = false;
    claims->cpu_s = 0;
    claims->begun = 0;
    for (; claims->taken < made; claims->taken++) {
        if (share_page_claimed(page, claims->taken + 1, &claim)) {
            claims_take_one(claims, &claim, rows, reading);
        } else if (claims->unready != claims->taken + 1 &&
                   made - claims->taken < SHARE_PAGE_CLAIMS) {
            claims->unready = claims->taken + 1;
            return;
        }
    }
}

double share_claims_return(struct share_claims *claims, int domain)
{
    double returned_j = claims->returned_j[domain];

    claims->returned_j[domain] = 0;
    return returned_j;
}

double share_claims_pay(struct share_claims *claims, int domain, double *energy_j)
{
    double paid_j = *energy_j > 0 ? fmin(claims->owed_j[domain], *energy_j) : 0;

    claims->owed_j[domain] -= paid_j;
    *energy_j -= paid_j;
    return paid_j;
}
