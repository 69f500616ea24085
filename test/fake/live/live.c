/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake-live DIR FILE: live pages in DIR as the JSON array in FILE describes them, as samplers would
 * write them. It prints "ready", holds them until its standard input ends, and then removes them.
 *
 * A page is {"node": "n1", "job": 17, "step": "0", "gid": 1000, "state": "running", "age_s": 12,
 * "start_s": 1795168800 (since 1970, if it shall not be 12 s ago by the calendar, too),
 * "user": ..., "domains": {"package": SLOT}, "events": [{"name": ..., "unit": ..., "kind": 0,
 * "domain": 1, "counter": true, SLOT}]}; members of the head have its names. A SLOT is {"now": 200,
 * "total": 100, "age_s": 0.1, "uncertainty_j": 0.5, "interval_s": 0.1, "readings": 10, "failed":
 * true, "estimated": true, "torn": true}. "locked": false is a page whose writer was killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "apapi/live.h"

#define NS_PER_S 1e9

static const char *const domain_names[APAPI_LIVE_DOMAINS] = {"",     "package", "dram", "gpu",
                                                             "core", "uncore",  "psys", "node"};

static void fail(const char *what)
{
    fprintf(stderr, "fake-live: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static double number(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static uint32_t whole(const json_t *object, const char *key, uint32_t otherwise)
{
    return (uint32_t)number(object, key, otherwise);
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    return value ? value : "";
}

#define PUT_TEXT(member, value) snprintf(member, sizeof(member), "%s", value)

static uint64_t ago(double seconds)
{
    return clock_ns(CLOCK_MONOTONIC) - (uint64_t)(seconds * NS_PER_S);
}

static void put_slot(struct apapi_live_slot *slot, const json_t *wanted)
{
    double age_s = number(wanted, "age_s", 0.01);

    *slot = (struct apapi_live_slot){
        .sequence = json_is_true(json_object_get(wanted, "torn")) ? 3 : 2,
        .time_ns = age_s >= 0 ? ago(age_s) : 0,
        .total = number(wanted, "total", NAN),
        .rate = number(wanted, "now", NAN),
        .uncertainty_j = number(wanted, "uncertainty_j", 0),
        .readings = whole(wanted, "readings", 10),
        .interval_ns = (uint64_t)(number(wanted, "interval_s", 0.1) * NS_PER_S),
        .flags = APAPI_LIVE_MEASURED};
    if (json_is_true(json_object_get(wanted, "failed"))) {
        slot->flags |= APAPI_LIVE_FAILED;
    }
    if (json_is_true(json_object_get(wanted, "estimated"))) {
        slot->flags |= APAPI_LIVE_ESTIMATED;
    }
}

static void put_head(struct apapi_live_head *head, const json_t *page)
{
    double age_s = number(page, "age_s", 60);
    const char *state = text(page, "state");

    memcpy(head->magic, APAPI_LIVE_MAGIC, sizeof head->magic);
    head->version = whole(page, "version", APAPI_LIVE_VERSION);
    head->size = sizeof(struct apapi_live_page);
    head->state = strcmp(state, "starting") == 0 ? APAPI_LIVE_STARTING
                  : strcmp(state, "ended") == 0  ? APAPI_LIVE_ENDED
                                                 : APAPI_LIVE_RUNNING;
    head->budget_j = number(page, "budget_j", 0);
    head->budget_used_j = number(page, "budget_used_j", 0);
    head->tasks = 1;
    head->job = whole(page, "job", APAPI_LIVE_UNKNOWN);
    head->array_job = whole(page, "array_job", APAPI_LIVE_UNKNOWN);
    head->array_task = whole(page, "array_task", APAPI_LIVE_UNKNOWN);
    head->het_job = whole(page, "het_job", APAPI_LIVE_UNKNOWN);
    head->het_offset = whole(page, "het_offset", APAPI_LIVE_UNKNOWN);
    head->uid = whole(page, "uid", APAPI_LIVE_UNKNOWN);
    head->writer = (uint32_t)getpid();
    if (head->state != APAPI_LIVE_STARTING) {
        head->start_ns = ago(age_s);
        head->start_unix_ns = (int64_t)clock_ns(CLOCK_REALTIME) - (int64_t)(age_s * NS_PER_S);
        if (json_object_get(page, "start_s")) {
            head->start_unix_ns = (int64_t)number(page, "start_s", 0) * 1000000000;
        }
    }
    head->end_ns = head->state == APAPI_LIVE_ENDED ? ago(1) : 0;
    PUT_TEXT(head->step, text(page, "step"));
    PUT_TEXT(head->cluster, text(page, "cluster"));
    PUT_TEXT(head->node, text(page, "node"));
    PUT_TEXT(head->user, text(page, "user"));
    PUT_TEXT(head->job_name, text(page, "job_name"));
}

static void put_figures(struct apapi_live_page *page, const json_t *wanted)
{
    const json_t *events = json_object_get(wanted, "events");
    const json_t *domains = json_object_get(wanted, "domains");

    for (int d = 1; d < APAPI_LIVE_DOMAINS; d++) {
        const json_t *slot = json_object_get(domains, domain_names[d]);

        if (slot) {
            put_slot(&page->domains[d], slot);
        }
    }
    for (size_t i = 0; i < json_array_size(events) && i < APAPI_LIVE_EVENTS; i++) {
        const json_t *event = json_array_get(events, i);

        PUT_TEXT(page->names[i].name, text(event, "name"));
        PUT_TEXT(page->names[i].unit, text(event, "unit"));
        page->names[i].kind = whole(event, "kind", APAPI_KIND_ENERGY);
        page->names[i].domain = whole(event, "domain", APAPI_DOMAIN_NONE);
        page->names[i].accumulates = json_is_true(json_object_get(event, "counter"));
        put_slot(&page->events[i], event);
        page->head.event_count++;
    }
}

static void write_page(const char *path, const json_t *wanted)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0440);
    struct apapi_live_page *page;

    if (file < 0 || ftruncate(file, sizeof *page)) {
        fail(path);
    }
    if (json_object_get(wanted, "gid") && fchown(file, (uid_t)-1, whole(wanted, "gid", 0))) {
        fail(path);
    }
    if (!json_is_false(json_object_get(wanted, "locked")) && fcntl(file, F_OFD_SETLK, &lock)) {
        fail(path);
    }
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
        fail(path);
    }
    put_figures(page, wanted);
    put_head(&page->head, wanted);
    munmap(page, sizeof *page); /* the file stays open, and locked */
}

/* @return the path of a page. "file" is a name that is not made of the page's own texts. */
static void page_path(char *path, size_t size, const char *dir, const json_t *page)
{
    snprintf(path, size, "%s/%s", dir, *text(page, "file") ? "n1" : text(page, "node"));
    if (mkdir(path, 0755) && errno != EEXIST) {
        fail(path);
    }
    if (*text(page, "file")) {
        snprintf(path, size, "%s/n1/%s", dir, text(page, "file"));
    } else {
        snprintf(path, size, "%s/%s/%u.%s", dir, text(page, "node"), whole(page, "job", 0),
                 text(page, "step"));
    }
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *pages = argc == 3 ? json_load_file(argv[2], 0, &error) : NULL;
    char path[4096], byte;

    if (!json_is_array(pages)) {
        fprintf(stderr, "fake-live: %s\n", argc == 3 ? error.text : "DIR FILE");
        return 2;
    }
    for (size_t i = 0; i < json_array_size(pages); i++) {
        page_path(path, sizeof path, argv[1], json_array_get(pages, i));
        write_page(path, json_array_get(pages, i));
    }
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    for (size_t i = 0; i < json_array_size(pages); i++) {
        page_path(path, sizeof path, argv[1], json_array_get(pages, i));
        unlink(path);
    }
    json_decref(pages);
    return 0;
}
