/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/slurm_conf.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 8 /* of files that include each other */
#define BLANKS " \t\r\n"
#define LINE_MAX_BYTES (1 << 20) /* with all that it goes on with */

struct reader {
    const char *main; /* slurm.conf: its folder is that of relative names */
    slurm_conf_line_f visit;
    void *context;
};

static FILE *open_text(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    FILE *file = NULL;

    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        file = fdopen(fd, "r");
    }
    if (fd >= 0 && !file) {
        close(fd);
    }
    return file;
}

/* Cut the line at its comment; "\#" is none. */
static void slurm_conf_cut_comment(char *line)
{
    for (char *at = line; *at; at++) {
        if (*at == '#' && (at == line || at[-1] != '\\')) {
            *at = '\0';
            return;
        }
    }
}

char *slurm_conf_find(char *line, const char *key)
{
    size_t length = strlen(key);

    for (char *word = line + strspn(line, BLANKS); *word; word += strspn(word, BLANKS)) {
        if (strncasecmp(word, key, length) == 0) {
            char *behind = word + length + strspn(word + length, BLANKS);

            if (*behind == '=') {
                return behind + 1 + strspn(behind + 1, BLANKS);
            }
        }
        word += strcspn(word, BLANKS);
    }
    return NULL;
}

int slurm_conf_length(const char *value)
{
    return (int)strcspn(value, BLANKS);
}

/* "Include FILE". @return NULL: the line is something else. */
static char *slurm_conf_find_include(char *line)
{
    static const char word[] = "include";
    char *begin = line + strspn(line, BLANKS), *file = begin + sizeof word - 1;

    if (strncasecmp(begin, word, sizeof word - 1) != 0 || !*file || !strchr(BLANKS, *file)) {
        return NULL;
    }
    file += strspn(file, BLANKS);
    file[strcspn(file, BLANKS)] = '\0';
    return *file ? file : NULL;
}

static void slurm_conf_place(const struct reader *reader, const char *file, char path[PATH_MAX])
{
    const char *slash = strrchr(reader->main, '/');
    int folder = slash && *file != '/' ? (int)(slash - reader->main) + 1 : 0;

    snprintf(path, PATH_MAX, "%.*s%s", folder, reader->main, file);
}

/* Put the next line behind what `line` has. @return whether there is one. */
static bool slurm_conf_read(FILE *file, char **line, size_t *length)
{
    char *more = NULL, *joined;
    size_t room = 0;
    ssize_t size = getline(&more, &room, file);

    joined =
        size >= 0 && *length < LINE_MAX_BYTES ? realloc(*line, *length + (size_t)size + 1) : NULL;
    if (joined) {
        memcpy(joined + *length, more, (size_t)size + 1);
        *line = joined;
        *length += (size_t)size;
    }
    free(more);
    return joined != NULL;
}

/* Does the line go on? Then without its backslash. */
static bool slurm_conf_goes_on(char *line, size_t *length)
{
    size_t end = *length;

    while (end > 0 && (line[end - 1] == '\n' || line[end - 1] == '\r')) {
        end--;
    }
    if (end == 0 || line[end - 1] != '\\') {
        return false;
    }
    line[end - 1] = ' ';
    line[end] = '\0';
    *length = end;
    return true;
}

static void slurm_conf_read_file(const struct reader *reader, const char *path, int depth);

static void slurm_conf_take(const struct reader *reader, char *line, int depth)
{
    char included[PATH_MAX];
    const char *include;

    slurm_conf_cut_comment(line);
    include = slurm_conf_find_include(line);
    if (include) {
        slurm_conf_place(reader, include, included);
        slurm_conf_read_file(reader, included, depth + 1);
    } else {
        reader->visit(line, reader->context);
    }
}

static void slurm_conf_read_file(const struct reader *reader, const char *path, int depth)
{
    FILE *file = depth < DEPTH_MAX ? open_text(path) : NULL;
    char *line = NULL;
    size_t length = 0;

    while (file && slurm_conf_read(file, &line, &length)) {
        if (!slurm_conf_goes_on(line, &length)) {
            slurm_conf_take(reader, line, depth);
            length = 0;
        }
    }
    if (length > 0) {
        slurm_conf_take(reader, line, depth);
    }
    free(line);
    if (file) {
        fclose(file);
    }
}

void slurm_conf_each(const char *path, slurm_conf_line_f visit, void *context)
{
    const struct reader reader = {path, visit, context};

    slurm_conf_read_file(&reader, path, 0);
}
