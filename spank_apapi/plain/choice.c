/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "apapi/interval.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "config/filename.h"

/* --- the choice ----------------------------------------------------------------------------- */

/* These tables have no pointers, which each process that loads the plugin would relocate. */
static const char variables[SPANK_APAPI_OPTIONS][24] = {
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

int choice_check(const struct spank_apapi_choice *choice, enum spank_apapi_option option,
                 bool bounded, struct apapi_error *err)
{
    const char *text = choice->options[option].text;
    const char *output = choice_output(choice), *trace = choice_given(choice, SPANK_APAPI_TRACE);
    enum config_format format;

    switch (option) {
    case SPANK_APAPI_COMPONENTS:
        return config_components_check(text, err);
    case SPANK_APAPI_INTERVAL:
        return check_intervals(choice, text, bounded, err);
    case SPANK_APAPI_FORMAT:
        return config_format_parse(text, &format, err);
    case SPANK_APAPI_REPORT:
        return text_names_have("all,job,steps,none", text)
                   ? 0
                   : apapi_fail(err, EINVAL, "'%.60s' is none of all, job, steps and none", text);
    case SPANK_APAPI_SHARE:
        return *text == '\0' || text_names_have("on,off", text)
                   ? 0
                   : apapi_fail(err, EINVAL, "'%.60s' is neither on nor off", text);
    case SPANK_APAPI_BUDGET: /* the sampler checks them */
    case SPANK_APAPI_OVERFLOW:
        return 0;
    default:
        if (filename_check(text, err)) {
            return -1;
        }
        return output && trace && files_clash(output, trace)
                   ? apapi_fail(err, EINVAL, "report and trace are the same file: %.160s", trace)
                   : 0;
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

const char *choice_given(const struct spank_apapi_choice *choice, enum spank_apapi_option option)
{
    return choice->options[option].given ? choice->options[option].text : NULL;
}

static bool is_off(const struct spank_apapi_choice *choice)
{
    const char *components = choice_given(choice, SPANK_APAPI_COMPONENTS);

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
    return choice_given(choice, SPANK_APAPI_COMPONENTS) != NULL || choice->job_budget;
}

bool choice_needs_permission(const struct spank_apapi_choice *choice)
{
    return choice_asked(choice) || (is_off(choice) && *choice->config->components);
}

const char *choice_components(const struct spank_apapi_choice *choice, const char *listed)
{
    const char *components = choice_given(choice, SPANK_APAPI_COMPONENTS);
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
    return *standard ? standard : "";
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

static bool reports_only(const struct spank_apapi_choice *choice, const char *what)
{
    const char *report = choice_given(choice, SPANK_APAPI_REPORT);

    return report && strcmp(report, what) == 0;
}

enum config_format choice_format(const struct spank_apapi_choice *choice)
{
    const char *format = choice_given(choice, SPANK_APAPI_FORMAT);
    const char *output = choice_given(choice, SPANK_APAPI_OUTPUT);
    enum config_format result = choice->config->format;
    bool silent = result == CONFIG_NONE || strcmp(choice->config->output, "none") == 0;

    if ((output && strcmp(output, "none") == 0) || reports_only(choice, "none") ||
        (silent && !choice_asked(choice))) {
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

    return format == CONFIG_TABLE ? !reports_only(choice, CHOICE_JOB_TABLE) : format != CONFIG_NONE;
}

bool choice_reports_job(const struct spank_apapi_choice *choice)
{
    return choice_format(choice) == CONFIG_TABLE && !reports_only(choice, "steps") &&
           choice->config->job_total != CONFIG_TOTAL_OFF;
}

bool choice_prefers_job(struct spank_apapi_choice *choice)
{
    if (choice_given(choice, SPANK_APAPI_REPORT) || !choice_reports_job(choice)) {
        return false;
    }
    choice->options[SPANK_APAPI_REPORT].given = SPANK_APAPI_PREFERRED;
    strcpy(choice->options[SPANK_APAPI_REPORT].text, CHOICE_JOB_TABLE);
    return true;
}

const char *choice_output(const struct spank_apapi_choice *choice)
{
    const char *output = choice_given(choice, SPANK_APAPI_OUTPUT);

    if (!output) {
        output = choice->config->output;
    }
    return strcmp(output, "stderr") == 0 || strcmp(output, "none") == 0 ? NULL : output;
}

const char *choice_share(const struct spank_apapi_choice *choice)
{
    const char *share = choice_given(choice, SPANK_APAPI_SHARE);

    return share && *share == '\0' ? "on" : share;
}

const char *choice_job_budget(const struct spank_apapi_choice *choice)
{
    return choice->options[SPANK_APAPI_BUDGET].given == SPANK_APAPI_ASKED
               ? choice_given(choice, SPANK_APAPI_BUDGET)
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

    if (!choice_given(choice, SPANK_APAPI_BUDGET) && !choice->job_budget && !choice->step_limits &&
        !choice->job_limits && !choice_site_has_budget(choice)) {
        return 0;
    }
    if (!interval || apapi_duration_parse(interval, &ns, NULL) || ns < NS_PER_S ||
        ns > 60 * NS_PER_S) {
        ns = NS_PER_S;
    }
    return (uint32_t)(ns / (NS_PER_S / 1000));
}

static const char components[][24] = {
#define APAPI_COMPONENT(name, ways) #name,
#include "apapi/components.def"
#undef APAPI_COMPONENT
};

bool components_known(const char *list)
{
    const char *rest = list;
    size_t i = 0;

    if (strcmp(list, CONFIG_OFF) == 0 || strcmp(list, CONFIG_ALL) == 0) {
        return true;
    }
    while (rest && i < COUNT_OF(components)) {
        const char *word;
        size_t length = text_word(&rest, ":", &word);

        i = 0;
        while (i < COUNT_OF(components) && !word_is(word, length, components[i])) {
            i++;
        }
    }
    return i < COUNT_OF(components);
}

bool policy_uid(const struct config *config, uid_t uid)
{
    char number[24];

    snprintf(number, sizeof number, "%lu", (unsigned long)uid);
    return uid == 0 || *config->allow_users == '\0' || text_names_have(config->allow_users, number);
}

bool policy_user(const struct config *config, uid_t uid, const char *name)
{
    return policy_uid(config, uid) || (name && *name && text_names_have(config->allow_users, name));
}

bool policy_extern(const struct config *config)
{
    return *config->deny_partitions == '\0' && !config_enabled_varies(config);
}

bool policy_partition(const struct config *config, const char *partition)
{
    return *config->deny_partitions == '\0' ||
           (partition && !text_names_have(config->deny_partitions, partition));
}

/* --- --apapi-overflow ----------------------------------------------------------------------- */

static int overflow_append(struct overflow *overflow, const char *text, struct apapi_error *err)
{
    size_t length = strlen(overflow->lines);

    if (length + 1 + strlen(text) >= sizeof overflow->lines) {
        return apapi_fail(err, E2BIG, "the thresholds are too long: %d bytes in all",
                          OVERFLOW_LINES_SIZE - 1);
    }
    snprintf(overflow->lines + length, sizeof overflow->lines - length, "%s%s", length ? "\n" : "",
             text);
    return 0;
}

int overflow_add(struct overflow *overflow, const char *text, struct apapi_error *err)
{
    if (strchr(text, '\n')) {
        return apapi_fail(err, EINVAL, "one threshold in one line: repeat the option for others");
    }
    if (!text[strspn(text, " \t")]) {
        return apapi_fail(err, EINVAL, "the threshold is empty");
    }
    if (!overflow->asked) {
        overflow->asked = true;
        overflow->lines[0] = '\0';
    }
    return overflow_append(overflow, text, err);
}

bool overflow_has_scope(const char *lines, const char *scope)
{
    size_t length = strlen(scope);

    for (; lines && *lines; lines += *lines == '\n') {
        const char *word = lines + strspn(lines, " \t"), *quantity;

        if (strncmp(word, scope, length) == 0 && strspn(word + length, " \t") > 0) {
            quantity = word + length + strspn(word + length, " \t");
            if (!strchr("<>=:\n", *quantity) && strncmp(quantity, "every", 5) != 0) {
                return true;
            }
        }
        lines += strcspn(lines, "\n");
    }
    return false;
}

int overflow_inherit(struct overflow *overflow, const char *last, const char *variable,
                     struct apapi_error *err)
{
    const char *line = variable ? strrchr(variable, '\n') : NULL;
    bool all = variable && strcmp(line ? line + 1 : variable, last) == 0;

    overflow->lines[0] = '\0';
    return overflow_append(overflow, all ? variable : last, err);
}
