/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_CHOICE_H
#define SPANK_APAPI_CHOICE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "apapi/error.h"
#include "config/config.h"

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
    SPANK_APAPI_OVERFLOW, /* its text is only the last of several: see struct overflow */
    SPANK_APAPI_OPTIONS   /* number of options */
};

enum spank_apapi_given { SPANK_APAPI_NOT_GIVEN, SPANK_APAPI_PREFERRED, SPANK_APAPI_ASKED };

/** A value of SPANK_APAPI_REPORT: one table, of the job. */
#define CHOICE_JOB_TABLE "job"

/** All zero at the start, except config. */
struct spank_apapi_choice {
    const struct config *config;
    struct {
        enum spank_apapi_given given;
        char text[CONFIG_LIST_SIZE]; /* "": no argument */
    } options[SPANK_APAPI_OPTIONS];
    bool job_budget; /* the job of this srun has a budget, which its batch step watches */
    bool step_limits, job_limits; /* --apapi-overflow has such limits */
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

/** @return whether allow_users matters: for a measurement, or against one that the site wants. */
bool choice_needs_permission(const struct spank_apapi_choice *choice);

/**
 * @param listed  the user's APAPI_CMPLIST, "" or NULL: none
 * @return the components to measure, "": all available; NULL: measure nothing.
 */
const char *choice_components(const struct spank_apapi_choice *choice, const char *listed);

/** @return what was given for an option, "" without an argument; NULL: it was not given. */
const char *choice_given(const struct spank_apapi_choice *choice, enum spank_apapi_option option);

/**
 * Write the components in a valid list of intervals: "nvml:ipmi".
 * @param size  at least the bytes of the list, with its NUL
 * @return the number of components
 */
size_t choice_interval_components(const char *list, char *text, size_t size);

/** @return the format of the report; CONFIG_NONE: no report. */
enum config_format choice_format(const struct spank_apapi_choice *choice);

/** @return whether single steps are reported. */
bool choice_reports_steps(const struct spank_apapi_choice *choice);

/** @return whether there is a table of the whole job. */
bool choice_reports_job(const struct spank_apapi_choice *choice);

/** Choose one table, the job's, for a batch script, unless the user has chosen. @return whether. */
bool choice_prefers_job(struct spank_apapi_choice *choice);

/** @return the pattern of the report's file name; NULL: standard error. */
const char *choice_output(const struct spank_apapi_choice *choice);

/** @return whether the record has the step's share of its node, "on" or "off"; NULL: not said. */
const char *choice_share(const struct spank_apapi_choice *choice);

/** @return sbatch's own budget, for the job; NULL: none. A variable's budget is for each step. */
const char *choice_job_budget(const struct spank_apapi_choice *choice);

/** @return whether the batch step watches the energy of its job. */
bool choice_watches_job(const struct spank_apapi_choice *choice);

/** @return the time between two totals of a node, for budgets and limits [ms]; 0: not needed. */
uint32_t choice_totals_ms(const struct spank_apapi_choice *choice);

/**
 * @return whether every word of a well-formed list is in components.def, or it is "off" or "all".
 */
bool components_known(const char *list);

/* The site's limits. */

/** @return whether the uid alone shows that the user may ask, or the name cannot matter. */
bool policy_uid(const struct config *config, uid_t uid);

/**
 * @param name  of the user; NULL: not known
 * @return whether allow_users allows this user to ask for measurements. root always may.
 */
bool policy_user(const struct config *config, uid_t uid, const char *name);

/** @return whether deny_partitions allows measurements in a partition. NULL: not known. */
bool policy_partition(const struct config *config, const char *partition);

/** @return whether a step with unknown partition may be measured. */
bool policy_extern(const struct config *config);

/*
 * The texts of --apapi-overflow, one a line. Slurm passes on only the last value of an
 * option that is repeated; so all of them travel in the option's own variable.
 */

#define OVERFLOW_LINES_SIZE 32768

struct overflow {
    bool asked; /* the option is on this command line */
    char lines[OVERFLOW_LINES_SIZE];
};

/**
 * Add a text of this command line. The first one replaces all texts of a job or a variable.
 * @return 0; -1 with errno E2BIG, EINVAL: a text of several lines, or none.
 */
int overflow_add(struct overflow *overflow, const char *text, struct apapi_error *err);

/**
 * Check for limits of a step or a job, as apapi-sampler reads them: "step total >= 5kJ".
 * @param lines  checked already; NULL: none
 * @param scope  "step" or "job"
 */
bool overflow_has_scope(const char *lines, const char *scope);

/**
 * Take the texts that the job was given.
 * @param last      the last of its texts
 * @param variable  the variable's value, all of the job's texts; NULL: it is not set. It is not the
 *                  job's if its last line is not `last`
 * @return 0; -1 with errno E2BIG.
 */
int overflow_inherit(struct overflow *overflow, const char *last, const char *variable,
                     struct apapi_error *err);

#endif
