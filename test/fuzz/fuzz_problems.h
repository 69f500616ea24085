/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_FUZZ_PROBLEMS_H
#define FUZZ_FUZZ_PROBLEMS_H
#include "apapi/events.h"
#include "fuzz/fuzz.h"

/** The reports of a parser about one input. */
struct reported {
    size_t errors;
    size_t warnings;
};

static inline void fuzz_problem(const struct apapi_problem *problem, void *context)
{
    struct reported *reported = context;

    REQUIRE(strncmp(problem->text, "fuzz:", strlen("fuzz:")) == 0);
    REQUIRE(strlen(problem->text) < 1024);
    for (const char *at = problem->text; *at; at++) {
        REQUIRE((unsigned char)*at >= ' ');
    }
    REQUIRE((problem->line == 0) == (problem->column == 0));
    if (problem->warning) {
        reported->warnings++;
    } else {
        reported->errors++;
    }
}

/** All or nothing, and nothing in silence. */
static inline void fuzz_check_reported(const struct reported *reported, const void *parsed,
                                       const struct apapi_error *err)
{
    REQUIRE(reported->errors <= APAPI_PROBLEMS_MAX + 1);
    REQUIRE(reported->warnings <= APAPI_PROBLEMS_MAX + 1);
    if (parsed) {
        REQUIRE(reported->errors == 0);
    } else {
        REQUIRE(err->text[0] != '\0');
    }
}

#endif
