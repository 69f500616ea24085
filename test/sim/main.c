/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-simhw: options, specs, server. */
#include "simhw.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };

static const uint64_t main_period_ns = 1000000;

static const char main_usage[] =
    "usage: apapi-simhw --fuse|--files DIR [OPTION]... SPEC...\n"
    "Simulated energy meters as files below the existing folder DIR, as the specs describe them.\n"
    "  --fuse            mount a file system that computes each value at the moment of the read\n"
    "  --files           plain files (on a tmpfs, please) that are rewritten in place\n"
    "  --period SECONDS  between two updates of plain files; default 0.001\n"
    "  --watch PID       serve in the background: return when the tree can be read, and end when\n"
    "                    process PID does; without it, end with the parent\n"
    "  --ready-fd N      without --watch: write a newline to descriptor N when the tree can be "
    "read\n"
    "  -h, --help        this text\n"
    "The time is what $APAPI_SIMHW_TIME, a file, says [ns]; by default the machine's since the "
    "start.\n"
    "SIGTERM, SIGINT and SIGHUP end it. Status: 0 ended, 1 failure, 2 bad option or spec.\n\n";

struct main_options {
    const char *fuse_dir;
    const char *file_dir;
    uint64_t period_ns;
    uint64_t watch_pid;
    uint64_t ready_fd;
    bool has_ready_fd;
};

static int main_refuse(const char *what, const char *value)
{
    fprintf(stderr, "apapi-simhw: %s: %s (-h shows the options)\n", value, what);
    return -1;
}

static int main_parse_option(struct main_options *options, int option, const char *value)
{
    switch (option) {
    case 'u':
        options->fuse_dir = value;
        return 0;
    case 'f':
        options->file_dir = value;
        return 0;
    case 'p':
        if (sim_number_seconds(value, &options->period_ns) == 0 && options->period_ns > 0 &&
            options->period_ns < UINT64_MAX) {
            return 0;
        }
        return main_refuse("not a period in seconds", value);
    case 'w':
        if (sim_number_u64(value, 10, 1, INT_MAX, &options->watch_pid) == 0) {
            return 0;
        }
        return main_refuse("not a process", value);
    case 'r':
        options->has_ready_fd = true;
        if (sim_number_u64(value, 10, STDERR_FILENO + 1, INT_MAX - 1, &options->ready_fd) == 0) {
            return 0;
        }
        return main_refuse("not a descriptor from 3 on", value);
    default:
        return main_refuse("bad option", "usage");
    }
}

/* 0, 1 after the help, or -1 after a message. */
static int main_parse_options(struct main_options *options, int argc, char **argv)
{
    static const struct option table[] = {
        {"fuse", required_argument, NULL, 'u'},
        {"files", required_argument, NULL, 'f'},
        {"period", required_argument, NULL, 'p'},
        {"watch", required_argument, NULL, 'w'},
        {"ready-fd", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "h", table, NULL)) != -1) {
        if (option == 'h') {
            printf("%s%s", main_usage, sim_spec_help);
            return 1;
        }
        if (main_parse_option(options, option, optarg) != 0) {
            return -1;
        }
    }
    if ((options->fuse_dir == NULL) == (options->file_dir == NULL)) {
        return main_refuse("one of --fuse and --files is needed", "usage");
    }
    if (options->has_ready_fd && options->watch_pid != 0) {
        return main_refuse("--ready-fd and --watch exclude each other", "usage");
    }
    return 0;
}

/* Leave other descriptors of the caller alone. */
static void main_close_descriptors(const struct main_options *options)
{
    unsigned int first = STDERR_FILENO + 1;

    if (options->has_ready_fd) {
        if (options->ready_fd > first) {
            close_range(first, (unsigned int)options->ready_fd - 1, 0);
        }
        first = (unsigned int)options->ready_fd + 1;
    }
    close_range(first, UINT_MAX, 0);
}

/* 0 or an exit status. */
static int main_load(struct sim_tree *tree, bool exact, char **specs)
{
    if (sim_tree_init(tree, exact) != 0) {
        perror("apapi-simhw");
        return EXIT_FAILURE;
    }
    if (*specs == NULL) {
        main_refuse("no spec was given", "usage");
        return EXIT_USAGE;
    }
    for (size_t i = 0; specs[i] != NULL; i++) {
        if (sim_spec_load(tree, i + 1, specs[i]) != 0) {
            return EXIT_USAGE;
        }
    }
    return 0;
}

static int main_serve(const struct main_options *options, struct sim_tree *tree)
{
    struct sim_run run = {.tree = tree, .period_ns = options->period_ns, .watch_fd = -1};
    const char *dir = tree->exact ? options->fuse_dir : options->file_dir;
    char *path = realpath(dir, NULL);
    int rc = -1;

    run.dir = path;
    run.ready_fd = options->has_ready_fd ? (int)options->ready_fd : -1;
    if (path == NULL) {
        main_refuse(strerror(errno), dir);
    } else if (sim_run_open(&run, (pid_t)options->watch_pid) != 0) {
        main_refuse(strerror(errno), "what ends the run");
    } else if (options->watch_pid != 0 && sim_run_detach(&run) != 0) {
        main_refuse(strerror(errno), "going to the background");
    } else {
        rc = tree->exact ? sim_fuse_serve(&run) : sim_file_serve(&run);
    }
    free(path);
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct main_options options = {.period_ns = main_period_ns};
    struct sim_tree tree = {0};
    int rc = main_parse_options(&options, argc, argv);

    if (rc != 0) {
        return rc > 0 ? EXIT_SUCCESS : EXIT_USAGE;
    }
    rc = main_load(&tree, options.fuse_dir != NULL, argv + optind);
    if (rc == 0) {
        main_close_descriptors(&options);
        rc = main_serve(&options, &tree);
    }
    sim_tree_clear(&tree);
    return rc;
}
