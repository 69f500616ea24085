/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apapi/interval.h"
#include "check.h"
#include "components.h"

#define OPTIONAL_ARGUMENT 2
#define REQUIRED_ARGUMENT 1
#define DEFAULT_COMPONENTS "" /* the sampler takes what there is */

/* What Slurm 22.05 hands to an srun in the place of an argument that was not given to salloc. */
#define NO_ARGUMENT "(null)"

static struct {
    const struct spank_apapi_arguments *arguments;
    bool given;                             /* --apapi is there */
    char components[SPANK_APAPI_LIST_SIZE]; /* "": no argument */
    char interval[SPANK_APAPI_LIST_SIZE];   /* "": not given */
} options;

static int options_refuse(const struct apapi_error *err)
{
    slurm_error("apapi: %s", err->text);
    return -1;
}

/* A list with words that are not compiled in: apapi-sampler knows what PAPI offers. */
static int options_ask(const char *list)
{
    struct apapi_error err;

    if (spank_apapi_check_components(options.arguments->libexec_dir, list, &err) == 0) {
        return 0;
    }
    if (errno == ENOENT) {
        return options_refuse(&err);
    }
    slurm_error("apapi: '%s' could not be checked (%s); known without that: %s", list, err.text,
                spank_apapi_components_names());
    return -1;
}

static int options_check_components(const char *list)
{
    struct apapi_error err;

    if (spank_apapi_components_check(list, &err)) {
        return options_refuse(&err);
    }
    return spank_apapi_components_known(list) ? 0 : options_ask(list);
}

static bool options_no_argument(const char *argument)
{
    return !argument || strcmp(argument, NO_ARGUMENT) == 0;
}

/*
 * --apapi; srun, sbatch, salloc as the user: once, and before that for what the job was given;
 * slurmstepd as root: twice with the same argument ("" for none).
 */
static int options_components_given(int value, const char *argument, int remote)
{
    const char *list = options_no_argument(argument) ? "" : argument;

    (void)value;
    if (!remote && !options_no_argument(argument) && options_check_components(list)) {
        return -1;
    }
    if (strlen(list) >= sizeof options.components) {
        return -1;
    }
    strcpy(options.components, list);
    options.given = true;
    return 0;
}

/* --apapi-interval; as above. */
static int options_interval_given(int value, const char *argument, int remote)
{
    struct apapi_intervals intervals;
    struct apapi_error err;

    (void)value;
    if (!argument || strlen(argument) >= sizeof options.interval) {
        return -1;
    }
    if (!remote && apapi_intervals_parse(argument, &intervals, &err)) {
        return options_refuse(&err);
    }
    strcpy(options.interval, argument);
    return 0;
}

void spank_apapi_options_register(spank_t spank, const struct spank_apapi_arguments *arguments)
{
    static char components_name[] = "apapi", components_argument[] = "LIST";
    static char components_usage[] = "measure energy of these components, for example rapl:nvml "
                                     "('off': do not)";
    static char interval_name[] = "apapi-interval", interval_argument[] = "LIST";
    static char interval_usage[] = "time between two readings, for example 100ms or "
                                   "rapl:50ms:nvml:1s";
    static struct spank_option components = {.name = components_name,
                                             .arginfo = components_argument,
                                             .usage = components_usage,
                                             .has_arg = OPTIONAL_ARGUMENT,
                                             .cb = options_components_given};
    static struct spank_option interval = {.name = interval_name,
                                           .arginfo = interval_argument,
                                           .usage = interval_usage,
                                           .has_arg = REQUIRED_ARGUMENT,
                                           .cb = options_interval_given};

    options.arguments = arguments;
    spank_option_register(spank, &components);
    spank_option_register(spank, &interval);
}

const char *spank_apapi_options_components(void)
{
    const char *standard = options.arguments->components;

    if (!options.given) {
        return *standard ? standard : NULL;
    }
    if (strcmp(options.components, SPANK_APAPI_OFF) == 0) {
        return NULL;
    }
    if (options.components[0]) {
        return options.components;
    }
    return *standard ? standard : DEFAULT_COMPONENTS;
}

const char *spank_apapi_options_interval(void)
{
    return options.interval[0] ? options.interval : options.arguments->interval;
}
