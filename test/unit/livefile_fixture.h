/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_LIVEFILE_FIXTURE_H
#define UNIT_LIVEFILE_FIXTURE_H
/* Live pages of a step, in a folder on a memory file system. */
#include <fcntl.h>

#include "apapi/live.h"
#include "sampler/livefile.h"
#include "session/live.h"
#include "unit/temporary.h"

#define USER 4711
#define OTHER 4712

static struct step step;
static char live_dir[PATH_MAX];

static struct livefile live;

static struct apapi_error err;

static inline void make_live(void)
{
    make_base_below("/dev/shm");
    assert_int_equal(chmod(base, 0755), 0);
    memset(&step, 0, sizeof step);
    step.id = APAPI_IDENTITY_UNKNOWN;
    step.id.job = 4711;
    step.id.uid = geteuid() == 0 ? USER : geteuid();
    strcpy(step.id.step, "0");
    strcpy(step.id.node, "n1");
    snprintf(live_dir, sizeof live_dir, "%s/live", base);
    step.config.live_dir = live_dir;
    live = LIVEFILE_NONE;
    err.text[0] = '\0';
}

static inline void remove_live(void)
{
    livefile_close(&live);
    remove_base();
}

/* The part of a session. */
static inline void publish(struct livefile *file)
{
    fail_if(livefile_create(file, &step, &err), "%s", err.text);
    live_page_init(file->page);
    fail_if(livefile_publish(file, &step, &err), "%s", err.text);
}

static inline int count_page(const struct apapi_live_page *page, void *jobs)
{
    size_t length = strlen(jobs);

    snprintf((char *)jobs + length, 256 - length, "%.*s/%u.%.*s ", (int)sizeof page->head.node,
             page->head.node, page->head.job, (int)sizeof page->head.step, page->head.step);
    return 0;
}

/* A path below the folder of the step's user, which lives as long as those of in_base(). */
static inline const char *in_pages(const char *name)
{
    char below[128];

    snprintf(below, sizeof below, "live/n1/%u/%s", step.id.uid, name);
    return in_base(below);
}

/* @return the pages that a scan hands over: "n1/4711.0 ". */
static inline const char *scan(struct apapi_live_counts *counts)
{
    static char jobs[256];

    jobs[0] = '\0';
    fail_if(apapi_live_scan(live_dir, count_page, jobs, counts, &err), "%s", err.text);
    return jobs;
}

#define LIVE(name) TEST_WITH(name, make_live, remove_live)

#endif
