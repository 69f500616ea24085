/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OBSERVE_OBSERVER_H
#define OBSERVE_OBSERVER_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "apapi/error.h"
#include "apapi/live.h"
#include "apapi/region_result.h"
#include "measure/fit.h"
#include "regions/page.h"

/* How the regions of a step's programs are added up; for the files of this folder. */

/* --- nodes ---------------------------------------------------------------------------------- */

#define NODES_MAX 1024
enum { NODES_UNMARKED, NODES_REST, NODES_FIRST }; /* the first two have no name */

struct nodes_one {
    uint32_t parent; /* a node before this one, or NODES_UNMARKED */
    uint32_t programs, threads;
    uint64_t count;
    double time_s;
    char name[PAGE_NAME_SIZE];
};

/**
 * The regions of all programs of a step on this node. The same name in the same region is the same
 * node, whichever program has it.
 */
struct nodes {
    size_t count;
    uint64_t lost; /* names that have no node */
    struct nodes_one list[NODES_MAX];
};

/** @return the node; NODES_REST: there is no room for it. Does not allocate. */
size_t nodes_find(struct nodes *nodes, size_t parent, const char *name);

/** Write "outer/inner"; of a longer path its end. */
void nodes_path(const struct nodes *nodes, size_t node, char path[APAPI_REGION_PATH_SIZE]);

/* --- bands ---------------------------------------------------------------------------------- */

/**
 * When each column of a fit had its time: in bins of equal width from the start of the measurement.
 * When all are used, pairs are joined. No allocation.
 */
struct bands {
    uint64_t origin_ns; /* CLOCK_MONOTONIC */
    uint64_t bin_ns;
    size_t first, end;                            /* bins of the span */
    float part[APAPI_REGION_BINS];                /* of the span in each of these */
    float time_s[APAPI_REGION_BINS][FIT_COLUMNS]; /* of a moment in one row: few cache lines */
};

/* --- programs ------------------------------------------------------------------------------- */

#define OBSERVED_THREADS_MAX 4096 /* of all programs of a step */
#define OBSERVED_NODES_MAX 65536  /* the same */
#define OBSERVED_NEWS_MAX 4096    /* nodes that come in one look */

/**
 * A program of the step, by the page that it shares. Whatever the program writes into it, or does
 * with the file: what is read stays within the page, within the memory that the program has put
 * there, and within the time that has passed.
 */
struct observed {
    struct observed *next;
    const struct page_program *page;
    void *map; /* the same, to be unmapped; NULL: it is the caller's */
    int file;  /* of it, if it is mapped */
    enum page_clock clock;
    struct page_results *results; /* NULL: none */
    uint32_t threads;             /* slots that are read */
    uint32_t known;               /* nodes that have a place in `nodes` */
    bool cut;                     /* it has more nodes than there is room for: they are the rest */
    uint16_t node[PAGE_NODES];
    uint64_t seen[PAGE_NODES];   /* own ticks of all threads together */
    uint64_t passes[PAGE_NODES]; /* that these have begun */
    bool looked;
    double owed_s; /* time that has passed since all of its nodes were counted */
};

/** A moment on the clocks that programs use. */
struct observe_moment {
    uint64_t ns;      /* CLOCK_MONOTONIC */
    uint64_t ticks;   /* PAGE_CLOCK_CPU */
    double tick_ns;   /* length of one of these */
    double elapsed_s; /* since the moment before */
    double passed_s;  /* since the step began */
};

/**
 * Map a page.
 * @param file  of a stranger; stays open
 * @return the program, free it with observed_destroy(). NULL with errno and `err`:
 *         EPERM  its size could change, or it is no memory of the usual kind
 *         EPROTO  not a page of regions
 */
struct observed *observed_create(int file, struct apapi_error *err);

/** The same of a page that has been checked and stays mapped, in the caller's memory. */
void observed_begin(struct observed *program, const struct page_program *page);

void observed_destroy(struct observed *program);

/* --- the observer --------------------------------------------------------------------------- */

#define OBSERVE_PROGRAMS_MAX 1024
#define OBSERVE_DEPTH 32 /* of the shell's regions */

/* Columns of the fits beside those of struct fit. */
enum { COLUMN_UNMARKED = FIT_PARTS, COLUMN_COMMON, COLUMN_FIRST };
#define COLUMN_NONE FIT_OUTSIDE /* which is no region's */

/** The rows of a domain, and where the next one begins. */
struct observe_domain {
    struct fit *fit; /* NULL: no program has come while it was measured */
    uint64_t time_ns;
    double total_j;
    double times_s[FIT_COLUMNS], passes[FIT_COLUMNS];
};

struct observe_energy {
    double energy_j, within_j, since_s; /* it is +- within_j; since_s: the latest reading */
};

/** A region of the step's shell. */
struct observe_shell {
    size_t node;
    uint64_t begin_ns;
    struct observe_energy begin[APAPI_DOMAINS];
};

/** Room that its programs still have. Each page takes from it as it grows. */
struct observed_room {
    uint32_t threads, nodes, news;
};

struct observer {
    pthread_mutex_t lock;
    atomic_bool active;
    const struct apapi_live_page *live;
    struct observed *programs;
    size_t program_count;
    struct ticks_moment first; /* when it was created */
    uint64_t looked_ns;
    struct observed_room room;
    bool ending; /* the room only gets smaller */
    struct nodes nodes;
    uint16_t columns[NODES_MAX]; /* by node */
    size_t column_count;
    double times_s[FIT_COLUMNS]; /* by column, since the beginning */
    double passes[FIT_COLUMNS];  /* the same, where the column is one region's */
    double common_s[NODES_MAX];  /* by node: time that is in COLUMN_COMMON */
    unsigned held;               /* somebody works with these columns: they stay */
    double news_s[NODES_MAX];    /* by node, of all threads: since the last look */
    double threads_s;            /* the sum of these */
    double news_passes[NODES_MAX];
    struct bands bands;
    struct observe_domain domains[APAPI_DOMAINS];
    size_t depth;
    struct observe_shell shell[OBSERVE_DEPTH];
    size_t fom_count;
    struct apapi_fom foms[APAPI_FOMS_MAX];
    struct apapi_region_losses losses;
};

/**
 * Add the time that a program's threads have spent in each node since the last look to `news_s` and
 * `threads_s`, and the passes that they began to `news_passes`. Does not allocate or wait. Makes
 * two system calls if there are new threads and nodes, none else.
 */
void observed_look(struct observer *observer, struct observed *program,
                   const struct observe_moment *now);

/** Add, after the last look, how often each node was entered and by how many threads. */
void observed_count(struct observer *observer, const struct observed *program);

/** A program has come. @return 0; -1 with errno ENOSPC (too many), ENOMEM. */
int observe_add(struct observer *observer, struct observed *program);

/** It has ended: its times are kept, and it is destroyed. */
void observe_remove(struct observer *observer, struct observed *program);

/**
 * The step has ended. What programs have had is given to no other one: however many end now, no
 * more of their pages is read than in one look.
 */
void observe_end(struct observer *observer);

/* The step's shell has a region, too: time without any thread in a program's is that region's. */

/** @return 0; -1 with errno ENOMEM, E2BIG (too many regions within each other). */
int observe_shell_begin(struct observer *observer, const char *name);

/** @param energy  of the node since its begin. @return 0; -1 with errno ENOENT */
int observe_shell_read(struct observer *observer, const char *name, struct observe_energy *energy);

/** The same, and end it. */
int observe_shell_end(struct observer *observer, const char *name, struct observe_energy *energy);

/** Which figures of merit a program has given. */
struct observe_foms {
    bool given[APAPI_FOMS_MAX];
    double values[APAPI_FOMS_MAX];
};

/** Take a figure of merit of a program. @return 0; -1 with errno EINVAL, ENOSPC */
int observe_fom(struct observer *observer, struct observe_foms *given, const char *name,
                double value, const char *unit);

/** Put what is known so far into the result pages of the programs. @return when to do so again */
uint64_t observe_publish(struct observer *observer, uint64_t now_ns);

#endif
