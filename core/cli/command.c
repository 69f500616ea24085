/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/catalog.h"
#include "apapi/session.h"
#include "base/text.h"
#include "config/config.h"
#include "record/fields.h"

/* --- messages and options ------------------------------------------------------------------- */

#define MESSAGE_SIZE 1024

static void say(const char *command, const char *format, va_list values)
{
    char text[MESSAGE_SIZE], clean[MESSAGE_SIZE];

    vsnprintf(text, sizeof text, format, values);
    text_clean(clean, sizeof clean, text);
    fprintf(stderr, "apapi %s: %s\n", command, clean);
}

int command_fail(const char *command, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    say(command, format, values);
    va_end(values);
    return EXIT_FAILURE;
}

static void say_folder(const char *text, void *command)
{
    if (strstr(text, "_dir = ") ||
        strstr(text, "user_records = ")) { /* `apapi config --check` reports the others */
        command_fail(*(const char **)command, "%s", text);
    }
}

void command_read_config(const char *command, struct config *config)
{
    config_read_chosen(units_part(true, "apapi %s", command).text, config,
                       &(struct config_sink){say_folder, &command});
}

int command_refuse(const char *command, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    say(command, format, values);
    va_end(values);
    return USAGE_ERROR;
}

int command_fail_folder(const char *command, const char *folder)
{
    return command_fail(command,
                        "the accounting files in %s are root's: name files with records of your "
                        "own (srun --apapi-format=json --apapi-output=energy-%%J.json), or ask the "
                        "site for a report",
                        folder);
}

void command_note_skipped(const char *command, const struct apapi_scan_problem *problem)
{
    fprintf(stderr, "apapi %s: %s:", command, problem->file);
    if (problem->line > 0) {
        fprintf(stderr, "%zu:", problem->line);
    } else if (problem->offset > 0) {
        fprintf(stderr, " byte %" PRIu64 ":", problem->offset);
    }
    fprintf(stderr, " %s\n", problem->reason);
}

int command_finish(const char *command, int status)
{
    if (fflush(stdout) == EOF || ferror(stdout)) {
        fprintf(stderr, "apapi %s: standard output: %s\n", command, strerror(errno));
        return EXIT_FAILURE;
    }
    return status;
}

int command_end(const char *command, bool failed)
{
    return failed ? command_fail(command, "no memory") : command_finish(command, EXIT_SUCCESS);
}

/* --- remarks -------------------------------------------------------------------------------- */

void remark(struct remarks *remarks, const char *format, ...)
{
    char text[MESSAGE_SIZE];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (remarks->count++ < remarks->most || remarks->most == 0) {
        namelist_add(&remarks->texts, text);
    }
}

struct units_text restart_text(uint32_t restarts)
{
    return units_part(restarts > 0 && restarts != APAPI_UNKNOWN, ", restart %" PRIu32, restarts);
}

struct units_text elapsed_text(double seconds)
{
    long long all = (long long)seconds, day_s = all % 86400;

    return units_part(true, "%s%02lld:%02lld:%02lld",
                      units_part(all >= 86400, "%lld-", all / 86400).text, day_s / 3600,
                      day_s / 60 % 60, day_s % 60);
}

/* --- JSON ----------------------------------------------------------------------------------- */

int json_finish(struct json_writer *json)
{
    if (json_flush(json)) {
        return errno == ENOMEM ? -1 : 0;
    }
    fputc('\n', json->out);
    return 0;
}

/* --- components ------------------------------------------------------------------------------ */

static void wanted_add(struct wanted *wanted, const char *name, size_t length)
{
    if (wanted->count < WANTED_MAX && length < sizeof wanted->names[0]) {
        memcpy(wanted->names[wanted->count], name, length);
        wanted->names[wanted->count++][length] = '\0';
    }
}

static void add_any(const char *name, void *context)
{
    wanted_add(context, name, strlen(name));
}

int wanted_parse(int count, char *const words[], struct wanted *wanted, struct apapi_error *err)
{
    wanted->named = count > 1 || (count == 1 && strcmp(words[0], CONFIG_ALL) != 0);
    wanted->count = 0;
    if (!wanted->named) {
        apapi_catalog_components(add_any, wanted);
    }
    for (int i = 0; i < count && wanted->named; i++) {
        if (apapi_components_check(words[i], err)) {
            return -1;
        }
        for (const char *name = words[i]; *name; name += *name == ':') {
            size_t length = strcspn(name, ":");

            wanted_add(wanted, name, length);
            name += length;
        }
    }
    return 0;
}
