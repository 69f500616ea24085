/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_POWERCAP_TREE_H
#define FAKE_POWERCAP_TREE_H
#include <stdint.h>

/** A folder with /sys below it; APAPI_SYSROOT points to it while it exists. */
struct powercap_tree {
    char root[64];
};

/** Make a tree with an empty /sys/class/powercap in a temporary folder and point APAPI_SYSROOT to
 * it. */
void powercap_tree_create(struct powercap_tree *tree);

/** Add a zone: folder "intel-rapl:0:0", name "dram". */
void powercap_tree_zone(const struct powercap_tree *tree, const char *folder, const char *name,
                        uint64_t range_uj);

/** Write any file, in place; folders on the way are made. `path`: "sys/class/hwmon/hwmon0/name". */
void powercap_tree_put(const struct powercap_tree *tree, const char *path, const char *text);

/** Write lines into files of a folder: "name=xe;device/power=1". */
void powercap_tree_files(const struct powercap_tree *tree, const char *folder, const char *files);

/** Make a symbolic link; folders on the way are made. */
void powercap_tree_link(const struct powercap_tree *tree, const char *path, const char *target);

/** Set the mode of any file. */
void powercap_tree_chmod(const struct powercap_tree *tree, const char *path, unsigned mode);

/** Write a zone's energy_uj as the kernel does. */
void powercap_tree_energy(const struct powercap_tree *tree, const char *folder, uint64_t uj);

/** Remove the tree and APAPI_SYSROOT. */
void powercap_tree_destroy(const struct powercap_tree *tree);

#endif
