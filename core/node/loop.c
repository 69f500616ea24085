/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/loop.h"

#include <errno.h>
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
#include "base/folder.h"
#include "base/number.h"
#include "config/config.h"
#include "config/installed.h"
#include "node/asks.h"
#include "node/folder.h"
#include "node/meters.h"
#include "node/readings.h"
#include "node/share_page.h"
#include "node/shares.h"

#define INTERVAL_NS UINT64_C(1000000000)
#define OPEN_NS (10 * INTERVAL_NS) /* for sources that are slow to open */
#define TOGETHER_MS 20             /* readings of several meters at the same time count as one */
#define WAIT_MS 5000               /* for a sampler that is about to end */
#define PAUSE_MS 50

struct loop {
    const struct node_options *options;
    struct config config;
    struct apapi_intervals intervals;
    struct apapi_event_rules rules, shown;
    struct node_meters meters;
    struct apapi_session *session;
    struct node_shares *shares;
    struct node_readings readings;
    struct node_asks asks;
    uint64_t answered_ns; /* requests before this one are answered */
    uint64_t taken_ns;    /* when the shares were divided last */
    int folder, signals;
};

static void loop_complain(const char *text, void *context)
{
    const struct loop *loop = context;

    loop->options->say(LOG_WARNING, "%s", text);
}

static bool loop_wants_node_meter(const struct config *config)
{
    const char *energy = config_section_value(config, "node", "energy");

    return energy && strcmp(energy, "node") == 0;
}

static void loop_read_config(struct loop *loop)
{
    const struct config_sink sink = {loop_complain, loop};
    const char *path = loop->options->config ? loop->options->config : config_site_path();

    config_defaults(&loop->config);
    config_read(&loop->config, path, &sink);
    config_set_sources(&loop->config);
    loop->intervals.default_ns = INTERVAL_NS;
}

/* One that slurmd has just left needs a moment to end. */
static int loop_open_meters(struct loop *loop, struct apapi_error *err)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    int result = -1;

    for (int ms = 0; ms <= WAIT_MS; ms += PAUSE_MS) {
        result = node_meters_open(&loop->meters, loop->folder, loop->options->node, err);
        if (result == 0 || errno != EWOULDBLOCK) {
            return result;
        }
        node_meters_close(&loop->meters);
        nanosleep(&pause, NULL);
    }
    errno = EWOULDBLOCK;
    return result;
}

static bool loop_has_meter(const struct apapi_live_page *live)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (live->domains[d].flags & APAPI_LIVE_MEASURED) {
            return true;
        }
    }
    return false;
}

/* Who starts it tries again later: a driver may be loaded until then. */
static int loop_check_meters(struct loop *loop, struct apapi_error *err)
{
    struct apapi_measurement m;
    const char *reason = "";

    if (loop_has_meter(loop->meters.live)) {
        return 0;
    }
    if (apapi_session_snapshot(loop->session, &m, err)) {
        return -1;
    }
    reason = m.component_count > 0 ? m.components[0].reason : "there is no source";
    apapi_fail(err, ENODEV, "it has no meter of energy or power that can be read: %s", reason);
    apapi_measurement_clear(&m);
    errno = ENODEV;
    return -1;
}

static bool loop_shows_readings(const struct config *config)
{
    const char *readings = config_section_value(config, "node", "readings");

    return !readings || strcmp(readings, "off") != 0;
}

/* Without it, steps read the meters themselves. */
static void loop_open_readings(struct loop *loop)
{
    struct apapi_error err;

    if (!loop_shows_readings(&loop->config)) {
        return;
    }
    if (node_readings_open(&loop->readings, loop->folder, &err)) {
        loop->options->say(LOG_WARNING, "steps read the meters themselves: %s", err.text);
        return;
    }
    session_listen(loop->session, node_readings_take, &loop->readings);
}

static void loop_open_asks(struct loop *loop)
{
    struct apapi_error err;

    if (node_asks_open(&loop->asks, loop->folder, loop->session, &err)) {
        loop->options->say(LOG_WARNING, "%s", err.text);
    }
}

static int loop_open_session(struct loop *loop, struct apapi_error *err)
{
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
    loop_open_readings(loop);
    return apapi_session_start(loop->session, 0, err) ? -1 : loop_check_meters(loop, err);
}

static int loop_open(struct loop *loop, struct apapi_error *err)
{
    const struct node_shares_settings settings = {
        .config = &loop->config, .node = loop->options->node, .say = loop->options->say};
    struct node_shares_settings shares = settings;

    if (!*loop->config.live_dir) {
        return apapi_fail(err, EINVAL, "live_dir = off: there is no place for its page");
    }
    loop->folder = node_folder_open(loop->config.live_dir, loop->options->node, err);
    if (loop->folder < 0 || loop_open_meters(loop, err)) {
        return -1;
    }
    loop->meters.node_meter = loop_wants_node_meter(&loop->config);
    if (loop_open_session(loop, err)) {
        return -1;
    }
    shares.folder = loop->folder;
    loop->shares = node_shares_new(&shares);
    loop_open_asks(loop);
    return 0;
}

/* What is read sooner after the last time is divided with what is read later. */
static void loop_take(struct loop *loop, uint64_t least_ns)
{
    struct node_reading reading;
    uint64_t now_ns = clock_monotonic_ns(), count;

    if (read(loop->meters.news, &count, sizeof count) == sizeof count &&
        now_ns - loop->taken_ns >= least_ns && node_meters_take(&loop->meters, &reading)) {
        loop->taken_ns = now_ns;
        node_shares_add(loop->shares, &reading);
    }
}

/*
 * What is read at the same time by several workers is one reading. Whoever has asked for one waits
 * for all meters, and for no longer than it takes.
 */
static void loop_gather(struct loop *loop)
{
    const struct timespec together = {.tv_nsec = TOGETHER_MS * 1000000L};
    const struct timespec moment = {.tv_nsec = 1000000L};
    uint64_t asked_ns = atomic_load(&loop->asks.counted_ns);

    if (asked_ns <= loop->answered_ns) {
        nanosleep(&together, NULL);
        return;
    }
    for (int ms = 0; ms < TOGETHER_MS && !node_meters_are_newer(&loop->meters, asked_ns); ms++) {
        nanosleep(&moment, NULL);
    }
    loop->answered_ns = asked_ns;
}

static void loop_serve(struct loop *loop)
{
    struct pollfd watched[] = {{.fd = loop->options->owner, .events = POLLIN},
                               {.fd = loop->signals, .events = POLLIN},
                               {.fd = loop->meters.news, .events = POLLIN}};

    while (watched[0].revents == 0 && watched[1].revents == 0) {
        if (poll(watched, 3, -1) > 0 && watched[2].revents) {
            loop_gather(loop);
            loop_take(loop, SHARE_PAGE_FRESH_NS / 2); /* those who ask need it to be fresh */
        }
    }
}

static void loop_close(struct loop *loop)
{
    node_asks_close(&loop->asks);
    apapi_session_destroy(loop->session);
    loop_take(loop, 0);
    node_readings_close(&loop->readings);
    node_shares_free(loop->shares);
    node_meters_close(&loop->meters);
    apapi_event_rules_clear(&loop->rules);
    config_clear(&loop->config);
    folder_close(loop->folder);
    folder_close(loop->signals);
}

static int loop_block_signals(void)
{
    sigset_t all, end;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    return signalfd(-1, &end, SFD_CLOEXEC);
}

static void loop_fail(const struct loop *loop, const struct apapi_error *err)
{
    const struct node_options *options = loop->options;
    char text[sizeof err->text + 300];

    snprintf(text, sizeof text, "node %s is not measured: %s", options->node, err->text);
    options->say(LOG_NOTICE, "%s", text);
    options->fail(text, options->context);
}

int node_run(const struct node_options *options)
{
    static struct loop loop = {.readings = NODE_READINGS_NONE, .asks = NODE_ASKS_NONE};
    struct apapi_error err;
    int result = EXIT_SUCCESS;

    loop.options = options;
    loop.meters.file = loop.meters.news = -1;
    loop.meters.state = NODE_STATE_NONE;
    loop.folder = -1;
    loop.signals = loop_block_signals();
    loop_read_config(&loop);
    if (loop_open(&loop, &err)) {
        result = errno == EWOULDBLOCK ? NODE_ANOTHER : EXIT_FAILURE;
        loop_fail(&loop, &err);
    } else {
        loop_serve(&loop);
    }
    loop_close(&loop);
    return result;
}
