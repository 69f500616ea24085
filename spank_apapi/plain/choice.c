/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apapi/interval.h"
#include "base/count_of.h"
#include "base/duration.h"
#include "config/filename.h"

#define TO_STDERR "stderr"
#define NOWHERE "none"
#define WHAT_THERE_IS ""
#define ALL_TABLES "all"
#define JOB_TABLE "job"
#define STEP_TABLES "steps"
#define NO_TABLES "none"
#define SHARE_ON "on"
#define SHARE_OFF "off"

static const char *const variables[SPANK_APAPI_OPTIONS] = {
    [SPANK_APAPI_COMPONENTS] = "SLURM_APAPI",    [SPANK_APAPI_INTERVAL] = "SLURM_APAPI_INTERVAL",
    [SPANK_APAPI_FORMAT] = "SLURM_APAPI_FORMAT", [SPANK_APAPI_OUTPUT] = "SLURM_APAPI_OUTPUT",
    [SPANK_APAPI_TRACE] = "SLURM_APAPI_TRACE",   [SPANK_APAPI_REPORT] = "SLURM_APAPI_REPORT",
    [SPANK_APAPI_SHARE] = "SLURM_APAPI_SHARE",   [SPANK_APAPI_OVERFLOW] = "SLURM_APAPI_OVERFLOW",
    [SPANK_APAPI_BUDGET] = "SLURM_APAPI_BUDGET",
};

const char *choice_variable(enum spank_apapi_option option)
{
    return variables[option];
}

int choice_note(struct spank_apapi_choice *choice, enum spank_apapi_option option,
                const char *argument, struct apapi_error *err)
{
    size_t length = strlen(variables[option]);
    const char *text = argument ? argument : "";
    bool preferred = strncmp(text, variables[option], length) == 0 && text[length] == '=';

    text += preferred ? length + 1 : 0;
    if (strlen(text) >= sizeof choice->options[option].text) {
        return apapi_fail(err, ENAMETOOLONG, "'%.60s...' is too long", text);
    }
    strcpy(choice->options[option].text, text);
    choice->options[option].given = preferred ? SPANK_APAPI_PREFERRED : SPANK_APAPI_ASKED;
    return 0;
}

static int check_bound(uint64_t interval_ns, const char *whose,
                       const struct spank_apapi_choice *choice, struct apapi_error *err)
{
    uint64_t min_ns = choice->config->min_interval_ns;

    return interval_ns >= min_ns
               ? 0
               : apapi_fail(err, EPERM, "%gms%s%s is faster than this site allows: at least %gms",
                            (double)interval_ns / 1e6, *whose ? " for " : "", whose,
                            (double)min_ns / 1e6);
}

static int check_intervals(const struct spank_apapi_choice *choice, const char *text, bool bounded,
                           struct apapi_error *err)
{
    struct apapi_intervals intervals;

    if (apapi_intervals_parse(text, &intervals, err)) {
        return -1;
    }
    if (!bounded) {
        return 0;
    }
    if (isdigit((unsigned char)*text) && check_bound(intervals.default_ns, "", choice, err)) {
        return -1;
    }
    for (size_t i = 0; i < intervals.count; i++) {
        if (check_bound(intervals.named[i].interval_ns, intervals.named[i].component, choice,
                        err)) {
            return -1;
        }
    }
    return 0;
}

static int check_report(const char *text, struct apapi_error *err)
{
    static const char *const words[] = {ALL_TABLES, JOB_TABLE, STEP_TABLES, NO_TABLES};

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            return 0;
        }
    }
    return apapi_fail(
        err, EINVAL,
        "'%.60s' is none of " ALL_TABLES ", " JOB_TABLE ", " STEP_TABLES " and " NO_TABLES, text);
}

static int check_share(const char *text, struct apapi_error *err)
{
    return *text == '\0' || strcmp(text, SHARE_ON) == 0 || strcmp(text, SHARE_OFF) == 0
               ? 0
               : apapi_fail(err, EINVAL, "'%.60s' is neither " SHARE_ON " nor " SHARE_OFF, text);
}

int choice_check(const struct spank_apapi_choice *choice, enum spank_apapi_option option,
                 bool bounded, struct apapi_error *err)
{
    const char *text = choice->options[option].text;
    enum config_format format;

    switch (option) {
    case SPANK_APAPI_COMPONENTS:
        return config_components_check(text, err);
    case SPANK_APAPI_INTERVAL:
        return check_intervals(choice, text, bounded, err);
    case SPANK_APAPI_FORMAT:
        return config_format_parse(text, &format, err);
    case SPANK_APAPI_REPORT:
        return check_report(text, err);
    case SPANK_APAPI_SHARE:
        return check_share(text, err);
    case SPANK_APAPI_BUDGET: /* the sampler checks them */
    case SPANK_APAPI_OVERFLOW:
        return 0;
    default:
        return filename_check(text, err);
    }
}

void choice_drop(struct spank_apapi_choice *choice, enum spank_apapi_option option)
{
    choice->options[option].given = SPANK_APAPI_NOT_GIVEN;
    choice->options[option].text[0] = '\0';
}

void choice_forget(struct spank_apapi_choice *choice)
{
    for (int i = 0; i < SPANK_APAPI_OPTIONS; i++) {
        choice_drop(choice, (enum spank_apapi_option)i);
    }
}

/* @return the value given for an option; NULL: none. */
static const char *given(const struct spank_apapi_choice *choice, enum spank_apapi_option option)
{
    return choice->options[option].given ? choice->options[option].text : NULL;
}

static bool is_off(const struct spank_apapi_choice *choice)
{
    const char *components = given(choice, SPANK_APAPI_COMPONENTS);

    return components && strcmp(components, CONFIG_OFF) == 0;
}

bool choice_asked(const struct spank_apapi_choice *choice)
{
    if (is_off(choice) || !config_enabled_anywhere(choice->config)) {
        return false;
    }
    for (int i = 0; i < SPANK_APAPI_OPTIONS; i++) {
        if (choice->options[i].given == SPANK_APAPI_ASKED) {
            return true;
        }
    }
    return given(choice, SPANK_APAPI_COMPONENTS) != NULL || choice->job_budget;
}

bool choice_needs_permission(const struct spank_apapi_choice *choice)
{
    return choice_asked(choice) || (is_off(choice) && *choice->config->components);
}

const char *choice_components(const struct spank_apapi_choice *choice, const char *listed)
{
    const char *components = given(choice, SPANK_APAPI_COMPONENTS);
    const char *standard = choice->config->components;

    if (is_off(choice) || !config_enabled_anywhere(choice->config)) {
        return NULL;
    }
    if (!choice_asked(choice)) {
        return *standard ? standard : NULL;
    }
    if (components && *components) {
        return components;
    }
    if (listed && *listed) {
        return listed;
    }
    return *standard ? standard : WHAT_THERE_IS;
}

const char *choice_interval(const struct spank_apapi_choice *choice)
{
    return given(choice, SPANK_APAPI_INTERVAL);
}

size_t choice_interval_components(const char *list, char *text, size_t size)
{
    struct apapi_intervals intervals = {.count = 0};
    size_t length = 0;

    apapi_intervals_parse(list, &intervals, NULL);
    for (size_t i = 0; i < intervals.count; i++) {
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ":" : "",
                                   intervals.named[i].component);
    }
    return intervals.count;
}

/* Check whether the site wants reports only for users who ask for them. */
static bool choice_is_silent(const struct config *config)
{
    return config->format == CONFIG_NONE || strcmp(config->output, NOWHERE) == 0;
}

static bool reports_only(const struct spank_apapi_choice *choice, const char *what)
{
    const char *report = given(choice, SPANK_APAPI_REPORT);

    return report && strcmp(report, what) == 0;
}

enum config_format choice_format(const struct spank_apapi_choice *choice)
{
    const char *format = given(choice, SPANK_APAPI_FORMAT);
    const char *output = given(choice, SPANK_APAPI_OUTPUT);
    enum config_format result = choice->config->format;

    if ((output && strcmp(output, NOWHERE) == 0) || reports_only(choice, NO_TABLES) ||
        (choice_is_silent(choice->config) && !choice_asked(choice))) {
        return CONFIG_NONE;
    }
    if (format && config_format_parse(format, &result, NULL) == 0) {
        return result;
    }
    return result == CONFIG_NONE ? CONFIG_TABLE : result;
}

bool choice_reports_steps(const struct spank_apapi_choice *choice)
{
    enum config_format format = choice_format(choice);

    return format == CONFIG_TABLE ? !reports_only(choice, JOB_TABLE) : format != CONFIG_NONE;
}

bool choice_reports_job(const struct spank_apapi_choice *choice)
{
    return choice_format(choice) == CONFIG_TABLE && !reports_only(choice, STEP_TABLES) &&
           choice->config->job_total != CONFIG_TOTAL_OFF;
}

const char *choice_output(const struct spank_apapi_choice *choice)
{
    const char *output = given(choice, SPANK_APAPI_OUTPUT);

    if (!output) {
        output = choice->config->output;
    }
    return strcmp(output, TO_STDERR) == 0 || strcmp(output, NOWHERE) == 0 ? NULL : output;
}

const char *choice_trace(const struct spank_apapi_choice *choice)
{
    return given(choice, SPANK_APAPI_TRACE);
}

const char *choice_share(const struct spank_apapi_choice *choice)
{
    const char *share = given(choice, SPANK_APAPI_SHARE);

    return share && *share == '\0' ? SHARE_ON : share;
}

const char *choice_budget(const struct spank_apapi_choice *choice)
{
    return given(choice, SPANK_APAPI_BUDGET);
}

const char *choice_job_budget(const struct spank_apapi_choice *choice)
{
    return choice->options[SPANK_APAPI_BUDGET].given == SPANK_APAPI_ASKED ? choice_budget(choice)
                                                                          : NULL;
}

static bool choice_site_has_budget(const struct spank_apapi_choice *choice)
{
    return config_section_value(choice->config, "budget", "max_budget") ||
           config_section_value(choice->config, "budget", "default_budget");
}

bool choice_watches_job(const struct spank_apapi_choice *choice)
{
    return choice_job_budget(choice) || choice->job_limits || choice_site_has_budget(choice);
}

uint32_t choice_totals_ms(const struct spank_apapi_choice *choice)
{
    const char *interval = config_section_value(choice->config, "budget", "interval");
    uint64_t ns = 0;

    if (!choice_budget(choice) && !choice->job_budget && !choice->step_limits &&
        !choice->job_limits && !choice_site_has_budget(choice)) {
        return 0;
    }
    if (!interval || apapi_duration_parse(interval, &ns, NULL) || ns < NS_PER_S ||
        ns > 60 * NS_PER_S) {
        ns = NS_PER_S;
    }
    return (uint32_t)(ns / (NS_PER_S / 1000));
}
