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
#include "record/members.h"
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

/** Write the path of a node, "outer/inner"; if the path is too long, only its end. */
void nodes_path(const struct nodes *nodes, size_t node, char path[APAPI_REGION_PATH_SIZE]);

/* --- bands ---------------------------------------------------------------------------------- */

/**
 * The time of each column of a fit, in bins of equal width from the start of the measurement. When
 * all bins are used, pairs of bins are joined. Nothing is allocated.
 */
struct bands {
    uint64_t origin_ns; /* CLOCK_MONOTONIC */
    uint64_t bin_ns;
    size_t first, end;                            /* bins of the span, see bands_span() */
    float part[APAPI_REGION_BINS];                /* share of the span that lies in each bin */
    float time_s[APAPI_REGION_BINS][FIT_COLUMNS]; /* one row per bin: few cache lines change */
};

/* --- programs ------------------------------------------------------------------------------- */

#define OBSERVED_THREADS_MAX 4096 /* of all programs of a step */
#define OBSERVED_NODES_MAX 65536  /* of all programs of a step */
#define OBSERVED_NEWS_MAX 4096    /* new nodes that one look takes */

/**
 * A program of the step, with the page that it shares. Whatever the program writes into the page,
 * or does with its file: only the page, and only memory that the program has put there, is read,
 * and no times are taken that exceed the time that has passed.
 */
struct observed {
    struct observed *next;
    const struct page_program *page;
    void *map; /* `page`, to be unmapped; NULL: the page is the caller's */
    int file;  /* memfd of the page, if `map` is not NULL */
    enum page_clock clock;
    struct page_results *results; /* NULL: none */
    uint32_t threads;             /* slots that are read */
    uint32_t lacked;              /* most slots that were not, at any look */
    uint32_t known;               /* nodes that have a place in `nodes` */
    bool cut;                     /* no room for all nodes: further ones belong to the rest */
    uint16_t node[PAGE_NODES];
    uint64_t seen[PAGE_NODES];   /* own ticks of all threads together */
    uint64_t passes[PAGE_NODES]; /* that all threads together have begun */
    bool looked;
    double owed_s; /* time that has passed since all nodes of the program were counted */
};

/** A moment on the clocks that programs use. */
struct observe_moment {
    uint64_t ns;      /* CLOCK_MONOTONIC */
    uint64_t ticks;   /* PAGE_CLOCK_CPU */
    double tick_ns;   /* length of a tick */
    double elapsed_s; /* since the moment before */
    double passed_s;  /* since the step began */
};

/**
 * Map the page of a program.
 * @param file  memfd from another process, which is not trusted; stays open
 * @return the program, free it with observed_destroy(). NULL with errno and `err`:
 *         EPERM  the file's size could change, or it is not in tmpfs
 *         EPROTO  the file is not a page of regions
 */
struct observed *observed_create(int file, struct apapi_error *err);

/** Set up `program`, in the caller's memory, for a page that has been checked and stays mapped. */
void observed_begin(struct observed *program, const struct page_program *page);

void observed_destroy(struct observed *program);

/* --- the observer --------------------------------------------------------------------------- */

#define OBSERVE_PROGRAMS_MAX 1024
#define OBSERVE_DEPTH 32 /* greatest depth of the shell's regions */

/* Columns of the fits beside those of struct fit. */
enum { COLUMN_UNMARKED = FIT_PARTS, COLUMN_COMMON, COLUMN_FIRST };
#define COLUMN_NONE FIT_OUTSIDE /* no region has this column */

/** The rows of a domain, and the sums at which the next row begins. */
struct observe_domain {
    struct fit *fit; /* NULL: no program has come while the domain was measured */
    uint64_t time_ns;
    double total_j;
    double times_s[FIT_COLUMNS], passes[FIT_COLUMNS];
};

struct observe_energy {
    double energy_j, within_j, since_s; /* energy_j +- within_j; since_s: since the last reading */
};

/** A region of the step's shell. */
struct observe_shell {
    size_t node;
    uint64_t begin_ns;
    struct observe_energy begin[APAPI_DOMAINS];
};

/** Room that the step's programs still have. Each page takes from it as it grows. */
struct observed_room {
    uint32_t threads, nodes, news;
};

struct observer {
    pthread_mutex_t lock;
    atomic_bool active;
    const struct apapi_live_page *live;
    struct observed *programs;
    size_t program_count;
    struct ticks_moment first; /* when the observer was created */
    uint64_t looked_ns;
    struct observed_room room;
    bool ending; /* the room only gets smaller */
    struct nodes nodes;
    uint16_t columns[NODES_MAX]; /* by node */
    size_t column_count;
    double times_s[FIT_COLUMNS]; /* by column, since the beginning */
    double passes[FIT_COLUMNS];  /* by column of a single region, since the beginning */
    double common_s[NODES_MAX];  /* by node: time that is in COLUMN_COMMON */
    unsigned held;               /* number of users of the columns; > 0: the columns stay */
    double news_s[NODES_MAX];    /* by node: time of all threads since the last look */
    double threads_s;            /* the sum of news_s */
    double news_passes[NODES_MAX];
    struct bands bands;
    struct observe_domain domains[APAPI_DOMAINS];
    size_t depth;
    struct observe_shell shell[OBSERVE_DEPTH];
    struct fom_sums foms;       /* of the programs that have ended, added up */
    struct fom_sums shell_foms; /* the last ones of `apapi mark` */
    struct apapi_region_losses losses;
};

/**
 * Add the time that a program's threads have spent in each node since the last look to `news_s` and
 * `threads_s`, and the passes that they began to `news_passes`. Does not allocate or wait. Makes
 * system calls only if there are new threads or nodes: usually two.
 */
void observed_look(struct observer *observer, struct observed *program,
                   const struct observe_moment *now);

/** After the last look at a program, add its figures of merit and how often each node was entered,
 * by how many threads. */
void observed_count(struct observer *observer, const struct observed *program);

/** Add a program. @return 0; -1 with errno ENOSPC (too many programs or threads), ENOMEM. */
int observe_add(struct observer *observer, struct observed *program);

/** Destroy a program that has ended. Its times are kept. */
void observe_remove(struct observer *observer, struct observed *program);

/**
 * Note that the step has ended. From now on, the room of a program that ends goes to no other one:
 * however many programs end now, no more of their pages is read than in one look.
 */
void observe_end(struct observer *observer);

/* The step's shell has regions, too: time in which no program's thread runs is the innermost's. */

/** Begin a region. @return 0; -1 with errno ENOMEM, E2BIG (too many regions within each other). */
int observe_shell_begin(struct observer *observer, const char *name);

/** @param energy  of the node since the region began. @return 0; -1, ENOENT: no such region */
int observe_shell_read(struct observer *observer, const char *name, struct observe_energy *energy);

/** Read as observe_shell_read(), and end the region. */
int observe_shell_end(struct observer *observer, const char *name, struct observe_energy *energy);

/** Add a program's figures of merit. @return number of those without room */
uint64_t foms_add_program(struct fom_sums *foms, const struct observed *program);

/** Take a figure of merit of `apapi mark`. @return 0; -1 with errno EINVAL, ENOSPC */
int observe_fom(struct observer *observer, const char *name, double value, const char *unit);

/** Write the powers known so far to the programs' result pages. @return time of next call [ns] */
uint64_t observe_publish(struct observer *observer, uint64_t now_ns);

#endif
