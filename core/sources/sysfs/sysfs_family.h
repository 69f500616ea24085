/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_SYSFS_FAMILY_H
#define APAPI_SOURCES_SYSFS_FAMILY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/source.h"

/*
 * Meters that the kernel shows as text files. A family (powercap, hwmon, ...) has one folder with
 * items in it (a zone, a chip) and a table of the files of an item that are meters.
 */

#define SYSFS_TEXT_SIZE 192

/** What the number in a file means. */
struct sysfs_quantity {
    const char *suffix; /* unit behind the number in the file, a time may follow; NULL: none */
    const char *unit;   /* of the number x scale */
    double scale;
    enum apapi_kind kind;
    bool accumulates;
};

/** A file of an item that is a meter, or several of them: '#' stands for a number. */
struct sysfs_row {
    const char *file; /* "energy#_input" */
    const char *name; /* of the event: "energy#"; NULL: the family names it */
    const char *text; /* for people: "energy of accelerator #" */
    const struct sysfs_quantity *quantity;
    enum apapi_domain domain;
    int rank;            /* of several events of a group for one domain the least one feeds it */
    bool zero_is_absent; /* the file is there without the part that it speaks of, and says 0 */
};

/** What the events of a family are found in. */
struct sysfs_item {
    char folder[64];  /* below the family's: "intel-rapl:0:1" */
    char name[64];    /* what the kernel calls it: "package-0", "amd_energy" */
    char label[64];   /* what its events are called by: "amd_energy.1"; "": nothing */
    char device[128]; /* the part that it belongs to: "package-0", its folder in /sys/devices */
    unsigned group;   /* of the items of one device: the same number */
    unsigned long number;
    long part; /* of the item `number`; -1: an item of its own */
};

struct sysfs_items {
    struct sysfs_item *list;
    size_t count;
};
#define SYSFS_ITEMS_MAX 1024

/** A row's file, found in an item. */
struct sysfs_match {
    const struct sysfs_family *family;
    const struct sysfs_item *item;
    const struct sysfs_row *row;
    int dir;         /* of the item */
    unsigned number; /* that '#' stands for */
    char file[64];
};

/** What belongs to one event. */
struct sysfs_meter {
    int fd;             /* -1: it could not be opened */
    int error;          /* the errno of that */
    const char *suffix; /* as the quantity's */
    unsigned group;
    int rank;
    char text[SYSFS_TEXT_SIZE];
};

/** Files that stay open, one for each event. */
struct sysfs_reader {
    struct apapi_reader base;
    struct apapi_event *events;
    struct sysfs_meter *meters;
    size_t room;
    const struct sysfs_family *family;
    void *state; /* of the family's read */
};

struct sysfs_family {
    const char *component;
    const char *folder;           /* "/sys/class/powercap" */
    const char *detail;           /* as apapi_reader.detail */
    const char *nothing;          /* what there is none of in the folder: "energy zone" */
    const struct sysfs_row *rows; /* the last one has no file */

    /** Is an entry of the folder `dir` an item? Then fill it in. NULL: the folder is the item. */
    bool (*is_item)(int dir, const char *entry, struct sysfs_item *item);

    /** All items have been found: sort, group and label them. NULL: there is but one. */
    void (*arrange)(struct sysfs_items *items);

    /**
     * Complete an event and its meter, which have been filled in from the row.
     * @return 0; -1: pass it over. NULL: they are complete.
     */
    int (*complete)(const struct sysfs_match *match, struct apapi_event *event,
                    struct sysfs_meter *meter);

    /** All events have been found: prepare `read`. 0; -1 with errno. NULL: nothing to prepare. */
    int (*begin)(struct sysfs_reader *reader, int dir, struct apapi_error *err);

    /** As apapi_source.read. NULL: each file speaks for itself. */
    void (*read)(struct sysfs_reader *reader, struct apapi_reading *readings);

    /** Give back reader->state. NULL: there is nothing to give back. */
    void (*end)(struct sysfs_reader *reader);
};

extern const struct sysfs_family sysfs_rapl, sysfs_powercap, sysfs_hwmon, sysfs_intel_gpu,
    sysfs_cray_pm;

/** Find the meters of a family and open them. 0; -1 with errno as apapi_source.open. */
int sysfs_discover(struct sysfs_reader *reader, const struct sysfs_family *family,
                   struct apapi_error *err);

/** Read every file once. */
void sysfs_read_files(const struct sysfs_reader *reader, struct apapi_reading *readings);

/** @return the domain of a powercap zone by its name; APAPI_DOMAIN_NONE if it is none known. */
enum apapi_domain sysfs_zone_domain(const char *zone_name);

#endif
