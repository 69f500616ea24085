/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_SOURCES_H
#define SOURCES_SOURCES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/catalog.h"
#include "apapi/interval.h"
#include "apapi/source.h"

/* --- what a source is ------------------------------------------------------------------------- */

/**
 * A source is one constant of this type. One thread at a time calls open() and close() of a source,
 * and one thread at a time calls read() of a reader. Readers with `own_worker`, readers of slow
 * sources, and readers that have failed for a while are opened, read and closed by threads of their
 * own, at the same time as others. No function prints, exits or changes signal handlers.
 */
struct apapi_source {
    const char *name; /* "sysfs", "papi": as in APAPI_SOURCES */
    bool common;      /* raw values are the same for all processes, whenever they open it */

    /** Set if another process reads the meters; no source in components.def has this. NULL: not. */
    const struct source_relay {
        /**
         * Let read() return a reading that is up to `age_ns` old, but newer than the one that it
         * returned before, until this is called again. At first: 0.
         */
        void (*allow_age)(struct apapi_reader *reader, uint64_t age_ns);

        /** Tell when the latest good reading was made, CLOCK_MONOTONIC [ns]. */
        void (*when)(const struct apapi_reader *reader, uint64_t *begin_ns, uint64_t *end_ns);
    } * relay;

    bool slow; /* open() may take seconds: the component gets a thread of its own */

    /**
     * Check whether the component is known. Opens no device. NULL: components.def names them all.
     * @return 0; -1 with errno
     *         ENOENT  no such component
     *         ENOSYS  the source is not available here
     */
    int (*probe)(const char *component, struct apapi_error *err);

    /**
     * A component will be opened soon. Called before the first one is opened: some libraries must
     * know at their start what to leave out. NULL: not needed.
     */
    void (*want)(const char *component);

    /** Call `visit` for each component that the source knows here. NULL: as for probe(). */
    void (*list)(apapi_component_f visit, void *context);

    /**
     * Open all events of a component. Every descriptor is close-on-exec. First readings that are
     * not yet meaningful are made and dropped before it returns.
     * @return the reader, freed by close(); NULL with errno, and the reason in `err`
     *         ENOENT  no such component
     *         ENODEV  no hardware for it here
     *         EACCES  it exists, but this user may not read it
     *         ENOSYS  the source is not available here
     *         EINVAL  a setting that it needs is missing or wrong
     *         ENOMEM, EIO
     */
    struct apapi_reader *(*open)(const char *component, struct apapi_error *err);

    /**
     * Read all events.
     * @param readings  result: reader->count of them, in the order of reader->events
     * Does not allocate, lock, log or read the environment.
     */
    void (*read)(struct apapi_reader *reader, struct apapi_reading *readings);

    /**
     * Describe an event in one line, for people: "energy of CPU package 0". NULL: there is nothing
     * to add to the event's kind and domain.
     * @param index  of reader->events
     * @param text   result, of `size` bytes; "": nothing to add
     */
    void (*describe)(const struct apapi_reader *reader, size_t index, char *text, size_t size);

    /** Close and free the reader. NULL is allowed. errno is preserved. */
    void (*close)(struct apapi_reader *reader);
};

#define SOURCE_OVERFLOW_MAX 64 /* counters of one thread */

/** An event of the CPU that is counted in one thread. */
struct source_overflow_counter {
    const char *event; /* as PAPI names it; borrowed while it counts */
    int threshold;     /* > 0 */
    bool software;     /* a timer looks at the count */
    /**
     * Called by a signal handler in the interrupted thread: may only do what is allowed there.
     * @param counters  the counters that have passed their thresholds, `count` of them
     * @param address   program counter
     * @param context   ucontext_t
     */
    void (*handler)(struct source_overflow_counter *const counters[], size_t count,
                    const void *address, const void *context);
    struct overflow_set *set; /* for the source, as is `code`; NULL: it does not count */
    int code;
};

/**
 * Interrupts of the calling thread, each time that an event of the CPU was counted `threshold`
 * times. Any thread may have counters; all counters of a thread have the same `software`.
 */
struct source_overflow {
    /**
     * Count from now on. The thread's other counters begin again.
     * @return 0; -1 with errno ENOENT (no such event), ENOTSUP (no interrupts for it), ENOSYS (no
     *         PAPI), EBUSY (PAPI counts in this thread for someone else, or with the other value of
     *         `software`), ENOSPC, ENOMEM, EINVAL, EIO
     */
    int (*begin)(struct source_overflow_counter *counter, struct apapi_error *err);

    /** @return whether the counter counts in the calling thread. */
    bool (*is_mine)(const struct source_overflow_counter *counter);

    /** Stop counting. The thread's other counters begin again. Any thread. */
    void (*end)(struct source_overflow_counter *counter);
};

/*
 * All sources, one constant each: a new source is a file with its constant and a line in
 * apapi/components.def.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls" /* some sources have several components */
#define APAPI_WAY(source, name) extern const struct apapi_source apapi_source_##source;
#define APAPI_COMPONENT(name, ways) ways
#include "apapi/components.def"
#undef APAPI_COMPONENT
#undef APAPI_WAY
#pragma GCC diagnostic pop
extern const struct apapi_source apapi_source_node; /* relays what the node sampler reads */
extern const struct source_overflow apapi_overflow_papi;
extern const struct source_overflow *const apapi_route_overflow; /* PAPI's, or a stub */

/* --- for sources (source.c) ------------------------------------------------------------------- */

/**
 * @return a setting of a site or user for a source: the environment variable APAPI_<SECTION>_<KEY>
 * in capitals, or else the value given to apapi_source_set(), or NULL
 * @param section, key  lower case, [a-z0-9_]: "ipmi", "host"
 * The text is valid until the setting changes. For open() only, not while sampling.
 */
const char *source_setting(const char *section, const char *key);

/*
 * Events that the users' and the site's lists name: "rapl:::THERMAL_SPEC:*". A pattern for all
 * events of a component, "rapl:::*", names none. One thread at a time may add patterns.
 */

/**
 * Note a pattern of a list, before its component is opened. Events that measure nothing, and would
 * make each reading cost more, exist only if a pattern names them. Beyond 512, none is noted.
 */
void wanted_events_add(const char *pattern);

/** @return whether a pattern names this event. */
bool wanted_events_name(const char *event);

/** @return the number of patterns of the component that fit no event of the reader. */
size_t wanted_events_missing(const char *component, const struct apapi_reader *reader);

#define OPEN_FILES_MAX 4096

/*
 * Foreign libraries open files without O_CLOEXEC. In a program that uses libapapi, other threads
 * may open files at the same time, for programs that they start. So only meters are marked: files
 * in /sys and /proc, performance events, devices of CPUs, GPUs and BMCs. APAPI's own programs take
 * care of all others where they start a program.
 */

/** The open descriptors below OPEN_FILES_MAX. */
struct open_files {
    uint64_t bits[OPEN_FILES_MAX / 64];
};

/** Note which descriptors are open now. */
void open_files_note(struct open_files *files);

/** Mark the meters that were opened since then close-on-exec. errno is preserved. */
void open_files_close_new_on_exec(const struct open_files *before);

/* --- for those who measure (catalog.c, node_source.c) ----------------------------------------- */

/*
 * One thread at a time calls open() and close() of a source. A call that does not return delays
 * others for one second at most.
 */

/** @return as apapi_source.open; NULL with errno EBUSY: another thread is stuck in the source. */
struct apapi_reader *source_open(const struct apapi_source *source, const char *component,
                                 struct apapi_error *err);

/** Close a reader. If a thread is stuck in its source, the reader is left open. */
void source_close(struct apapi_reader *reader);

/** @return whether any source knows the component. */
bool apapi_route_known(const char *component);

/**
 * Check a component that has no row in components.def.
 * @return 0: PAPI knows it; -1 with errno ENOENT, ENOSYS (PAPI cannot be asked), `err` says why.
 */
int apapi_route_papi_check(const char *component, struct apapi_error *err);

#define COMPONENT_NAMES_MAX 32

/** Names of components, each once, in the order in which they were given. */
struct component_names {
    size_t count;
    char name[COMPONENT_NAMES_MAX][APAPI_COMPONENT_SIZE];
};

/**
 * Split "rapl:nvml", or take "all": all components of components.def, except the estimate.
 * @return 0; -1 with errno EINVAL
 */
int component_names_parse(const char *list, struct component_names *names, struct apapi_error *err);

/** @return 0; -1 with errno ENOENT: no source knows one of them. */
int component_names_check(const struct component_names *names, struct apapi_error *err);

/** Fail for a name that no source knows. @return -1 with errno ENOENT; `err` has similar names. */
int component_names_refuse(const char *name, struct apapi_error *err);

/* The node sampler is asked for no shorter interval: the way there and back takes time [ns]. */
#define APAPI_ROUTE_RELAY_NS UINT64_C(100000000)

/**
 * Open a component for a session: as apapi_catalog_open(), but the node sampler reads it if it can
 * and if `order` is NULL.
 * @param interval_ns  between two readings
 */
struct apapi_reader *apapi_route_open(const char *component, const char *order,
                                      uint64_t interval_ns, struct apapi_error *err);

/** @return name of the source that reads the meters, here or in the node sampler; static. */
const char *apapi_route_source(const char *component, const struct apapi_reader *reader);

/**
 * Have the node sampler read the components that are opened from now on, if it has them.
 * @param live_dir  NULL: it reads none
 */
void node_source_use(const char *live_dir, const char *node);

#endif
