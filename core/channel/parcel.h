/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHANNEL_PARCEL_H
#define CHANNEL_PARCEL_H
#include <stdbool.h>
#include <stddef.h>

/*
 * What a user's shell says of events, as one text that travels with a job in an environment
 * variable:
 *
 *   KIND SIZE NAME\n<SIZE bytes>\n ...
 *
 * KIND: "eventlist", "eventops" (NAME: the file, the bytes: what is in it), "components" (the
 * bytes: APAPI_CMPLIST), "verbose" (APAPI_VERBOSE). libc only.
 */

#define PARCEL_VARIABLE "SLURM_APAPI_RULES"
#define PARCEL_MAX 65536 /* bytes of the text with its NUL */
#define PARCEL_NAME_SIZE 256

#define PARCEL_EVENTLIST "eventlist"
#define PARCEL_EVENTOPS "eventops"
#define PARCEL_COMPONENTS "components"
#define PARCEL_VERBOSE "verbose"

/** One part. */
struct parcel_item {
    char name[PARCEL_NAME_SIZE];
    const char *bytes; /* within the parcel, followed by a newline */
    size_t size;
};

/** Find a part. @return false: it is not there, or the text is no parcel. NULL has no parts. */
bool parcel_find(const char *parcel, const char *kind, struct parcel_item *item);

/** @return whether APAPI_VERBOSE is 1 in a parcel. */
bool parcel_is_verbose(const char *parcel);

/**
 * Append a part to a parcel.
 * @param name  longer ones are cut at the front
 * @return 0; -1 with errno EMSGSIZE: there is no room, `parcel` is unchanged.
 */
int parcel_add(char parcel[PARCEL_MAX], const char *kind, const char *name, const char *bytes,
               size_t size);

#endif
