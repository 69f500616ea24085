/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"

#define MESSAGE_SIZE 1024

#define OPTIONS_MAX 64

int command_fail(const char *command, const char *text)
{
    char clean[MESSAGE_SIZE];

    text_clean(clean, sizeof clean, text);
    fprintf(stderr, "apapi %s: %s\n", command, clean);
    return EXIT_FAILURE;
}

int command_fail_folder(const char *command, const char *folder)
{
    fprintf(stderr,
            "apapi %s: the accounting files in %s are root's: name files with records of your own "
            "(srun --apapi-format=json --apapi-output=energy-%%J.json), or ask the site for a "
            "report\n",
            command, folder);
    return EXIT_FAILURE;
}

int command_refuse(const char *command, const char *text)
{
    command_fail(command, text);
    return USAGE_ERROR;
}

static void refuse_long(const char *command, const char *word, const struct option *options)
{
    struct nearest nearest;
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    nearest_begin(&nearest, name);
    for (; options->name; options++) {
        nearest_offer(options->name, &nearest);
    }
    if (nearest.count > 0) {
        fprintf(stderr, "apapi %s: unknown option '--%s': did you mean '--%s'?", command, name,
                nearest.best[0].name);
    } else {
        fprintf(stderr, "apapi %s: unknown option '--%s';", command, name);
    }
    fprintf(stderr, " 'apapi help %s' shows all\n", command);
}

static void refuse_option(char **argv, int result, const struct option *options)
{
    const char *word = argv[optind - 1];

    if (result == ':') {
        fprintf(stderr, "apapi %s: %s needs an argument\n", argv[0], word);
    } else if (strncmp(word, "--", 2) == 0 && optopt) {
        fprintf(stderr, "apapi %s: %.*s takes no argument\n", argv[0], (int)strcspn(word, "="),
                word);
    } else if (strncmp(word, "--", 2) == 0) {
        refuse_long(argv[0], word, options);
    } else {
        fprintf(stderr, "apapi %s: unknown option '-%c'; 'apapi help %s' shows all\n", argv[0],
                optopt, argv[0]);
    }
}

/* Every command has -V. */
static void add_version(const struct option *options, struct option all[OPTIONS_MAX])
{
    size_t count = 0;

    for (; count < OPTIONS_MAX - 2 && options[count].name; count++) {
        all[count] = options[count];
    }
    all[count++] = (struct option){"version", no_argument, NULL, 'V'};
    all[count] = (struct option){0};
}

int command_option(int argc, char **argv, const char *letters, const struct option *options)
{
    struct option all[OPTIONS_MAX];
    char quiet[64];
    int result;

    add_version(options, all);
    snprintf(quiet, sizeof quiet, ":%sV", letters);
    opterr = 0;
    result = getopt_long(argc, argv, quiet, all, NULL);
    if (result == 'V') {
        puts("apapi " APAPI_VERSION);
        exit(command_finish(argv[0], EXIT_SUCCESS));
    }
    if (result == '?' || result == ':') {
        refuse_option(argv, result, all);
        return '?';
    }
    return result;
}

int command_finish(const char *command, int status)
{
    if (fflush(stdout) == EOF || ferror(stdout)) {
        fprintf(stderr, "apapi %s: standard output: %s\n", command, strerror(errno));
        return EXIT_FAILURE;
    }
    return status;
}
