/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of one run and of several, which all forms of the report share. */
#include "atime/report.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "record/record.h"
#include "render/regions.h"
#include "sum/members.h"

const struct figure_name figure_names[FIGURES] = {
    [ELAPSED] = {"elapsed", "elapsed_s", "s"}, [USER] = {"user", "user_s", "s"},
    [SYSTEM] = {"system", "system_s", "s"},    [ENERGY] = {"energy", "energy_j", "J"},
    [POWER] = {"power", "mean_w", "W"},
};

/* @return the same region in this run; NULL: the run does not have it. */
static const struct apapi_region_result *region_of(const struct run *run,
                                                   const struct apapi_region_result *region)
{
    const struct apapi_regions *regions = &run->record.regions;

    for (size_t i = 0; i < regions->count; i++) {
        const struct apapi_region_result *one = &regions->list[i];

        if (one->kind == region->kind && strcmp(one->path, region->path) == 0) {
            return one;
        }
    }
    return NULL;
}

static double region_figure(const struct apapi_region_result *region, enum figure figure)
{
    double energy_j = region ? apapi_region_energy_j(region) : (double)NAN;
    double time_s = region ? duration(region->time_ns) / NS_PER_S : (double)NAN;

    return figure == ELAPSED  ? time_s
           : figure == ENERGY ? energy_j
           : time_s > 0       ? energy_j / time_s
                              : (double)NAN;
}

double run_figure(const struct run *run, enum figure figure, struct part part)
{
    const struct apapi_measurement *m = &run->record.measurement;
    const struct apapi_domain_result *domain = &m->domains[part.domain];

    if (part.region) {
        return region_figure(region_of(run, part.region), figure);
    }
    switch (figure) {
    case ELAPSED:
        return duration(run->end.elapsed_ns) / NS_PER_S;
    case USER:
        return run->end.user_s;
    case SYSTEM:
        return run->end.system_s;
    case ENERGY:
        return part.domain == APAPI_DOMAIN_NONE ? apapi_measurement_total_j(m)
               : domain->measured               ? domain->energy_j
                                                : (double)NAN;
    default:
        return part.domain == APAPI_DOMAIN_NONE ? apapi_measurement_total_w(m)
               : domain->measured               ? domain->power_w.mean
                                                : (double)NAN;
    }
}

/* --- of several runs -------------------------------------------------------------------------- */

/* @return bits of the domains that the total of this run lacks. */
static uint32_t unknown_to(const struct run *run)
{
    return domain_list_adding_up(run->record.measurement.unknown_domains);
}

/* @return bits of the domains that at least one run has measured. */
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

uint32_t report_other_domains(const struct report reports[2])
{
    return domain_list_adding_up(known_to_any(&reports[0]) ^ known_to_any(&reports[1]));
}

double run_uncertainty(const struct run *run, struct part part)
{
    const struct apapi_measurement *m = &run->record.measurement;
    const struct apapi_region_result *region = part.region ? region_of(run, part.region) : NULL;
    double error_j = region                             ? table_region_uncertainty_j(region)
                     : part.domain == APAPI_DOMAIN_NONE ? apapi_record_uncertainty_j(m)
                                                        : m->domains[part.domain].uncertainty_j;

    return error_j / run_figure(run, ENERGY, part);
}

/* An energy lies between two steps of the meter, each uniform within half the uncertainty: 2/12. */
#define VARIANCE (1.0 / 6)

struct spread report_spread(const struct report *report, enum figure figure, struct part part)
{
    bool is_measured = figure == ENERGY || figure == POWER;
    bool is_total = is_measured && !part.region && part.domain == APAPI_DOMAIN_NONE;
    uint32_t known = is_total ? known_to_any(report) : 0;
    struct spread spread = {0, NAN, NAN};
    double mean = 0, squares = 0, errors = 0;

    for (size_t i = 0; i < report->count; i++) {
        double value = run_figure(&report->runs[i], figure, part), distance = value - mean;
        double error = is_measured ? value * run_uncertainty(&report->runs[i], part) : 0;

        if (!isnan(value) && !(unknown_to(&report->runs[i]) & known)) {
            spread.count++;
            mean += distance / (double)spread.count;
            squares += distance * (value - mean);
            errors += isfinite(error) ? error * error * VARIANCE : 0;
        }
    }
    spread.mean = spread.count > 0 ? mean : NAN;
    spread.sd =
        spread.count > 1
            ? sqrt(fmax(squares / (double)(spread.count - 1), errors / (double)spread.count))
            : NAN;
    return spread;
}

bool report_has_domain(const struct report *report, enum apapi_domain domain)
{
    struct part part = {.domain = domain};

    return report_spread(report, ENERGY, part).count > 0 ||
           report_spread(report, POWER, part).count > 0;
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

/* --- Student's t distribution ----------------------------------------------------------------- */

#define HALF_STEPS 80 /* of the tanh-sinh rule: so many make it exact to some 14 digits */
#define STEP 0.04
#define PRECISION 1e-14

/* The integral of sin(x) ^ (df - 1) from 0 to `end`. */
static double student_integral(double end, double df)
{
    double sum = 0;

    for (int i = -HALF_STEPS; i <= HALF_STEPS; i++) {
        double q = exp(-M_PI * sinh(i * STEP)), slope = M_PI * cosh(i * STEP) * q;

        sum += slope / ((1 + q) * (1 + q)) * pow(sin(end / (1 + q)), df - 1);
    }
    return STEP * end * sum;
}

double student_two_sided(double t, double df)
{
    return student_integral(atan2(sqrt(df), t), df) / student_integral(M_PI / 2, df);
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
    if (!(error > 0)) {
        return result; /* all runs are alike: nothing can be concluded */
    }
    df =
        (a + b) * (a + b) / (a * a / (double)(one->count - 1) + b * b / (double)(other->count - 1));
    result.half_width = student_t95(df) * error;
    result.p = student_two_sided(fabs(result.mean) / error, df);
    return result;
}

struct difference report_difference(const struct report reports[2], enum figure figure)
{
    const struct spread one = report_spread(&reports[0], figure, WHOLE);
    const struct spread other = report_spread(&reports[1], figure, WHOLE);

    return (figure == ENERGY || figure == POWER) && report_other_domains(reports)
               ? (struct difference){NAN, NAN, NAN}
               : student_difference(&one, &other);
}
