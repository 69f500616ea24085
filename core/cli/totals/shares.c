/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/totals/shares.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

#define REMARK_SIZE 700

const struct apapi_record *report_share_of(const struct apapi_record *record)
{
    static struct apapi_record given;

    given = *record;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct apapi_share_energy *share = &record->share.domains[d];
        struct apapi_domain_result *domain = &given.measurement.domains[d];

        *domain = APAPI_DOMAIN_UNMEASURED;
        domain->measured = apapi_share_known(&record->share) && !isnan(share->energy_j);
        domain->energy_j = domain->measured ? share->energy_j : NAN;
        domain->uncertainty_j = domain->measured ? share->uncertainty_j : NAN;
    }
    return &given;
}

/* An energy without uncertainty makes that of the sum unknown. */
static void shares_add(double energy_j, double uncertainty_j, double *sum_j, double *sum_of_j)
{
    if (!isnan(energy_j)) {
        *sum_of_j = isnan(*sum_j) ? uncertainty_j : *sum_of_j + uncertainty_j;
        *sum_j = report_plus(*sum_j, energy_j);
    }
}

static void shares_add_piece(const struct report_ledger *ledger, const struct report_piece *piece,
                             struct apapi_job_total *total)
{
    const struct report_energy *energy = &ledger->energies[piece->energy_at];
    double sum_j = NAN;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_job_domain *domain = &total->domains[d];

        if (!(piece->domain_mask >> d & 1)) {
            continue;
        }
        shares_add(energy->energy_j, energy->energy_j * (double)piece->uncertainty,
                   &domain->energy_j, &domain->uncertainty_j);
        sum_j = apapi_domain_adds_up(d) ? report_plus(sum_j, energy->energy_j) : sum_j;
        energy++;
    }
    shares_add(sum_j, sum_j * (double)piece->uncertainty, &total->energy_j, &total->uncertainty_j);
}

static void shares_add_total(const struct apapi_job_total *more, struct apapi_job_total *total)
{
    shares_add(more->energy_j, more->uncertainty_j, &total->energy_j, &total->uncertainty_j);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        shares_add(more->domains[d].energy_j, more->domains[d].uncertainty_j,
                   &total->domains[d].energy_j, &total->domains[d].uncertainty_j);
    }
}

static void shares_begin(struct apapi_job_total *total)
{
    total->energy_j = total->uncertainty_j = NAN;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        total->domains[d].energy_j = total->domains[d].uncertainty_j = NAN;
    }
}

int report_shares_total(const struct report_ledger *ledger, const struct pieces *pieces,
                        struct apapi_job_total *total)
{
    const struct report_piece **list = calloc(pieces->count + 1, sizeof(struct report_piece *));
    struct pieces whole = {.list = list};
    struct apapi_job_total of_whole;
    int result = list ? 0 : -1;

    if (result == 0) {
        shares_begin(total);
    }
    for (size_t i = 0; i < pieces->count && result == 0; i++) {
        if (pieces->list[i]->exclusive) {
            list[whole.count++] = pieces->list[i];
        } else {
            shares_add_piece(ledger, pieces->list[i], total);
        }
    }
    if (result == 0 && whole.count > 0) {
        result = report_pieces_total(ledger, &whole, &of_whole);
        if (result == 0) {
            shares_add_total(&of_whole, total);
        }
    }
    if (result == 0) {
        total->mean_w = total->energy_j * NS_PER_S / (double)total->busy_ns;
    }
    free(list);
    return result;
}

size_t report_shareless(const struct report_ledger *ledger, const struct pieces *pieces,
                        const char *job_id, const struct report_view *view)
{
    size_t count = 0;
    char text[REMARK_SIZE];

    for (size_t i = 0; i < pieces->count; i++) {
        const struct report_piece *piece = pieces->list[i];

        if (!piece->shareless) {
            continue;
        }
        count++;
        if (view->remark) {
            snprintf(text, sizeof text, "%s%s%s: no share on %s: the energy lacks it", job_id,
                     *job_id ? "." : "step ", pool_text(&ledger->texts, piece->step),
                     pool_text(&ledger->texts, piece->node));
            view->remark(text, view->context);
        }
    }
    return count;
}
