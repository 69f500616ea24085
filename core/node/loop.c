/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "apapi/events.h"
#include "base/clock.h"
#include "base/files.h"
#include "config/config.h"
#include "config/installed.h"
#include "node/meters.h"
#include "node/readings.h"
#include "node/share_page.h"
#include "node/shares.h"

#define INTERVAL_NS UINT64_C(1000000000)
#define OPEN_NS (10 * INTERVAL_NS)     /* longest wait for sources that are slow to open */
#define TOGETHER_NS UINT64_C(20000000) /* readings of several meters in this time count as one */
#define WAIT_MS 5000 /* longest wait for an earlier node sampler that is about to end */

struct loop {
    const struct node_options *options;
    struct config config;
    struct apapi_intervals intervals;
    struct apapi_event_rules rules, shown;
    struct node_meters meters;
    struct apapi_session *session;
    struct node_shares *shares;
    struct node_readings readings;
    struct node_requests requests;
    uint64_t answered_ns; /* requests before this one are answered */
    uint64_t divided_ns;  /* when the shares were divided last */
    int folder, signals;
};

static void loop_complain(const char *text, void *context)
{
    const struct loop *loop = context;

    loop->options->say(LOG_WARNING, "%s", text);
}

static bool loop_has_setting(const struct loop *loop, const char *key, const char *word)
{
    const char *value = config_section_value(&loop->config, "node", key);

    return value && strcmp(value, word) == 0;
}

/* Wait for an earlier node sampler: one that slurmd has just left needs a moment to end. */
static int loop_open_meters(struct loop *loop, struct apapi_error *err)
{
    const struct timespec pause = {.tv_nsec = 50000000};

    for (int tries = WAIT_MS / 50; tries >= 0; tries--) {
        int result = node_meters_open(&loop->meters, loop->folder, loop->options->node,
                                      loop_has_setting(loop, "energy", "node"), err);

        if (result == 0 || errno != EWOULDBLOCK) {
            return result;
        }
        node_meters_close(&loop->meters);
        nanosleep(&pause, NULL);
    }
    errno = EWOULDBLOCK;
    return -1;
}

/* Fail if no meter can be read. slurmd tries again later: a driver may be loaded until then. */
static int loop_check_meters(struct loop *loop, struct apapi_error *err)
{
    struct apapi_measurement m;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (loop->meters.live->domains[d].flags & APAPI_LIVE_MEASURED) {
            return 0;
        }
    }
    if (apapi_session_snapshot(loop->session, &m, err)) {
        return -1;
    }
    apapi_fail(err, ENODEV, "it has no meter of energy or power that can be read: %s",
               m.component_count > 0 ? m.components[0].reason : "there is no source");
    apapi_measurement_clear(&m);
    errno = ENODEV;
    return -1;
}

static int loop_open_session(struct loop *loop, struct apapi_error *err)
{
    static struct node_idle idle; /* saved by the last node sampler; static, because it is large */
    const struct apapi_environment nothing = {.softfail = true};
    const struct apapi_session_config config = {
        .intervals = &loop->intervals,
        .min_interval_ns = INTERVAL_NS,
        .patience_ns = OPEN_NS,
        .rules = &loop->shown,
        .softfail = true,
        .on_sample = node_meters_sample,
        .context = &loop->meters,
        .live = loop->meters.live,
    };

    if (apapi_event_rules_load(&loop->rules, &nothing, installed_path(INSTALLED_CONFIG), NULL,
                               err)) {
        loop->options->say(LOG_WARNING, "the default event files are not used: %s", err->text);
    }
    loop->shown.default_ops = loop->rules.default_ops; /* all events, as the site defines them */
    loop->session = apapi_session_create(&config, err);
    if (!loop->session) {
        return -1;
    }
    if (!loop_has_setting(loop, "readings", "off")) {
        if (node_readings_open(&loop->readings, loop->folder, err)) {
            loop->options->say(LOG_WARNING, "steps read the meters themselves: %s", err->text);
        } else {
            node_idle_load(&idle, loop->config.spool_dir, loop->options->node, NULL);
            memcpy(loop->readings.peaks, idle.kept.peaks, sizeof idle.kept.peaks);
            session_listen(loop->session, node_readings_write, &loop->readings);
        }
    }
    return apapi_session_start(loop->session, 0, err) ? -1 : loop_check_meters(loop, err);
}

static int loop_open(struct loop *loop, struct apapi_error *err)
{
    struct node_shares_settings settings = {.config = &loop->config,
                                            .node = loop->options->node,
                                            .say = loop->options->say,
                                            .readings = &loop->readings};

    if (!*loop->config.live_dir) {
        return apapi_fail(err, EINVAL, "live_dir = off: there is no place for its page");
    }
    loop->folder = node_folder_open(loop->config.live_dir, loop->options->node, err);
    if (loop->folder < 0 || loop_open_meters(loop, err)) {
        return -1;
    }
    if (loop_open_session(loop, err)) {
        return -1;
    }
    settings.folder = loop->folder;
    loop->shares = node_shares_new(&settings);
    if (node_requests_open(&loop->requests, loop->folder, loop->session, err)) {
        loop->options->say(LOG_WARNING, "%s", err->text);
    }
    return 0;
}

/* Divide what was read, unless energy was divided less than `least_ns` ago. */
static void loop_divide(struct loop *loop, uint64_t least_ns)
{
    struct node_reading reading;
    uint64_t now_ns = clock_monotonic_ns();

    if (now_ns - loop->divided_ns >= least_ns && node_meters_next(&loop->meters, &reading)) {
        loop->divided_ns = now_ns;
        node_shares_add(loop->shares, &reading);
    }
}

/*
 * Meters that several workers read at about the same time make one reading. For a request, energy
 * is divided as soon as all meters have been read. @return when to divide the energy
 */
static uint64_t loop_due_ns(struct loop *loop, uint64_t due_ns)
{
    uint64_t request_ns = loop->requests.counted_ns, count;

    if (read(loop->meters.news, &count, sizeof count) != sizeof count) {
        return due_ns;
    }
    if (request_ns > loop->answered_ns && node_meters_are_newer(&loop->meters, request_ns)) {
        loop->answered_ns = request_ns;
        return 0;
    }
    return due_ns < UINT64_MAX ? due_ns : clock_monotonic_ns() + TOGETHER_NS;
}

/* Programs find the pages by their path: if it was removed, or a file system was mounted there,
 * another sampler has to make them. @return whether that is so */
static bool loop_leaves(const struct loop *loop)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s/" NODE_PAGE, loop->config.live_dir, loop->options->node);
    return !folder_has(AT_FDCWD, path, loop->meters.file);
}

/* Leave the totals to the next node sampler, in the folder that is to be found now. */
static void loop_move(struct loop *loop)
{
    struct apapi_error err = {"it continues in a new folder"};
    int folder = node_folder_open(loop->config.live_dir, loop->options->node, &err);

    if (folder >= 0) {
        node_meters_copy(&loop->meters, folder, &err);
    }
    loop->options->say(LOG_WARNING, "%s of the node sampler was removed or replaced: %s",
                       loop->config.live_dir, err.text);
    folder_close(folder);
}

/* @return EXIT_SUCCESS: it should end; EXIT_FAILURE: another one has to begin */
static int loop_serve(struct loop *loop)
{
    struct pollfd watched[] = {{.fd = loop->options->owner, .events = POLLIN},
                               {.fd = loop->signals, .events = POLLIN},
                               {.fd = loop->meters.news, .events = POLLIN},
                               {.fd = loop->requests.socket, .events = POLLIN}};
    uint64_t due_ns = UINT64_MAX; /* when to divide energy; UINT64_MAX: there is none */

    while (watched[0].revents == 0 && watched[1].revents == 0) {
        if (poll(watched, 4, due_ns == UINT64_MAX ? -1 : clock_left_ms(due_ns)) < 0) {
            continue;
        }
        if (watched[3].revents) {
            node_requests_take(&loop->requests);
        }
        if (watched[2].revents) {
            due_ns = loop_due_ns(loop, due_ns);
        }
        if (clock_monotonic_ns() >= due_ns) {
            loop_divide(loop, SHARE_PAGE_FRESH_NS / 2); /* a request needs a fresh page */
            due_ns = UINT64_MAX;
            if (loop_leaves(loop)) {
                loop_move(loop);
                return EXIT_FAILURE;
            }
        }
    }
    return EXIT_SUCCESS;
}

static void loop_close(struct loop *loop)
{
    folder_close(loop->requests.socket);
    apapi_session_destroy(loop->session);
    if (loop->shares) {
        loop_divide(loop, 0);
    }
    node_shares_free(loop->shares); /* before the readings close: it saves their peaks */
    node_readings_close(&loop->readings);
    node_meters_close(&loop->meters);
    apapi_event_rules_clear(&loop->rules); /* loop->config stays: a thread may still use it */
    folder_close(loop->folder);
    folder_close(loop->signals);
}

int node_run(const struct node_options *options, char *problem, size_t size)
{
    static struct loop loop = {
        .intervals.default_ns = INTERVAL_NS, .folder = -1, .requests.socket = -1};
    const struct config_sink sink = {loop_complain, &loop};
    int result = EXIT_SUCCESS;
    struct apapi_error err;
    sigset_t all, end;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    *problem = '\0';
    loop.options = options;
    loop.signals = signalfd(-1, &end, SFD_CLOEXEC);
    config_read(&loop.config, options->config ? options->config : config_site_path(), &sink);
    config_set_sources(&loop.config);
    if (loop_open(&loop, &err)) {
        result = errno == EWOULDBLOCK ? NODE_ANOTHER : EXIT_FAILURE;
        snprintf(problem, size, "node %s is not measured: %s", options->node, err.text);
        options->say(LOG_NOTICE, "%s", problem);
    } else {
        result = loop_serve(&loop);
    }
    loop_close(&loop);
    return result;
}
