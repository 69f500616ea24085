/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/region_watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "atime/private_page.h"
#include "base/thread.h"
#include "regions/observe/observe.h"

struct region_watch {
    struct private_page page;
    pthread_mutex_t lock; /* of `observer` */
    struct observer *observer;
    struct serve *serve; /* NULL: no thread */
    pthread_t thread;
    int stop; /* readable: the thread is to end */
};

/* In a measured step, the step has the regions; under another atime, that one. */
static bool region_watch_is_elsewhere(void)
{
    const struct apapi_live_page *page = apapi_live_open(NULL, NULL);

    apapi_live_close(page);
    return page != NULL;
}

struct region_watch *region_watch_open(struct apapi_error *err)
{
    struct region_watch *watch;

    if (region_watch_is_elsewhere()) {
        apapi_fail(err, EALREADY, "this process is measured, and so are the regions");
        return NULL;
    }
    watch = calloc(1, sizeof(*watch));
    if (!watch) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    watch->page = PRIVATE_PAGE_NONE;
    pthread_mutex_init(&watch->lock, NULL);
    watch->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watch->stop < 0) {
        apapi_fail(err, errno, "%s", strerror(errno));
    }
    if (watch->stop < 0 || private_page_create(&watch->page, err)) {
        region_watch_close(watch);
        return NULL;
    }
    return watch;
}

struct apapi_live_page *region_watch_page(const struct region_watch *watch)
{
    return watch ? watch->page.page : NULL;
}

void region_watch_reading(const struct apapi_live_page *live, void *context)
{
    struct region_watch *watch = context;

    pthread_mutex_lock(&watch->lock);
    if (watch->observer) {
        observe_reading(live, watch->observer);
    }
    pthread_mutex_unlock(&watch->lock);
}

int region_watch_publish(struct region_watch *watch, struct apapi_error *err)
{
    if (!watch) {
        return 0;
    }
    if (private_page_publish(&watch->page, err)) {
        return -1;
    }
    return setenv(APAPI_LIVE_ENVIRONMENT, watch->page.path, 1) ? apapi_fail(err, errno, "no memory")
                                                               : 0;
}

void region_watch_withdraw(struct region_watch *watch)
{
    if (watch) {
        region_watch_end(watch, NULL); /* a program that could not be started */
        private_page_withdraw(&watch->page);
    }
}

static void *region_watch_listen(void *context)
{
    struct region_watch *watch = context;
    struct pollfd watched[] = {{.fd = watch->stop, .events = POLLIN}, {.events = POLLIN}};

    while (!watched[0].revents) {
        watched[1].fd = serve_descriptor(watch->serve);
        if (poll(watched, 2, serve_pause_ms(watch->serve)) >= 0) {
            serve_work(watch->serve);
            serve_tick(watch->serve);
        }
    }
    return NULL;
}

static void region_watch_set(struct region_watch *watch, struct observer *observer)
{
    pthread_mutex_lock(&watch->lock);
    watch->observer = observer;
    pthread_mutex_unlock(&watch->lock);
}

void region_watch_begin(struct region_watch *watch)
{
    if (!watch || !*watch->page.path) {
        return;
    }
    region_watch_set(watch, observe_create(watch->page.page));
    watch->serve =
        watch->observer ? serve_open(watch->page.path, geteuid(), watch->observer, NULL) : NULL;
    if (watch->serve && thread_start(&watch->thread, region_watch_listen, watch)) {
        serve_close(watch->serve);
        watch->serve = NULL;
    }
}

static void region_watch_stop(struct region_watch *watch)
{
    eventfd_t value = 1;

    eventfd_write(watch->stop, value);
    pthread_join(watch->thread, NULL);
    eventfd_read(watch->stop, &value);
    serve_close(watch->serve);
    watch->serve = NULL;
}

void region_watch_end(struct region_watch *watch, struct apapi_record *record)
{
    struct observer *observer;

    if (!watch || !watch->observer) {
        return;
    }
    if (watch->serve) {
        region_watch_stop(watch);
    }
    observer = watch->observer;
    if (record) {
        observe_result(observer, &record->measurement, &record->regions);
    }
    region_watch_set(watch, NULL);
    observe_destroy(observer);
}

void region_watch_close(struct region_watch *watch)
{
    if (!watch) {
        return;
    }
    region_watch_end(watch, NULL);
    private_page_close(&watch->page);
    if (watch->stop >= 0) {
        close(watch->stop);
    }
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}
