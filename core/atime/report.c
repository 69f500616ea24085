/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of one run and of several: what all forms of the report have in common. */
#include "atime/report.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "record/record.h"
#include "sum/members.h"

double run_elapsed_s(const struct run *run, enum apapi_domain domain)
{
    (void)domain;
    return (double)run->end.elapsed_ns / 1e9;
}

double run_user_s(const struct run *run, enum apapi_domain domain)
{
    (void)domain;
    return run->end.user_s;
}

double run_system_s(const struct run *run, enum apapi_domain domain)
{
    (void)domain;
    return run->end.system_s;
}

double run_energy_j(const struct run *run, enum apapi_domain domain)
{
    const struct apapi_measurement *m = &run->record.measurement;

    if (domain == APAPI_DOMAIN_NONE) {
        return apapi_measurement_total_j(m);
    }
    return m->domains[domain].measured ? m->domains[domain].energy_j : NAN;
}

double run_mean_w(const struct run *run, enum apapi_domain domain)
{
    const struct apapi_measurement *m = &run->record.measurement;

    if (domain == APAPI_DOMAIN_NONE) {
        return apapi_measurement_total_w(m);
    }
    return m->domains[domain].measured ? m->domains[domain].power_w.mean : NAN;
}

/* --- mean and deviation ----------------------------------------------------------------------- */

/* Values of which mean and deviation are wanted. */
struct spread_sum {
    size_t count;
    double mean, squares;
};

/* A value that is not known is left out. */
static void spread_add(struct spread_sum *sum, double value)
{
    double distance = value - sum->mean;

    if (isnan(value)) {
        return;
    }
    sum->count++;
    sum->mean += distance / (double)sum->count;
    sum->squares += distance * (value - sum->mean);
}

static struct spread spread_of(const struct spread_sum *sum)
{
    return (struct spread){sum->count, sum->count > 0 ? sum->mean : NAN,
                           sum->count > 1 ? sqrt(sum->squares / (double)(sum->count - 1)) : NAN};
}

/* The domains of a total that this run lacks. */
static uint32_t unknown_to(const struct run *run)
{
    return domain_list_adding_up(run->record.measurement.unknown_domains);
}

/* The domains that a run has measured. */
static uint32_t known_to_any(const struct report *report)
{
    uint32_t known = 0;

    for (size_t i = 0; i < report->count; i++) {
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            known |= report->runs[i].record.measurement.domains[d].measured ? domain_bit(d) : 0;
        }
    }
    return known;
}

uint32_t report_missing_domains(const struct report *report)
{
    uint32_t missing = 0;

    for (size_t i = 0; i < report->count; i++) {
        missing |= unknown_to(&report->runs[i]);
    }
    return missing & ~known_to_any(report);
}

struct spread report_spread(const struct report *report, run_value_f value,
                            enum apapi_domain domain)
{
    bool is_total = domain == APAPI_DOMAIN_NONE && (value == run_energy_j || value == run_mean_w);
    uint32_t known = is_total ? known_to_any(report) : 0;
    struct spread_sum sum = {0};

    for (size_t i = 0; i < report->count; i++) {
        if (!(unknown_to(&report->runs[i]) & known)) {
            spread_add(&sum, value(&report->runs[i], domain));
        }
    }
    return spread_of(&sum);
}

bool report_has_domain(const struct report *report, enum apapi_domain domain)
{
    return report_spread(report, run_energy_j, domain).count > 0 ||
           report_spread(report, run_mean_w, domain).count > 0;
}

/* --- regions ---------------------------------------------------------------------------------- */

int report_regions(const struct report *report, struct apapi_regions *result)
{
    struct region_sums sums = {0};
    int rc = 0;

    for (size_t i = 0; i < report->count && rc == 0; i++) {
        rc = region_sums_add(&sums, &report->runs[i].record);
    }
    if (rc == 0) {
        rc = region_sums_result(&sums, APAPI_REGIONS_MAX, result);
    }
    region_sums_free(&sums);
    return rc;
}

static const struct apapi_region_result *region_of_run(const struct apapi_regions *regions,
                                                       const struct apapi_region_result *region)
{
    for (size_t i = 0; i < regions->count; i++) {
        if (regions->list[i].kind == region->kind &&
            strcmp(regions->list[i].path, region->path) == 0) {
            return &regions->list[i];
        }
    }
    return NULL;
}

struct region_spread report_region(const struct report *report,
                                   const struct apapi_region_result *region)
{
    struct spread_sum time_s = {0}, energy_j = {0}, mean_w = {0};

    for (size_t i = 0; i < report->count; i++) {
        const struct apapi_region_result *one =
            region_of_run(&report->runs[i].record.regions, region);
        double one_j = one ? apapi_region_energy_j(one) : (double)NAN;
        double one_s = one ? (double)one->time_ns / NS_PER_S : (double)NAN;

        spread_add(&time_s, one_s);
        spread_add(&energy_j, one_j);
        spread_add(&mean_w, one_s > 0 ? one_j / one_s : (double)NAN);
    }
    return (struct region_spread){spread_of(&time_s), spread_of(&energy_j), spread_of(&mean_w)};
}

/* --- Student's t distribution ----------------------------------------------------------------- */

#define STEPS_MAX 300
#define TINY 1e-300
#define PRECISION 1e-14

/* One step of Lentz's method for a continued fraction. @return the factor of the result. */
static double student_step(double numerator, double *c, double *d)
{
    *d = 1 + numerator * *d;
    *c = 1 + numerator / *c;
    *d = 1 / (fabs(*d) < TINY ? TINY : *d);
    *c = fabs(*c) < TINY ? TINY : *c;
    return *c * *d;
}

/* The continued fraction of the incomplete beta function; converges fast for x < (a + 1) / (a + b +
 * 2). */
static double student_fraction(double a, double b, double x)
{
    double c = 1, d = 1, result;

    student_step(-(a + b) * x / (a + 1), &c, &d);
    c = 1;
    result = d;
    for (int m = 1; m <= STEPS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double factor;

        result *= student_step(even, &c, &d);
        factor = student_step(odd, &c, &d);
        result *= factor;
        if (fabs(factor - 1) < PRECISION) {
            break;
        }
    }
    return result;
}

/* The regularized incomplete beta function, for 0 <= x <= 1. */
static double student_beta(double a, double b, double x)
{
    double front;

    if (x <= 0 || x >= 1) {
        return x <= 0 ? 0 : 1;
    }
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * student_fraction(a, b, x) / a
                                     : 1 - front * student_fraction(b, a, 1 - x) / b;
}

double student_two_sided(double t, double df)
{
    return student_beta(df / 2, 0.5, df / (df + t * t));
}

double student_t95(double df)
{
    double low = 0, high = 1e6;

    for (int i = 0; i < 200 && high - low > PRECISION * high; i++) {
        double middle = (low + high) / 2;

        if (student_two_sided(middle, df) > 0.05) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

double student_half_width(const struct spread *spread)
{
    double count = (double)spread->count;

    return spread->count > 1 ? student_t95(count - 1) * spread->sd / sqrt(count) : NAN;
}

struct difference student_difference(const struct spread *one, const struct spread *other)
{
    struct difference result = {NAN, NAN, NAN};
    double a, b, error, df;

    if (one->count == 0 || other->count == 0) {
        return result;
    }
    result.mean = other->mean - one->mean;
    if (one->count < 2 || other->count < 2) {
        return result;
    }
    a = one->sd * one->sd / (double)one->count;
    b = other->sd * other->sd / (double)other->count;
    error = sqrt(a + b);
    if (!(error > 0)) { /* all runs alike */
        result.half_width = 0;
        result.p = result.mean == 0 ? 1 : 0;
        return result;
    }
    df =
        (a + b) * (a + b) / (a * a / (double)(one->count - 1) + b * b / (double)(other->count - 1));
    result.half_width = student_t95(df) * error;
    result.p = student_two_sided(fabs(result.mean) / error, df);
    return result;
}

struct difference report_difference(const struct report reports[2], run_value_f value)
{
    const struct spread one = report_spread(&reports[0], value, APAPI_DOMAIN_NONE);
    const struct spread other = report_spread(&reports[1], value, APAPI_DOMAIN_NONE);

    return student_difference(&one, &other);
}
