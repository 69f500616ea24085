/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_SYSFS_FAMILY_H
#define APAPI_SOURCES_SYSFS_FAMILY_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/kernel_file.h"
#include "sources/sources.h"

/*
 * Meters that the kernel shows as text files. A family (powercap, hwmon, ...) has one folder with
 * items (a zone, a chip), and a table of the files in an item that are meters.
 */

/** The meaning of the number in a file. */
struct sysfs_quantity {
    const char *suffix; /* unit after the number in the file, a time may follow; NULL: none */
    const char *unit;   /* unit of the number x scale */
    double scale;
    enum apapi_kind kind;
    bool accumulates;
};

/** A file of an item that is a meter; with '#', which stands for a number, several files. */
struct sysfs_row {
    const char *file; /* "energy#_input" */
    const char *name; /* of the event: "energy#"; NULL: the family makes the name */
    const char *text; /* description: "energy of accelerator #" */
    const struct sysfs_quantity *quantity;
    enum apapi_domain domain;
    int rank;            /* of the events of a group for one domain, that of least rank feeds it */
    bool zero_is_absent; /* the file exists without the device, and contains 0 */
};

/** A folder that contains events of a family. */
struct sysfs_item {
    char folder[64];  /* below the family's folder: "intel-rapl:0:1" */
    char name[64];    /* the kernel's name: "package-0", "amd_energy" */
    char label[64];   /* prefix of its events: "amd_energy.1"; "": none */
    char device[128]; /* the device that it belongs to: "package-0", its folder in /sys/devices */
    unsigned group;   /* the same number for all items of one device */
    unsigned long number;
    long part; /* within the item `number`; -1: not part of another item */
    int error; /* errno: its events are shown and cannot be read */
};

struct sysfs_items {
    struct sysfs_item *list;
    size_t count;
};

/** A row's file, found in an item. */
struct sysfs_match {
    const struct sysfs_family *family;
    const struct sysfs_item *item;
    const struct sysfs_row *row;
    int dir;         /* folder of the item */
    unsigned number; /* the number that '#' stands for */
    char file[64];
};

/** The file of one event. */
struct sysfs_meter {
    int fd;              /* -1: it is not open */
    int error;           /* errno: it cannot be read */
    const char *missing; /* the file beside it that is the reason */
    const char *suffix;  /* see struct sysfs_quantity */
    unsigned group;
    int rank;
    char text[192]; /* for people */
};

/** Files that stay open, one for each event. */
struct sysfs_reader {
    struct apapi_reader base;
    struct apapi_event *events;
    struct sysfs_meter *meters;
    size_t room;
    const struct sysfs_family *family;
    void *state; /* for the family's read() */
};

struct sysfs_family {
    const char *component;
    const char *folder;           /* "/sys/class/powercap" */
    const char *detail;           /* as apapi_reader.detail */
    const char *nothing;          /* the missing thing, if nothing is found: "energy zone" */
    const struct sysfs_row *rows; /* terminated by a row without a file */
    bool needs_first;             /* an item without any of them is shown without the first */

    /** @return whether `entry` in `dir` is an item, which is set. NULL: the folder is the item. */
    bool (*is_item)(int dir, const char *entry, struct sysfs_item *item);

    /** Sort, group and label all items. NULL: there is only one. */
    void (*arrange)(struct sysfs_items *items);

    /**
     * Complete an event and its meter after they were filled in from the row.
     * @return 0; -1: skip it. NULL: nothing to complete.
     */
    int (*complete)(const struct sysfs_match *match, struct apapi_event *event,
                    struct sysfs_meter *meter);

    /** Prepare read() after all events were found. @return 0; -1 with errno. NULL: not needed. */
    int (*begin)(struct sysfs_reader *reader, int dir, struct apapi_error *err);

    /** As apapi_source.read. NULL: files are independent of each other. */
    void (*read)(struct sysfs_reader *reader, struct apapi_reading *readings);

    /** Free reader->state. NULL: nothing to free. */
    void (*end)(struct sysfs_reader *reader);
};

/* Families not in sysfs.c. A new one is a file with its constant, and a place in sysfs_open(). */
extern const struct sysfs_family sysfs_hwmon, sysfs_intel_gpu, sysfs_cray_pm;

/** Read every file once. */
static inline void sysfs_read_files(const struct sysfs_reader *reader,
                                    struct apapi_reading *readings)
{
    for (size_t i = 0; i < reader->base.count; i++) {
        const struct sysfs_meter *meter = &reader->meters[i];

        readings[i].error =
            meter->fd < 0 ? meter->error
                          : kernel_file_read_value(meter->fd, meter->suffix, &readings[i].raw);
    }
}

#endif
