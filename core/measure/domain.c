/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/domain.h"

#include <math.h>

void apapi_domain_meter_init(struct apapi_domain_meter *domain, uint64_t origin_ns,
                             uint64_t interval_ns, struct apapi_histogram *histogram)
{
    *domain = (struct apapi_domain_meter){.used = true};
    apapi_rate_init(&domain->rate, interval_ns / 2, histogram);
    apapi_timeline_meter_init(&domain->timeline, origin_ns, interval_ns);
}

void apapi_domain_meter_add(struct apapi_domain_meter *domain, enum apapi_meter_step step,
                            double energy_j)
{
    domain->waiting |= step == APAPI_METER_WAITING;
    domain->broken |= step == APAPI_METER_BROKEN;
    domain->pending_j += energy_j;
}

static void begin_window(struct apapi_domain_meter *domain, uint64_t now_ns)
{
    domain->open = true;
    domain->open_ns = now_ns;
    domain->pending_j = 0;
    domain->broken = false;
}

void apapi_domain_meter_tick(struct apapi_domain_meter *domain, uint64_t now_ns)
{
    bool waiting = domain->waiting;

    domain->waiting = false;
    if (!domain->open) {
        begin_window(domain, now_ns);
        return;
    }
    if (waiting) {
        return;
    }
    if (domain->broken) {
        apapi_rate_drop(&domain->rate);
    } else {
        apapi_rate_add(&domain->rate, domain->pending_j, now_ns - domain->open_ns);
        apapi_timeline_meter_add(&domain->timeline, domain->open_ns, now_ns, domain->pending_j);
    }
    begin_window(domain, now_ns);
}

/* A domain is known only if each of its meters is: a part must not look like the whole. */
void apapi_domain_result_add(struct apapi_domain_result *result,
                             const struct apapi_event_result *event)
{
    if (!result->measured) {
        *result = (struct apapi_domain_result){.measured = true};
    }
    result->energy_j += event->total;
    result->uncertainty_j += event->uncertainty_j;
    result->power_w.mean += event->summary.mean;
}

void apapi_domain_meter_finish(struct apapi_domain_meter *domain, uint64_t elapsed_ns,
                               struct apapi_domain_result *result)
{
    double mean_w;

    apapi_rate_finish(&domain->rate);
    mean_w = apapi_rate_mean(&domain->rate);
    result->measured = result->measured && isfinite(result->energy_j);
    if (!result->measured) {
        *result = APAPI_DOMAIN_UNMEASURED;
        return;
    }
    if (!isnan(mean_w)) {
        result->power_w.mean = mean_w; /* for the same windows as the extremes */
    }
    result->power_w.min = domain->rate.min;
    result->power_w.max = domain->rate.max;
    result->power_w.p95 = apapi_rate_p95(&domain->rate);
    apapi_timeline_meter_finish(&domain->timeline, elapsed_ns, &result->timeline);
}
