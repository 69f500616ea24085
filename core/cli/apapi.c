/* SPDX-License-Identifier: BSD-3-Clause */
/* The program apapi shows what can be measured and what was measured. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "config/config.h"

static int help_command(int argc, char **argv);
static int sync_command(int argc, char **argv);

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"list", list_command, "components and events that can be measured here"},
    {"doctor", doctor_command, "what cannot be read here, why, and how to fix it"},
    {"top", top_command, "power of the running steps on this machine"},
    {"report", report_command, "energy of jobs, users, nodes and days"},
    {"show", show_command, "one job in full or in a few lines, or one step of files"},
    {"audit", audit_command, "what nodes have used, and what became of it"},
    {"regions", regions_command, "energy and power of the parts of a program"},
    {"mark", mark_command, "regions of a shell script, for its record"},
    {"plot", plot_command, "power of a job over time, as a picture or a page with zoom"},
    {"import", import_command, "load records into a database: SQLite, MariaDB, PostgreSQL"},
    {"export", export_command, "metrics of this node's steps, for Prometheus"},
    {"config", config_command, "show and check apapi.conf"},
    {"sync", sync_command, "write the energy of jobs into Slurm's own accounting"},
    {"merge", show_command, "old word for: show FILE..."},
    {"summary", show_command, "old word for: show --brief"},
    {"help", help_command, "this text, or the help of a command"},
};
#define COMMAND_COUNT COUNT_OF(commands)

static void print_help(FILE *out)
{
    fputs("usage: apapi COMMAND [OPTION]... [ARG]...\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    }
    fputs("'apapi help COMMAND' describes a command. Options: -h, --help; -V, --version.\n"
          "Exit status: 0 done, 1 failure, 2 wrong usage.\n",
          out);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int refuse_command(const char *name)
{
    struct nearest nearest;
    char meant[256];

    nearest_begin(&nearest, name);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        nearest_offer(commands[i].name, &nearest);
    }
    nearest_text(&nearest, meant, sizeof meant);
    fprintf(stderr, "apapi: unknown %s '%s'%s%s 'apapi help' shows all\n",
            *name == '-' ? "option" : "command", name, meant, *meant ? "" : ";");
    return USAGE_ERROR;
}

static int help_command(int argc, char **argv)
{
    static char option[] = "--help";
    const struct command *command = NULL;

    if (argc > 2) {
        return command_refuse("help", "more than one COMMAND");
    }
    if (argc > 1 && argv[1][0] != '-') {
        command = find_command(argv[1]);
        if (!command) {
            return refuse_command(argv[1]);
        }
    }
    if (!command || command->run == help_command) {
        print_help(stdout);
        return command_finish("help", EXIT_SUCCESS);
    }
    return command->run(2, (char *[]){argv[1], option, NULL});
}

/* Execute a separate program, apapi-sync: it needs libslurm, and apapi must not link with that. */
static int sync_command(int argc, char **argv)
{
    char path[PATH_MAX];
    struct config config;

    (void)argc;
    config_read(&config, config_path(), NULL);
    snprintf(path, sizeof path, "%s/apapi-sync", config.libexec_dir);
    config_clear(&config);
    execv(path, argv);
    return command_fail(argv[0], "%s: %s%s", path, strerror(errno),
                        errno == ENOENT ? "; it is built where Slurm's library (libslurm) is" : "");
}

int main(int argc, char **argv)
{
    const struct command *command;

    if (argc < 2) {
        print_help(stderr);
        return USAGE_ERROR;
    }
    command = find_command(argv[1]);
    if (command) {
        return command->run(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0) {
        puts("apapi " APAPI_VERSION);
    } else if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
        print_help(stdout);
    } else if (strcmp(argv[1], OPTION_LIST) == 0) {
        for (size_t i = 0; i < COMMAND_COUNT; i++) {
            puts(commands[i].name);
        }
    } else {
        return refuse_command(argv[1]);
    }
    return command_finish(argv[1], EXIT_SUCCESS);
}
