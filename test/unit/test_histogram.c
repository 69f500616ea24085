/* SPDX-License-Identifier: BSD-3-Clause */
/* The 95th percentile of a histogram against that of the sorted values. */
#include "measure/rate.h"

#include "unit/near.h"

#define VALUES 20000
#define LIMIT 0.01

struct sample {
    double value;
    uint64_t weight;
};

static struct apapi_histogram histogram;

static double uniform(double least, double greatest)
{
    return least + (greatest - least) * drand48();
}

static double decades(double least, double greatest)
{
    return least * pow(greatest / least, drand48());
}

static double normal(double mean, double deviation)
{
    return mean + deviation * sqrt(-2 * log(1 - drand48())) * cos(2 * M_PI * drand48());
}

static double constant(void)
{
    return 137.5;
}

static double wide_log_normal(void)
{
    return 100 * exp(normal(0, 4));
}

static double idle_and_busy(void)
{
    return drand48() < 0.9 ? normal(60, 2) : normal(410, 5);
}

static double seldom_busy(void)
{
    return drand48() < 0.98 ? normal(0.5, 0.01) : uniform(4000, 5000);
}

static double spikes_over_twelve_decades(void)
{
    return drand48() < 0.97 ? normal(210, 20) : decades(1e-4, 1e8);
}

static double half_zeros(void)
{
    return drand48() < 0.5 ? 0 : uniform(20, 90);
}

static double eight_levels(void)
{
    return 3 * pow(10, (int)(8 * drand48()));
}

/* `few`: in no more octaves than have bins at the same time. */
static const struct distribution {
    const char *name;
    double (*draw)(void);
    bool few;
} distributions[] = {
    {"constant", constant, true},
    {"wide log-normal", wide_log_normal, false},
    {"idle and busy", idle_and_busy, true},
    {"seldom busy", seldom_busy, true},
    {"spikes over twelve decades", spikes_over_twelve_decades, false},
    {"half of them zeros", half_zeros, true},
    {"eight levels", eight_levels, false},
};

static int by_value(const void *left, const void *right)
{
    double a = ((const struct sample *)left)->value, b = ((const struct sample *)right)->value;

    return (a > b) - (a < b);
}

static double exact_p95(const struct sample *sorted, size_t count)
{
    double total = 0, sum = 0;
    size_t i = 0;

    for (size_t k = 0; k < count; k++) {
        total += (double)sorted[k].weight;
    }
    while (i + 1 < count && (sum += (double)sorted[i].weight) < 0.95 * total) {
        i++;
    }
    return sorted[i].value;
}

/* Which of the sorted values comes next. */
static size_t as_drawn(size_t number)
{
    return number * 7919 % VALUES;
}

static size_t rising(size_t number)
{
    return number;
}

static size_t falling(size_t number)
{
    return VALUES - 1 - number;
}

static size_t from_both_ends(size_t number)
{
    return number % 2 ? VALUES - 1 - number / 2 : number / 2;
}

static const struct order {
    const char *name;
    size_t (*place)(size_t number);
} orders[] = {
    {"as drawn", as_drawn},
    {"rising", rising},
    {"falling", falling},
    {"from both ends", from_both_ends},
};

/*
 * In the order in which they are drawn they are right. Those that rise or fall through more octaves
 * than have bins are in the right octave.
 */
static double limit_of(const struct distribution *distribution, const struct order *order)
{
    return distribution->few || order->place == as_drawn ? LIMIT : 1;
}

static void check(const struct sample *sorted, const struct distribution *distribution,
                  const struct order *order)
{
    double exact = exact_p95(sorted, VALUES), p95;

    apapi_histogram_clear(&histogram);
    for (size_t i = 0; i < VALUES; i++) {
        const struct sample *sample = &sorted[order->place(i)];

        apapi_histogram_add(&histogram, sample->value, sample->weight);
    }
    p95 = apapi_histogram_p95(&histogram);
    if (!(fabs(p95 - exact) <= limit_of(distribution, order) * exact)) {
        fail_msg("%s, %s: %.9g instead of %.9g", distribution->name, order->name, p95, exact);
    }
}

static void check_all(uint64_t (*weigh)(void))
{
    static struct sample samples[VALUES];

    for (size_t d = 0; d < COUNT_OF(distributions); d++) {
        for (size_t i = 0; i < VALUES; i++) {
            samples[i] = (struct sample){distributions[d].draw(), weigh()};
        }
        qsort(samples, VALUES, sizeof *samples, by_value);
        for (size_t o = 0; o < COUNT_OF(orders); o++) {
            check(samples, &distributions[d], &orders[o]);
        }
    }
}

static uint64_t tenth_of_a_second(void)
{
    return 100000000;
}

TEST(p95_is_right_within_one_percent)
{
    srand48(5);
    check_all(tenth_of_a_second);
}

/* 100 W for 94 s and 400 W for 6 s: p95 is 400 W; for 95 s and 5 s it is 100 W. */
TEST(p95_is_weighted_by_time)
{
    apapi_histogram_clear(&histogram);
    apapi_histogram_add(&histogram, 100, 94);
    apapi_histogram_add(&histogram, 400, 6);
    assert_within(apapi_histogram_p95(&histogram), 400, LIMIT);
    apapi_histogram_clear(&histogram);
    apapi_histogram_add(&histogram, 100, 95);
    apapi_histogram_add(&histogram, 400, 5);
    assert_within(apapi_histogram_p95(&histogram), 100, LIMIT);
}

/* Exactly 95 % at the lower of two values in one octave, as the counts of the bins are rounded. */
TEST(p95_of_a_tie_is_the_lower_value)
{
    apapi_histogram_clear(&histogram);
    for (int i = 0; i < 20000; i++) {
        apapi_histogram_add(&histogram, i % 20 ? 70 : 120, 100000000);
    }
    assert_within(apapi_histogram_p95(&histogram), 70, LIMIT);
}

TEST(values_out_of_range_keep_their_side)
{
    apapi_histogram_clear(&histogram);
    assert_true(isnan(apapi_histogram_p95(&histogram)));
    apapi_histogram_add(&histogram, 0, 1);
    apapi_histogram_add(&histogram, -5, 1);
    apapi_histogram_add(&histogram, 1e-300, 1);
    assert_true(apapi_histogram_p95(&histogram) == 0);
    apapi_histogram_add(&histogram, 1e300, 100);
    assert_true(apapi_histogram_p95(&histogram) > 2e8);
}

TEST(a_histogram_fits_a_cache)
{
    assert_true(sizeof(struct apapi_histogram) <= 2048);
}

/* A year of readings at 1 kHz, in few steps: the counts of the bins do not overflow. */
TEST(p95_is_right_after_a_year)
{
    apapi_histogram_clear(&histogram);
    for (int day = 0; day < 365; day++) {
        apapi_histogram_add(&histogram, 100, 86400 * UINT64_C(900000000));
        apapi_histogram_add(&histogram, 120, 86400 * UINT64_C(100000000));
        for (int i = 0; i < 1000; i++) {
            apapi_histogram_add(&histogram, 110, 1000000);
        }
    }
    assert_within(apapi_histogram_p95(&histogram), 120, LIMIT);
}
