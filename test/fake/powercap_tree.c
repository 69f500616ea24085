/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake/powercap_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLASS "sys/class/powercap"

static void must(int good, const char *what)
{
    if (!good) {
        perror(what);
        abort();
    }
}

/* Make a path below the tree's root, and the folders on the way to it. */
static void make_path(const struct powercap_tree *tree, const char *path, char *whole, size_t size)
{
    snprintf(whole, size, "%s/%s", tree->root, path);
    for (char *slash = whole + strlen(tree->root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        must(mkdir(whole, 0755) == 0 || errno == EEXIST, whole);
        *slash = '/';
    }
}

void powercap_tree_put(const struct powercap_tree *tree, const char *path, const char *text)
{
    char whole[256];
    int fd;

    make_path(tree, path, whole, sizeof whole);
    fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), whole);
    close(fd);
}

void powercap_tree_files(const struct powercap_tree *tree, const char *folder, const char *files)
{
    char copy[1024], path[256], text[128], *rest = copy, *file;

    must(snprintf(copy, sizeof copy, "%s", files) < (int)sizeof copy, files);
    while ((file = strsep(&rest, ";"))) {
        char *content = strchr(file, '=');

        must(content != NULL, files);
        *content++ = '\0';
        snprintf(path, sizeof path, "%s/%s", folder, file);
        snprintf(text, sizeof text, "%s\n", content);
        powercap_tree_put(tree, path, text);
    }
}

void powercap_tree_link(const struct powercap_tree *tree, const char *path, const char *target)
{
    char whole[256];

    make_path(tree, path, whole, sizeof whole);
    must(symlink(target, whole) == 0, whole);
}

void powercap_tree_chmod(const struct powercap_tree *tree, const char *path, unsigned mode)
{
    char whole[256];

    make_path(tree, path, whole, sizeof whole);
    must(chmod(whole, mode) == 0, whole);
}

static void write_file(const struct powercap_tree *tree, const char *folder, const char *file,
                       const char *text)
{
    char path[256];

    snprintf(path, sizeof path, CLASS "/%s/%s", folder, file);
    powercap_tree_put(tree, path, text);
}

void powercap_tree_create(struct powercap_tree *tree)
{
    char path[256];

    strcpy(tree->root, "/tmp/apapi-tree-XXXXXX");
    must(mkdtemp(tree->root) != NULL && chmod(tree->root, 0755) == 0, tree->root);
    make_path(tree, CLASS "/", path, sizeof path);
    setenv("APAPI_SYSROOT", tree->root, 1);
}

void powercap_tree_energy(const struct powercap_tree *tree, const char *folder, uint64_t uj)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64 "\n", uj);
    write_file(tree, folder, "energy_uj", text);
}

void powercap_tree_zone(const struct powercap_tree *tree, const char *folder, const char *name,
                        uint64_t range_uj)
{
    char text[64];

    snprintf(text, sizeof text, "%s\n", name);
    write_file(tree, folder, "name", text);
    snprintf(text, sizeof text, "%" PRIu64 "\n", range_uj);
    write_file(tree, folder, "max_energy_range_uj", text);
    powercap_tree_energy(tree, folder, 0);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void powercap_tree_destroy(const struct powercap_tree *tree)
{
    unsetenv("APAPI_SYSROOT");
    nftw(tree->root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}
