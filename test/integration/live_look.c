/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints live pages for tests, through the public header alone.
 *   live_look PAGE          what it says now
 *   live_look --end PAGE    what it says when its step has ended
 *   live_look --scan DIR    the pages of a folder, and how many of the others there are
 * A line "domain NAME TOTAL TIME_NS RATE READINGS FLAGS" for each domain, "event NAME ..." for each
 * event.
 */
#include <apapi/live.h>
#include <stdio.h>
#include <time.h>

static void print_slot(const char *what, const char *name, const struct apapi_live_slot *slot)
{
    struct apapi_live_slot copy;

    if (apapi_live_read(slot, &copy) && copy.flags & APAPI_LIVE_MEASURED) {
        printf("%s %s %.9g %llu %.9g %llu %llu\n", what, name, copy.total,
               (unsigned long long)copy.time_ns, copy.rate, (unsigned long long)copy.readings,
               (unsigned long long)copy.flags);
    }
}

static void print_page(const struct apapi_live_page *page)
{
    const struct apapi_live_head *head = &page->head;

    printf("page %s/%u.%s state %u uid %u tasks %u user %s cluster %s name %s\n", head->node,
           head->job, head->step, apapi_live_state(page), head->uid, head->tasks, head->user,
           head->cluster, head->job_name);
    for (int d = 1; d < APAPI_DOMAINS; d++) {
        print_slot("domain", apapi_domain_name((enum apapi_domain)d), &page->domains[d]);
    }
    for (uint32_t i = 0; i < apapi_live_event_count(page); i++) {
        print_slot("event", page->names[i].name, &page->events[i]);
    }
}

static int print_found(const struct apapi_live_page *page, void *unused)
{
    (void)unused;
    printf("%s/%u.%s\n", page->head.node, page->head.job, page->head.step);
    return 0;
}

static int scan(const char *dir)
{
    struct apapi_live_counts counts;
    struct apapi_error err;

    if (apapi_live_scan(dir, print_found, NULL, &counts, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("pages %zu foreign %zu dead %zu broken %zu\n", counts.pages, counts.foreign, counts.dead,
           counts.broken);
    return 0;
}

static void await_end(const struct apapi_live_page *page)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    while (apapi_live_state(page) != APAPI_LIVE_ENDED) {
        nanosleep(&pause, NULL);
    }
}

int main(int argc, char **argv)
{
    bool to_the_end = argc == 3 && strcmp(argv[1], "--end") == 0;
    const struct apapi_live_page *page;
    struct apapi_error err;

    if (argc == 3 && strcmp(argv[1], "--scan") == 0) {
        return scan(argv[2]);
    }
    page = apapi_live_open(to_the_end ? argv[2] : argv[1], &err);
    if (!page) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (to_the_end) {
        printf("waiting\n");
        fflush(stdout);
        await_end(page);
    }
    print_page(page);
    apapi_live_close(page);
    return 0;
}
