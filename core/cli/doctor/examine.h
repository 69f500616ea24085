/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DOCTOR_EXAMINE_H
#define APAPI_DOCTOR_EXAMINE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "apapi/catalog.h"
#include "apapi/source.h"
#include "cli/wanted.h"

/** The result of two readings of an event. */
enum evaluation {
    EVENT_FINE,
    EVENT_DEAD,       /* it can be read but its value never changes */
    EVENT_IMPLAUSIBLE /* or it cannot be read */
};

/** Two readings of one event; far enough apart that an energy counter must have moved. */
struct two_readings {
    struct apapi_reading before;
    struct apapi_reading after;
    double elapsed_s; /* between them [s], > 0 */
};

/** @param text  result unless EVENT_FINE: the reason */
enum evaluation evaluate_event(const struct apapi_event *event, const struct two_readings *readings,
                               char *text, size_t size);

/** The properties of a machine that decide whether its meters can be read. */
struct machine {
    bool virtual_machine;
    bool container;
    int perf_event_paranoid; /* PARANOID_UNKNOWN: the kernel has no perf */
    uid_t uid;               /* effective user */
    char user[64];
};

#define PARANOID_UNKNOWN 99

/** Examine this machine. */
void machine_look(struct machine *machine);

/**
 * The permissions of the first existing file that a text names: "/dev/ipmi0 has mode 0600, owner
 * root, group root". "" if there is none.
 */
void machine_rights(const char *naming, char *text, size_t size);

#define TROUBLES_MAX 8 /* reported one by one */

/** An event that can be opened but is useless. */
struct trouble {
    char event[APAPI_NAME_SIZE];
    char text[96];
    bool dead;
};

/** The result of trying a way. */
struct finding {
    bool known;
    int error;                 /* 0: it can be opened */
    struct apapi_error reason; /* why it cannot */
    char detail[64];           /* of what is read */
    size_t events;
    size_t trouble_count; /* of events */
    struct trouble troubles[TROUBLES_MAX];
    bool estimated; /* not a meter: all events are computed */
};

/** One way to read a component. */
struct examined_way {
    struct apapi_way way;
    struct finding mine;
    struct finding
        ordinary; /* for a user without any permission, by opening it; known to root only */
};

/** One component. */
struct examined {
    const char *name;
    size_t way_count;
    struct examined_way ways[APAPI_WAYS_MAX];
};

/** A setting of apapi.conf, or a file, that is not right on this machine. */
struct site_trouble {
    const char *key;
    struct apapi_error reason;
};
#define SITE_TROUBLES_MAX 6

/** The settings of apapi.conf for records. */
struct site {
    char acct_dir[256], spool_dir[256];
    size_t trouble_count;
    struct site_trouble troubles[SITE_TROUBLES_MAX];
};

/** The complete result. */
struct diagnosis {
    struct machine machine;
    struct site site;
    size_t count;
    struct examined components[WANTED_MAX];
};

/**
 * Try a way in its own process, as the libraries that it loads may end it: as this user, with
 * readings of all events; if this is root, also as a user without any permission, without readings.
 */
void examine(struct examined_way *way);

/** Users who can read a component. All may be false. */
struct readers {
    bool me;
    bool ordinary; /* known to be possible; only root can find out */
    bool root;     /* known to be possible, or only permission is missing here */
    bool estimate; /* it is only estimated */
};
struct readers examined_readers(const struct examined *component, const struct machine *machine);

/**
 * @return whether a failing way matters to this component: not if another one works for this user,
 * or only lacks permission.
 */
bool finding_matters(const struct examined *component, const struct finding *finding,
                     const struct machine *machine);

/** @return whether this user can measure with this way. */
bool way_works(const struct examined_way *way);

/**
 * The remedy for a failing way.
 * @param finding  of the way, for this user or an ordinary one
 * @return static storage; NULL: not known
 */
const char *remedy_find(const struct examined *component, const struct examined_way *way,
                        const struct finding *finding, const struct machine *machine);

#endif
