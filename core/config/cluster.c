/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/cluster.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 8 /* nesting of included files */
#define BLANKS " \t\r\n"

struct search {
    const char *main; /* slurm.conf; relative names refer to its folder */
    char *name;
    size_t size;
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

/* Cut the line at its comment. "\#" is not a comment. */
static void cut_comment(char *line)
{
    for (char *at = line; *at; at++) {
        if (*at == '#' && (at == line || at[-1] != '\\')) {
            *at = '\0';
            return;
        }
    }
}

/* The value after `key` and '=', at the beginning of any word in the line. @return NULL: none. */
static char *find_value(char *line, const char *key)
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

static void take_name(struct search *search, char *value)
{
    bool quoted = *value == '"';
    size_t length = quoted ? strcspn(++value, "\"\r\n") : strcspn(value, BLANKS);

    search->name[0] = '\0';
    if (length >= search->size) {
        return;
    }
    for (size_t i = 0; i < length; i++) {
        search->name[i] = (char)tolower((unsigned char)value[i]);
    }
    search->name[length] = '\0';
}

/* "Include FILE". @return NULL: a different line. */
static char *find_include(char *line)
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

static void resolve_include(const struct search *search, const char *file, char path[PATH_MAX])
{
    const char *slash = strrchr(search->main, '/');
    int folder = slash && *file != '/' ? (int)(slash - search->main) + 1 : 0;

    snprintf(path, PATH_MAX, "%.*s%s", folder, search->main, file);
}

/* The last ClusterName is used, as by Slurm. */
static void search_file(struct search *search, const char *path, int depth)
{
    FILE *file = depth < DEPTH_MAX ? open_text(path) : NULL;
    char *line = NULL, included[PATH_MAX];
    size_t size = 0;

    while (file && getline(&line, &size, file) >= 0) {
        const char *include;
        char *value;

        cut_comment(line);
        include = find_include(line);
        value = include ? NULL : find_value(line, "ClusterName");
        if (include) {
            resolve_include(search, include, included);
            search_file(search, included, depth + 1);
        } else if (value) {
            take_name(search, value);
        }
    }
    free(line);
    if (file) {
        fclose(file);
    }
}

int config_cluster(const char *path, char *name, size_t size)
{
    struct search search = {path, name, size};

    name[0] = '\0';
    search_file(&search, path, 0);
    return name[0] ? 0 : -1;
}
