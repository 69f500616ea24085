/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STEPS_VIEW_H
#define APAPI_STEPS_VIEW_H
#include <stdio.h>

#include "apapi/live.h"
#include "apapi/record.h"
#include "cli/jobs.h"
#include "cli/totals/row_fields.h"

/* One look at the steps that run on this machine. */

#define TOP_TOTAL APAPI_DOMAIN_NONE        /* its place is that of the domains that add up */
#define TOP_STALE_NS UINT64_C(10000000000) /* or three intervals, if they are longer */

/** A figure of a page. */
struct top_figure {
    bool measured;
    bool estimated;
    bool failed;  /* the latest reading of it, or of a part */
    bool stale;   /* not read for so long that it may be another one now */
    double now;   /* [W], [unit/s], or a gauge's value; NaN: unknown */
    double total; /* [J], or in the event's unit; NaN: unknown */
    double age_s; /* since the latest good reading; NaN: there is none */
};

struct top_event {
    char name[APAPI_NAME_SIZE];
    char unit[APAPI_UNIT_SIZE];         /* of the total */
    char now_unit[APAPI_UNIT_SIZE + 2]; /* of the present value */
    enum apapi_kind kind;
    enum apapi_domain domain;
    struct top_figure figure;
};

/** A step on a node. */
struct top_step {
    struct apapi_identity id;
    char name[64]; /* "17_3.0" */
    enum apapi_live_state state;
    int64_t start_unix_ns; /* 0: not known */
    double elapsed_s;      /* NaN: it has not begun */
    struct top_figure domains[APAPI_DOMAINS];
    struct top_event *events;
    size_t event_count;
};

/** Each meter of a node once, however many steps are told of it. */
struct top_node {
    char name[APAPI_TEXT_SIZE];
    size_t steps;
    struct top_figure domains[APAPI_DOMAINS];
};

struct top_view {
    int64_t unix_ns;  /* when */
    uint64_t mono_ns; /* the same, CLOCK_MONOTONIC */
    struct top_step *steps;
    size_t count, room;
    struct top_node *nodes;
    size_t node_count;
    struct apapi_live_counts counts;
};

/** Which steps are wanted; NULL: any. */
struct top_filter {
    struct job_list jobs;
    const char *users; /* names or uids */
    const char *nodes; /* as Slurm writes them */
};

enum top_sort { TOP_BY_JOB, TOP_BY_POWER, TOP_BY_ENERGY, TOP_BY_TIME };

/** How a view is shown. */
struct top_form {
    enum top_sort sort;
    enum report_unit unit; /* of energies in a table */
    bool events, nodes, verbose;
    bool filtered;    /* not all steps are wanted */
    const char *hint; /* behind the title; NULL: none */
    size_t width;     /* columns; 0: no limit */
};

/** Put a page into the view: for apapi_live_scan(). 0; -1 with errno ENOMEM. */
int top_add(struct top_view *view, const struct apapi_live_page *page);

/** @return whether the page's step is wanted. */
bool top_wants(const struct top_filter *filter, const struct apapi_live_page *page);

/** All pages have been added: work out the nodes, and sort. 0; -1 with errno ENOMEM. */
int top_work_out(struct top_view *view, enum top_sort sort);

/** Fill in the nodes, of steps in the order of their nodes. 0; -1 with errno ENOMEM. */
int top_sum_nodes(struct top_view *view);

/** Sort the steps; power, energy and time: the greatest first, unknown ones last. */
void top_sort(struct top_view *view, enum top_sort sort);

/** Two figures of different meters together; what one of them lacks, the sum lacks. */
struct top_figure top_sum(const struct top_figure *a, const struct top_figure *b);

/** What adds up of a set of domains, into its place of the total. */
void top_add_up(struct top_figure domains[APAPI_DOMAINS]);

/** Free what it owns, and empty it. */
void top_clear(struct top_view *view);

/** For people. 0; -1 with errno ENOMEM. */
int top_print_text(const struct top_view *view, const struct top_form *form, FILE *out);

/** For programs: one line on standard output. 0; -1 with errno ENOMEM. */
int top_print_json(const struct top_view *view, bool events);

#endif
