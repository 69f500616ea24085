/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake/powercap_tree.h"

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

static void make_folder(const struct powercap_tree *tree, const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", tree->root, name);
    must(mkdir(path, 0755) == 0, path);
}

static void write_file(const struct powercap_tree *tree, const char *folder, const char *file,
                       const char *text)
{
    char path[256];
    int fd;

    snprintf(path, sizeof path, "%s/" CLASS "/%s/%s", tree->root, folder, file);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
    close(fd);
}

void powercap_tree_create(struct powercap_tree *tree)
{
    strcpy(tree->root, "/tmp/apapi-tree-XXXXXX");
    must(mkdtemp(tree->root) != NULL && chmod(tree->root, 0755) == 0, tree->root);
    make_folder(tree, "sys");
    make_folder(tree, "sys/class");
    make_folder(tree, CLASS);
    setenv("APAPI_SYSROOT", tree->root, 1);
}

void powercap_tree_energy(const struct powercap_tree *tree, const char *folder, uint64_t uj)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64 "\n", uj);
    write_file(tree, folder, "energy_uj", text);
}

void powercap_tree_write(const struct powercap_tree *tree, const char *folder, const char *text)
{
    write_file(tree, folder, "energy_uj", text);
}

void powercap_tree_zone(const struct powercap_tree *tree, const char *folder, const char *name,
                        uint64_t range_uj)
{
    char text[64];

    snprintf(text, sizeof text, CLASS "/%s", folder);
    make_folder(tree, text);
    snprintf(text, sizeof text, "%s\n", name);
    write_file(tree, folder, "name", text);
    snprintf(text, sizeof text, "%" PRIu64 "\n", range_uj);
    write_file(tree, folder, "max_energy_range_uj", text);
    powercap_tree_energy(tree, folder, 0);
}

void powercap_tree_mode(const struct powercap_tree *tree, const char *folder, unsigned mode)
{
    char path[256];

    snprintf(path, sizeof path, "%s/" CLASS "/%s/energy_uj", tree->root, folder);
    must(chmod(path, mode) == 0, path);
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
