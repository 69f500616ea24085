/* SPDX-License-Identifier: BSD-3-Clause */
/* Which existing names are suggested for one that does not exist. */
#include "base/nearest.h"
#include "unit/unit.h"

static const char *const components[] = {"rapl",     "powercap", "nvml", "ipmi",
                                         "estimate", "coretemp", "net",  "perf_event"};
static const char *const events[] = {
    "rapl:::PACKAGE_ENERGY:PACKAGE0", "rapl:::PACKAGE_ENERGY:PACKAGE1",
    "rapl:::DRAM_ENERGY:PACKAGE0", "rapl:::PSYS_ENERGY:PACKAGE0", "rapl:::PP0_ENERGY:PACKAGE0"};

static const char *suggest(const char *wanted, const char *const *names, size_t count)
{
    static char text[512];
    struct nearest nearest;

    nearest_begin(&nearest, wanted);
    for (size_t i = 0; i < count; i++) {
        nearest_offer(names[i], &nearest);
    }
    nearest_text(&nearest, text, sizeof text);
    return text;
}

struct suggestion {
    const char *wanted;
    const char *text;
};

static void assert_all(const struct suggestion *cases, size_t case_count, const char *const *names,
                       size_t count)
{
    for (size_t i = 0; i < case_count; i++) {
        assert_string_equal(suggest(cases[i].wanted, names, count), cases[i].text);
    }
}

TEST(components)
{
    static const struct suggestion cases[] = {
        {"rpal", ": did you mean 'rapl'?"},         /* swapped */
        {"arlp", ": did you mean 'rapl'?"},         /* twice */
        {"rap", ": did you mean 'rapl'?"},          /* missing */
        {"rapll", ": did you mean 'rapl'?"},        /* too many */
        {"nwml", ": did you mean 'nvml'?"},         /* wrong */
        {"RAPL", ": did you mean 'rapl'?"},         /* capitals */
        {"powrcpa", ": did you mean 'powercap'?"},  /* two mistakes */
        {"intel-rapl", ": did you mean 'rapl'?"},   /* a name is a part of it */
        {"temp", ": did you mean 'coretemp'?"},     /* it is a part of a name */
        {"perf", ": did you mean 'perf_event'?"},   /* a beginning */
        {"perv_ev", ": did you mean 'perf_event'?"} /* a beginning with a mistake */
    };

    assert_all(cases, COUNT_OF(cases), components, COUNT_OF(components));
}

TEST(events)
{
    static const struct suggestion cases[] = {
        {"rapl:::DRAM_ENRGY:PACKAGE0", ": did you mean 'rapl:::DRAM_ENERGY:PACKAGE0'?"},
        {"DRAM_ENERGY:PACKAGE0", ": did you mean 'rapl:::DRAM_ENERGY:PACKAGE0'?"},
        {"rapl:::DRM", ": did you mean 'rapl:::DRAM_ENERGY:PACKAGE0'?"},
        {"rapl:::DRM*", ": did you mean 'rapl:::DRAM_ENERGY:PACKAGE0'?"},
        {"psys", ": did you mean 'rapl:::PSYS_ENERGY:PACKAGE0'?"},
    };

    assert_all(cases, COUNT_OF(cases), events, COUNT_OF(events));
}

/* The nearest first, in any order of offers; three at most. */
TEST(order_and_number)
{
    static const char *const names[] = {"abcdefgh", "abcd", "abcdef", "abcde", "xabcde", "abcdf"};

    assert_string_equal(suggest("abcde", names, 6), ": did you mean 'abcde', 'abcd' or 'abcdef'?");
    assert_string_equal(suggest("abcde", names, 2), ": did you mean 'abcd' or 'abcdefgh'?");
}

TEST(long_names)
{
    char longest[APAPI_NAME_SIZE], longer[APAPI_NAME_SIZE + 1], text[APAPI_NAME_SIZE];
    struct nearest nearest;

    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    nearest_begin(&nearest, longest);
    nearest_offer(longest, &nearest);
    nearest_offer(longer, &nearest);
    assert_int_equal(nearest.count, 1);
    nearest_text(&nearest, text, sizeof text);
    assert_string_equal(text, "");
    nearest_begin(&nearest, longer);
    nearest_offer(longest, &nearest);
    assert_int_equal(nearest.count, 0);
}
