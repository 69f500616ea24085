/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_CHOICE_H
#define SPANK_APAPI_CHOICE_H
#include <stdbool.h>

#include "apapi/error.h"
#include "config/config.h"
#include "config/values.h"

/*
 * The options of a user and the site's defaults. Each option can be given on the command line under
 * its own name, which requests a measurement, or as an environment variable, which (except
 * SLURM_APAPI) only says how to measure if something is measured.
 */

enum spank_apapi_option {
    SPANK_APAPI_COMPONENTS, /* --apapi */
    SPANK_APAPI_INTERVAL,
    SPANK_APAPI_FORMAT,
    SPANK_APAPI_OUTPUT,
    SPANK_APAPI_TRACE,
    SPANK_APAPI_REPORT,
    SPANK_APAPI_BUDGET,
    SPANK_APAPI_SHARE,
    SPANK_APAPI_OVERFLOW, /* its text is only the last one of a list: see overflow.h */
    SPANK_APAPI_OPTIONS   /* number of options */
};

enum spank_apapi_given { SPANK_APAPI_NOT_GIVEN, SPANK_APAPI_PREFERRED, SPANK_APAPI_ASKED };

/** All zero at the start, except config. */
struct spank_apapi_choice {
    const struct config *config;
    struct {
        enum spank_apapi_given given;
        char text[CONFIG_LIST_SIZE]; /* "": no argument */
    } options[SPANK_APAPI_OPTIONS];
    bool job_budget;              /* of the job that this srun is in; its batch step watches it */
    bool step_limits, job_limits; /* --apapi-overflow has some: see overflow.h */
};

/** @return the environment variable of an option, "SLURM_APAPI_FORMAT". */
const char *choice_variable(enum spank_apapi_option option);

/**
 * Note the value given for an option.
 * @param argument  NULL: none; or VARIABLE=VALUE with the option's own variable
 * @return 0; -1 with errno ENAMETOOLONG.
 */
int choice_note(struct spank_apapi_choice *choice, enum spank_apapi_option option,
                const char *argument, struct apapi_error *err);

/**
 * Check the noted values, as far as that is possible without the sampler.
 * @param bounded  whether the site's min_interval applies
 * @return 0; -1 with errno EINVAL, ERANGE, EPERM; `err` says what would be valid.
 */
int choice_check(const struct spank_apapi_choice *choice, enum spank_apapi_option option,
                 bool bounded, struct apapi_error *err);

/** Forget the value of an option. */
void choice_drop(struct spank_apapi_choice *choice, enum spank_apapi_option option);

/** Forget all values. */
void choice_forget(struct spank_apapi_choice *choice);

/** @return whether the user asked for a measurement. */
bool choice_asked(const struct spank_apapi_choice *choice);

/** @return whether only users in allow_users may have this: a measurement, or none where the site
 * wants one. */
bool choice_needs_permission(const struct spank_apapi_choice *choice);

/**
 * @param listed  the user's APAPI_CMPLIST, "" or NULL: none
 * @return the components to measure, "": all available; NULL: measure nothing.
 */
const char *choice_components(const struct spank_apapi_choice *choice, const char *listed);

/** @return the user's sampling intervals; NULL: none. */
const char *choice_interval(const struct spank_apapi_choice *choice);

/**
 * Write the components in a valid list of intervals: "nvml:ipmi".
 * @param size  as many bytes as the list has, with its NUL
 * @return their number
 */
size_t choice_interval_components(const char *list, char *text, size_t size);

/** @return the format of the report; CONFIG_NONE: no report. */
enum config_format choice_format(const struct spank_apapi_choice *choice);

/** @return whether single steps are reported. */
bool choice_reports_steps(const struct spank_apapi_choice *choice);

/** @return whether there is a table of the whole job. */
bool choice_reports_job(const struct spank_apapi_choice *choice);

/** @return the pattern of the report's file name; NULL: standard error. */
const char *choice_output(const struct spank_apapi_choice *choice);

/** @return the pattern of the trace's file name; NULL: no trace. */
const char *choice_trace(const struct spank_apapi_choice *choice);

/** @return whether the record has the step's share of its node, "on" or "off"; NULL: not said. */
const char *choice_share(const struct spank_apapi_choice *choice);

/** @return the user's energy budget of a step; NULL: none. */
const char *choice_budget(const struct spank_apapi_choice *choice);

/** @return what sbatch was given for the job; NULL: nothing. A variable is for each step. */
const char *choice_job_budget(const struct spank_apapi_choice *choice);

/** @return whether the batch step watches the energy of its job. */
bool choice_watches_job(const struct spank_apapi_choice *choice);

/** @return the time between two totals of a node that a budget needs [ms]; 0: there is no budget.
 */
uint32_t choice_totals_ms(const struct spank_apapi_choice *choice);

#endif
