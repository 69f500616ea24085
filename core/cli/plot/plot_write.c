/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the model as a page, or has apapi-plot draw it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/plot/plot_figures.h"
#include "config/config.h"
#include "record/fields.h"
#include "record/tree.h"

#define PROGRAM "apapi-plot"
#define MARK "@MODEL@"

/* In a <script>, only "</script" and "<!--" are special: every '<' is escaped. */
static void plot_write_put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<') {
            fputs("\\u003c", out);
        } else {
            fputc(*text, out);
        }
    }
}

char *plot_page(const json_t *model, size_t *size)
{
    const char *mark = strstr(plot_page_text, MARK);
    char *text = fields_dump(model, JSON_COMPACT), *page = NULL;
    FILE *out = text ? open_memstream(&page, size) : NULL;

    if (out) {
        fwrite(plot_page_text, 1, (size_t)(mark - plot_page_text), out);
        plot_write_put_escaped(out, text);
        fputs(mark + strlen(MARK), out);
    }
    free(text);
    return text_of_stream(out, &page, 0);
}

static char *plot_write_read_all(FILE *file, size_t *size)
{
    char *text = NULL, buffer[16384];
    FILE *out = open_memstream(&text, size);
    size_t got;

    rewind(file);
    while (out && (got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        fwrite(buffer, 1, got, out);
    }
    return text_of_stream(out, &text, 0);
}

static FILE *open_temporary(void)
{
    FILE *file = tmpfile();

    if (file) {
        fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
    }
    return file;
}

/* 0: it was successful. */
static int plot_write_run(const char *form, int in, int out, struct apapi_error *err)
{
    char path[PATH_MAX], program[] = PROGRAM, argument[8];
    char *argv[] = {program, argument, NULL};
    posix_spawn_file_actions_t actions;
    struct config config;
    pid_t pid;
    int result, status = 0;

    snprintf(argument, sizeof argument, "%s", form);
    config_defaults(&config);
    config_read(&config, config_path(), &(struct config_sink){0});
    snprintf(path, sizeof path, "%s/" PROGRAM, config.libexec_dir);
    config_clear(&config);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    result = posix_spawn(&pid, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (result) {
        return apapi_fail(err, result, "%s: %s%s", path, strerror(result),
                          result == ENOENT ? "; package apapi-plot has it; .html needs none" : "");
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0 ? 0 : apapi_fail(err, EIO, "%s could not draw", path);
}

char *plot_draw(const json_t *model, const char *form, size_t *size, struct apapi_error *err)
{
    FILE *in = open_temporary(), *out = open_temporary();
    char *picture = NULL;

    if (!in || !out || json_dumpf(model, in, JSON_COMPACT) || fflush(in)) {
        apapi_fail(err, errno, "a temporary file: %s", strerror(errno));
    } else {
        rewind(in);
        if (plot_write_run(form, fileno(in), fileno(out), err) == 0) {
            picture = plot_write_read_all(out, size);
            if (!picture) {
                apapi_fail(err, ENOMEM, "no memory");
            }
        }
    }
    if (in) {
        fclose(in);
    }
    if (out) {
        fclose(out);
    }
    return picture;
}
