/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DOCTOR_H
#define APAPI_DOCTOR_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/catalog.h"
#include "cli/doctor/evaluate.h"
#include "cli/doctor/machine.h"
#include "cli/wanted.h"

#define TROUBLES_MAX 8 /* that are told one by one */

/** An event that opens and is of no use. */
struct trouble {
    char event[APAPI_NAME_SIZE];
    char text[96];
    bool dead;
};

/** What came of trying a way. */
struct finding {
    bool known;
    int error;                 /* 0: it opens */
    struct apapi_error reason; /* it does not */
    char detail[64];           /* what is being read */
    size_t events;
    size_t trouble_count; /* of events */
    struct trouble troubles[TROUBLES_MAX];
    bool estimated; /* no meter: the events are all computed */
};

/** One way to read a component. */
struct examined_way {
    struct apapi_way way;
    struct finding mine;
    struct finding ordinary; /* of a user without any right, by opening it; known to root only */
};

/** One component. */
struct examined {
    const char *name;
    size_t way_count;
    struct examined_way ways[APAPI_WAYS_MAX];
};

/** What apapi.conf says and cannot be done on this machine. */
struct site_trouble {
    const char *key;
    struct apapi_error reason;
};
#define SITE_TROUBLES_MAX 3

/** What apapi.conf says of records. */
struct site {
    char acct_dir[256], spool_dir[256];
    size_t trouble_count;
    struct site_trouble troubles[SITE_TROUBLES_MAX];
};

/** Read apapi.conf and look whether records can be written, and whether `default` is known. */
void site_look(struct site *site);

/** @return why a key's value is of no use; NULL: it is not known to be. */
const char *site_trouble_of(const struct site *site, const char *key);

/** Everything that was found out. */
struct diagnosis {
    struct machine machine;
    struct site site;
    size_t count;
    struct examined components[WANTED_MAX];
};

/**
 * Try a way in a process of its own, which whatever libraries it loads may end: as this user, with
 * readings of all events; if this is root, without them also as a user without any right.
 */
void examine(struct examined_way *way);

/** Who a component can be read by; all three may be false. */
struct readers {
    bool me;
    bool ordinary; /* known to be; only root can find out */
    bool root;     /* known to be, or only a right is missing here */
};
struct readers examined_readers(const struct examined *component, const struct machine *machine);

/**
 * @return whether it matters to this component that a way fails: not where another one works for
 *         this user, or is there and only a right is missing.
 */
bool finding_matters(const struct examined *component, const struct finding *finding,
                     const struct machine *machine);

/** @return whether this user can measure by this way. */
bool way_works(const struct examined_way *way);

/** @return whether the component is only estimated. */
bool examined_is_estimate(const struct examined *component);

/**
 * What would mend a way that fails.
 * @param finding  of the way, as this user or as an ordinary one
 * @return static storage; NULL: nothing is known
 */
const char *remedy_find(const struct examined *component, const struct examined_way *way,
                        const struct finding *finding, const struct machine *machine);

/** Print all of it. @param width  of the terminal; 0: no limit */
void doctor_print_text(const struct diagnosis *diagnosis, size_t width);

/** @return 0; -1 without memory. */
int doctor_print_json(const struct diagnosis *diagnosis);

#endif
