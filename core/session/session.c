/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/session.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/selection.h"
#include "measure/domain.h"
#include "session/live.h"
#include "session/sampling.h"
#include "sources/sources.h"

/* Copy the part before ":::". @return whether that is the name of one component. */
static bool component_of(const char *event, char component[APAPI_COMPONENT_SIZE])
{
    const char *end = strstr(event, ":::");
    size_t length = end ? (size_t)(end - event) : 0;

    if (length == 0 || length >= APAPI_COMPONENT_SIZE || strcspn(event, "*?[") < length) {
        return false;
    }
    memcpy(component, event, length);
    component[length] = '\0';
    return true;
}

int apapi_eventlist_check(const struct apapi_eventlist *list, bool elsewhere,
                          struct apapi_error *err)
{
    const struct apapi_listed *listed;
    char component[APAPI_COMPONENT_SIZE];
    struct apapi_error why = {""};

    for (size_t i = 0; (listed = apapi_eventlist_at(list, i)); i++) {
        if (!component_of(listed->name, component) || apapi_route_known(component) ||
            (elsewhere && apapi_route_papi_check(component, NULL) && errno == ENOSYS)) {
            continue;
        }
        component_names_refuse(component, &why);
        return apapi_fail(err, ENOENT, "%s: %s", apapi_listed_place(listed).text, why.text);
    }
    return 0;
}

/* The session. */

enum state { IDLE, RUNNING, STOPPED };

struct apapi_session {
    pthread_mutex_t lock; /* start, stop and results; never held by a worker */
    enum state state;
    bool by_default; /* no component was named: missing components do not matter */
    bool fill;       /* estimate the energy of the time that is not covered */
    struct sampling *sampling;
    int64_t start_unix_ns;
    char boot[APAPI_BOOT_SIZE]; /* see struct apapi_measurement */
    uint64_t requested_ns, start_ns, stop_ns;
};

/* Fail if the user's list, or a definition, does not fit a source that has been opened, or if the
 * shared worker could not open any. */
static int check_opened(struct sampling *sampling, struct apapi_error *err)
{
    int code = 0;

    for (size_t i = 0; code == 0 && i < sampling->count; i++) {
        const struct component *component = &sampling->components[i];
        pthread_mutex_t *mutex = sampling_lock(sampling, i);

        if (!component->own_worker && component->to_open && !sampling->shared.started) {
            code = EAGAIN;
            apapi_fail(err, code, "no thread can be started: %s", strerror(code));
        } else if (!component->own_worker && component->refused) {
            code = component->refused;
            apapi_fail(err, code, "%s", component->reason.text);
        }
        pthread_mutex_unlock(mutex);
    }
    errno = code;
    return code ? -1 : 0;
}

static void want_listed(const struct apapi_eventlist *list)
{
    const struct apapi_listed *listed;

    for (size_t i = 0; (listed = apapi_eventlist_at(list, i)); i++) {
        wanted_events_add(listed->name);
    }
}

static int open_components(struct apapi_session *session, const struct component_names *names,
                           const struct apapi_session_config *config, struct apapi_error *err)
{
    const struct apapi_intervals everything = {.default_ns = APAPI_INTERVAL_DEFAULT_NS};
    const struct apapi_intervals *intervals = config->intervals ? config->intervals : &everything;
    struct component_settings settings = {.clock = session->sampling->common.clock,
                                          .order = session->sampling->order,
                                          .floor_ns = config->min_interval_ns,
                                          .rules = config->rules,
                                          .softfail = config->softfail};

    for (size_t i = 0; i < names->count; i++) {
        apapi_catalog_want(names->name[i]);
    }
    if (config->rules) {
        want_listed(config->rules->user_list);
        want_listed(config->rules->default_list);
    }
    for (size_t i = 0; i < names->count; i++) {
        struct component *component = &session->sampling->components[i];

        settings.interval_ns = apapi_intervals_get(intervals, names->name[i]);
        component_begin(component, names->name[i], &settings);
        component->own_worker = apapi_catalog_slow(component->name, settings.order);
        component->to_open = true;
    }
    sampling_open(session->sampling, config->patience_ns);
    return check_opened(session->sampling, err);
}

static int check_config(const struct apapi_session_config *config, struct component_names *names,
                        struct apapi_error *err)
{
    if (config->sources && apapi_catalog_check_order(config->sources, err)) {
        return -1;
    }
    if (config->rules && !config->softfail &&
        apapi_eventlist_check(config->rules->user_list, false, err)) {
        return -1;
    }
    if (!config->components) {
        return component_names_parse(apapi_components_default(), names, err);
    }
    if (component_names_parse(config->components, names, err)) {
        return -1;
    }
    return config->softfail ? 0 : component_names_check(names, err);
}

/* The threads may outlive the session, so the sampling owns all that they need. */
static struct sampling *create_sampling(const struct apapi_session_config *config, size_t count,
                                        struct session_clock *clock)
{
    struct sampling *sampling = sampling_create(count, clock);

    if (!sampling) {
        return NULL;
    }
    sampling->common.on_sample = config->on_sample;
    sampling->common.context = config->context;
    sampling->common.live = config->live;
    sampling->common.on_live = config->on_live;
    sampling->common.live_context = config->live_context;
    if (sampling->common.live) {
        live_page_init(sampling->common.live);
    }
    if (config->sources) {
        sampling->order = strdup(config->sources);
        if (!sampling->order) {
            sampling_end(sampling);
            return NULL;
        }
    }
    return sampling;
}

struct apapi_session *session_create(const struct apapi_session_config *config,
                                     struct session_clock *clock, struct apapi_error *err)
{
    struct apapi_session *session = NULL;
    const char *fill; /* the site asks for an estimate of the time that is not covered */
    struct component_names names;

    if (check_config(config, &names, err)) {
        return NULL;
    }
    session = calloc(1, sizeof *session);
    if (!session) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    pthread_mutex_init(&session->lock, NULL);
    session->by_default =
        (!config->components || strcmp(config->components, "all") == 0) && !config->all_results;
    fill = source_setting("record", "fill");
    session->fill = fill && strcmp(fill, "mean") == 0;
    session->sampling = create_sampling(config, names.count, clock);
    if (!session->sampling) {
        free(session);
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    if (open_components(session, &names, config, err)) {
        apapi_session_destroy(session);
        return NULL;
    }
    session->sampling->common.clock->boot(session->sampling->common.clock, session->boot);
    return session;
}

struct apapi_session *apapi_session_create(const struct apapi_session_config *config,
                                           struct apapi_error *err)
{
    return session_create(config, NULL, err);
}

/* Show the state of the session on the live page. */
static void session_show_state(const struct apapi_session *session, uint32_t state)
{
    struct apapi_live_page *page = session->sampling->common.live;

    if (!page) {
        return;
    }
    if (state == APAPI_LIVE_STARTING) {
        page->head.start_unix_ns = session->start_unix_ns;
        page->head.start_ns = session->start_ns;
        page->head.end_ns = 0;
    } else if (state == APAPI_LIVE_ENDED) {
        page->head.end_ns = session->stop_ns;
    }
    __atomic_store_n(&page->head.state, state, __ATOMIC_RELEASE);
}

static int session_start(struct apapi_session *session, uint64_t requested_ns,
                         struct apapi_error *err)
{
    struct session_common *common = &session->sampling->common;

    if (session->state == RUNNING) {
        return apapi_fail(err, EALREADY, "the session runs already");
    }
    common->clock->pair(common->clock, &session->start_unix_ns, &session->start_ns);
    session->requested_ns =
        requested_ns && requested_ns < session->start_ns ? requested_ns : session->start_ns;
    common->late_ns = session->start_ns - session->requested_ns;
    session_show_state(session, APAPI_LIVE_STARTING);
    if (sampling_start(session->sampling)) {
        session->state = IDLE;
        return apapi_fail(err, EAGAIN, "no thread can be started: %s", strerror(errno));
    }
    session->state = RUNNING;
    session_show_state(session, APAPI_LIVE_RUNNING);
    return 0;
}

/* Lock a session. 0; -1 with EDEADLK in a function that holds what the caller would wait for */
static int session_lock(struct apapi_session *session, struct apapi_error *err)
{
    if (common_is_telling(&session->sampling->common)) {
        return apapi_fail(err, EDEADLK, "the session calls the caller");
    }
    pthread_mutex_lock(&session->lock);
    return 0;
}

int apapi_session_start(struct apapi_session *session, uint64_t requested_ns,
                        struct apapi_error *err)
{
    int result;

    if (session_lock(session, err)) {
        return -1;
    }
    result = session_start(session, requested_ns, err);
    pthread_mutex_unlock(&session->lock);
    return result;
}

int apapi_session_stop(struct apapi_session *session, struct apapi_error *err)
{
    int result = 0;

    if (session_lock(session, err)) {
        return -1;
    }
    if (session->state == RUNNING) {
        session->stop_ns = sampling_stop(session->sampling);
        session->state = STOPPED;
        session_show_state(session, APAPI_LIVE_ENDED);
    } else {
        result = apapi_fail(err, EALREADY, "the session does not run");
    }
    pthread_mutex_unlock(&session->lock);
    if (result == 0) { /* without the lock: a handler may take a snapshot */
        overflow_flush(&session->sampling->common.overflows, APAPI_STOP_WAIT_NS);
    }
    return result;
}

/* Keep the measured components. If none was measured, keep the first one for its reason. */
static void leave_out_unmeasured(struct apapi_measurement *m)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->component_count; i++) {
        if (m->components[i].measured) {
            struct apapi_component_result measured = m->components[i];

            m->components[i] = m->components[kept];
            m->components[kept++] = measured;
        }
    }
    for (size_t i = kept > 0 ? kept : 1; i < m->component_count; i++) {
        free(m->components[i].events);
        m->components[i].events = NULL;
    }
    m->component_count = kept > 0 ? kept : 1;
}

static int session_collect(const struct apapi_session *session, struct apapi_measurement *m)
{
    struct domain_results domains = {.results = m->domains, .covered = NAN, .fill = session->fill};
    const struct apapi_span span = {.late_ns = m->late_ns,
                                    .elapsed_ns = m->elapsed_ns,
                                    .end_ns = session->start_ns + m->elapsed_ns};

    m->components = calloc(session->sampling->count, sizeof *m->components);
    if (!m->components) {
        return -1;
    }
    unmeasure_domains(m->domains);
    feed_clear(domains.feeds);
    for (; m->component_count < session->sampling->count; m->component_count++) {
        size_t i = m->component_count;

        if (component_finish(&session->sampling->components[i], i, &span, &m->components[i],
                             &domains)) {
            return -1;
        }
    }
    m->covered = domains.covered;
    m->incidents = domains.incidents;
    m->unknown_domains = domains.unknown;
    for (int d = 0; d < APAPI_DOMAINS; d++) { /* another component may have the domain */
        m->unknown_domains &= ~((uint32_t)m->domains[d].measured << d);
    }
    if (session->by_default) {
        leave_out_unmeasured(m);
    }
    return 0;
}

/* @return when the run's latest reading was; now, if none. `read_ns` may be of an earlier run. */
static uint64_t session_read_ns(const struct apapi_session *session)
{
    const struct sampling *sampling = session->sampling;
    uint64_t read_ns = 0;

    for (size_t i = 0; i < sampling->count; i++) {
        uint64_t own_ns = sampling->components[i].read_ns;

        if (own_ns > read_ns && own_ns >= sampling->common.start_ns) {
            read_ns = own_ns;
        }
    }
    return read_ns ? read_ns : session_clock_now_ns(sampling->common.clock);
}

/* Describe the run; while the session runs, up to the latest reading. */
static int session_describe(const struct apapi_session *session, struct apapi_measurement *m)
{
    uint64_t cpu_ns = sampling_cpu_ns(session->sampling), end_ns;
    int failed;

    sampling_hold_all(session->sampling);
    end_ns = session->state == RUNNING ? session_read_ns(session) : session->stop_ns;
    *m = (struct apapi_measurement){
        .start_unix_ns = session->start_unix_ns,
        .monotonic_ns = *session->boot ? session->start_ns : 0,
        .elapsed_ns = end_ns - session->start_ns,
        .late_ns = session->start_ns - session->requested_ns,
        .covered = NAN,
        .cpu_ns = cpu_ns,
    };
    memcpy(m->boot, session->boot, sizeof m->boot);
    failed = session_collect(session, m);
    sampling_release_all(session->sampling);
    return failed;
}

static int measure(struct apapi_session *session, bool so_far, struct apapi_measurement *m,
                   struct apapi_error *err)
{
    struct apapi_measurement result = {0};
    int failed;

    if (session_lock(session, err)) {
        return -1;
    }
    if (session->state == IDLE) {
        failed = apapi_fail(err, ENODATA, "the session has never been started");
    } else if (session->state == RUNNING && !so_far) {
        failed = apapi_fail(err, EBUSY, "the session still runs");
    } else if (session_describe(session, &result)) {
        failed = apapi_fail(err, ENOMEM, "no memory");
    } else {
        failed = 0;
    }
    pthread_mutex_unlock(&session->lock);
    if (failed) {
        apapi_measurement_clear(&result);
        return -1;
    }
    *m = result;
    return 0;
}

int apapi_session_snapshot(struct apapi_session *session, struct apapi_measurement *m,
                           struct apapi_error *err)
{
    return measure(session, true, m, err);
}

int apapi_session_measurement(struct apapi_session *session, struct apapi_measurement *m,
                              struct apapi_error *err)
{
    return measure(session, false, m, err);
}

const struct overflow_sum *session_sum(const struct apapi_session *session,
                                       enum apapi_domain domain)
{
    return &session->sampling->common.overflows.domains[domain].sum;
}

void session_listen(struct apapi_session *session, session_reading_f on_reading, void *context)
{
    session->sampling->common.on_reading = on_reading;
    session->sampling->common.reading_context = context;
}

void session_read_now(struct apapi_session *session, const char *component, bool count)
{
    sampling_read_now(session->sampling, component, count);
}

void session_tell(struct apapi_session *session)
{
    overflow_flush(&session->sampling->common.overflows, 0);
}

int apapi_overflow_add(struct apapi_session *session, const struct apapi_overflow *what,
                       struct apapi_error *err)
{
    return session && what ? overflow_add(session->sampling, what, err)
                           : apapi_fail(err, EINVAL, "there is no session, or no threshold");
}

/* NOLINTNEXTLINE(readability-function-size): PAPI_overflow() has as many parameters */
int apapi_overflow_set(struct apapi_session *session, const char *event, double threshold,
                       unsigned mode, apapi_overflow_f handler, void *user)
{
    const struct apapi_overflow what = {
        .event = event, .threshold = threshold, .mode = mode, .handler = handler, .user = user};

    return apapi_overflow_add(session, &what, NULL);
}

int apapi_overflow_change(struct apapi_session *session, int overflow, double threshold,
                          struct apapi_error *err)
{
    return session ? overflow_change(session->sampling, overflow, threshold, err)
                   : apapi_fail(err, EINVAL, "there is no session");
}

int apapi_overflow_remove(struct apapi_session *session, int overflow)
{
    return session ? overflow_remove(session->sampling, overflow)
                   : apapi_fail(NULL, EINVAL, "there is no session");
}

void apapi_session_destroy(struct apapi_session *session)
{
    int saved = errno;

    if (!session) {
        return;
    }
    apapi_session_stop(session, NULL);
    overflow_end(&session->sampling->common.overflows);
    sampling_end(session->sampling);
    pthread_mutex_destroy(&session->lock);
    free(session);
    errno = saved;
}
