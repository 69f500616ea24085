/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_CHOICE_H
#define SPANK_APAPI_CHOICE_H
#include <stdbool.h>

#include "apapi/error.h"
#include "config/config.h"
#include "config/values.h"

/*
 * What counts of all that a user and the site have said. Each option can be given on the command
 * line, by its own name, which asks for a measurement; or by an environment variable, which (but
 * for SLURM_APAPI) only says how it is to be done if there is one.
 */

enum spank_apapi_option {
    SPANK_APAPI_COMPONENTS, /* --apapi */
    SPANK_APAPI_INTERVAL,
    SPANK_APAPI_FORMAT,
    SPANK_APAPI_OUTPUT,
    SPANK_APAPI_TRACE,
    SPANK_APAPI_REPORT,
    SPANK_APAPI_OPTIONS /* how many there are */
};

enum spank_apapi_given { SPANK_APAPI_NOT_GIVEN, SPANK_APAPI_PREFERRED, SPANK_APAPI_ASKED };

/** All zero at the start, but for config. */
struct spank_apapi_choice {
    const struct config *config;
    struct {
        enum spank_apapi_given given;
        char text[CONFIG_LIST_SIZE]; /* "": no argument */
    } options[SPANK_APAPI_OPTIONS];
};

/** @return the environment variable of an option, "SLURM_APAPI_FORMAT". */
const char *spank_apapi_choice_variable(enum spank_apapi_option option);

/**
 * Note what was given for an option.
 * @param argument  NULL: none; or VARIABLE=VALUE with the option's own variable
 * @return 0; -1 with errno ENAMETOOLONG.
 */
int spank_apapi_choice_note(struct spank_apapi_choice *choice, enum spank_apapi_option option,
                            const char *argument, struct apapi_error *err);

/**
 * Check what was noted, as far as that can be done without the sampler.
 * @param bounded  whether the site's min_interval counts
 * @return 0; -1 with errno EINVAL, ERANGE, EPERM; `err` says what would be valid.
 */
int spank_apapi_choice_check(const struct spank_apapi_choice *choice,
                             enum spank_apapi_option option, bool bounded, struct apapi_error *err);

/** Forget what was given for an option. */
void spank_apapi_choice_drop(struct spank_apapi_choice *choice, enum spank_apapi_option option);

/** Forget all that the user has given. */
void spank_apapi_choice_forget(struct spank_apapi_choice *choice);

/** @return whether the user has asked for a measurement. */
bool spank_apapi_choice_asked(const struct spank_apapi_choice *choice);

/**
 * @param listed  the user's APAPI_CMPLIST, "" or NULL: none
 * @return the components to measure, "": what there is; NULL: nothing is to be measured.
 */
const char *spank_apapi_choice_components(const struct spank_apapi_choice *choice,
                                          const char *listed);

/** @return what the user said of the sampling intervals, NULL: nothing. */
const char *spank_apapi_choice_interval(const struct spank_apapi_choice *choice);

/**
 * Write the components that a good list of intervals names: "nvml:ipmi".
 * @param size  as many bytes as the list has, with its NUL
 * @return how many there are
 */
size_t spank_apapi_choice_interval_components(const char *list, char *text, size_t size);

/** @return the form of the report; CONFIG_NONE: there is none. */
enum config_format spank_apapi_choice_format(const struct spank_apapi_choice *choice);

/** @return whether there are tables of single steps, or reports of another form. */
bool spank_apapi_choice_reports_steps(const struct spank_apapi_choice *choice);

/** @return whether there is a table of the whole job. */
bool spank_apapi_choice_reports_job(const struct spank_apapi_choice *choice);

/** @return the pattern of the report's file name, NULL: standard error. */
const char *spank_apapi_choice_output(const struct spank_apapi_choice *choice);

/** @return the pattern of the trace's file name, NULL: there is none. */
const char *spank_apapi_choice_trace(const struct spank_apapi_choice *choice);

#endif
