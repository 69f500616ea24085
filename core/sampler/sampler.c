/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apapi-sampler: measures one step on one node. Started by the plugin in slurmstepd, which it
 * talks to over APAPI_CHANNEL_FD and outlives if need be: then it finishes the record alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "apapi/record.h"
#include "apapi/session.h"
#include "channel/deadline.h"
#include "channel/message.h"
#include "sampler/cgroup.h"
#include "sampler/step.h"

#define PATIENCE_NS (10000 * DEADLINE_MS) /* for the plugin's side of the conversation */

struct sampler {
    struct step step;
    struct apapi_event_rules rules;
    struct apapi_session *session;
    bool measuring;
};

/* Too large for the stack; one at a time is enough. */
static struct message message;

static void answer(const char *word, const char *text)
{
    message_start(&message, word);
    if (text) {
        message_add_text(&message, text);
    }
    message_send(APAPI_CHANNEL_FD, &message, deadline_now() + PATIENCE_NS);
}

/* Slurm does not tell the batch step its user's name. */
static void name_user(struct apapi_identity *id)
{
    struct passwd entry, *found = NULL;
    char text[4096];

    if (*id->user == '\0' && id->uid != APAPI_UNKNOWN &&
        getpwuid_r(id->uid, &entry, text, sizeof text, &found) == 0 && found) {
        snprintf(id->user, sizeof id->user, "%s", found->pw_name);
    }
}

static int open_session(struct sampler *sampler, struct apapi_error *err)
{
    const struct apapi_environment nothing = {.softfail = true}; /* root's sampler takes no hints */
    const struct apapi_session_config config = {
        .components = *sampler->step.components ? sampler->step.components : NULL,
        .intervals = &sampler->step.intervals,
        .rules = &sampler->rules,
        .softfail = true,
    };

    if (apapi_event_rules_load(&sampler->rules, &nothing, APAPI_CONFIG_DIR, NULL, err)) {
        syslog(LOG_WARNING, "the default event files are left out: %s", err->text);
    }

    sampler->session = apapi_session_create(&config, err);
    return sampler->session ? 0 : -1;
}

static int prepare(struct sampler *sampler, struct apapi_error *err)
{
    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PATIENCE_NS)) {
        return apapi_fail(err, errno, "no configuration: %s", strerror(errno));
    }
    if (!message_is(&message, APAPI_WORD_CONFIG)) {
        return apapi_fail(err, EINVAL, "the first message is not the configuration");
    }
    if (step_parse(&message, &sampler->step, err)) {
        return -1;
    }
    name_user(&sampler->step.id);
    return open_session(sampler, err);
}

static uint64_t message_ns(void)
{
    const char *ns = message_value(&message, "ns");

    return ns ? strtoull(ns, NULL, 10) : 0;
}

static void begin(struct sampler *sampler)
{
    struct apapi_error err;

    if (apapi_session_start(sampler->session, message_ns(), &err)) {
        answer(APAPI_WORD_FAILED, err.text);
        return;
    }
    sampler->measuring = true;
    answer(APAPI_WORD_READY, NULL);
}

static void store(const struct sampler *sampler, const struct apapi_record *record,
                  const char *line)
{
    const struct apapi_measurement *m = &record->measurement;
    struct apapi_error err;

    if (*sampler->step.acct_dir == '\0') {
        return;
    }
    if (apapi_store_append(sampler->step.acct_dir, record->id.node,
                           m->start_unix_ns + (int64_t)m->elapsed_ns, line, &err)) {
        syslog(LOG_ERR, "record of job %u step %s not written: %s", record->id.job, record->id.step,
               err.text);
    }
}

static int format_table(const struct apapi_record *record, char **text, struct apapi_error *err)
{
    char step[64];
    const struct apapi_table_head head = {
        .step = step, .name = record->id.name, .user_s = NAN, .system_s = NAN, .elapsed_s = NAN};
    struct apapi_merge *merge = apapi_merge_create();
    int result;

    if (!merge) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    snprintf(step, sizeof step, "%u.%s", record->id.job, record->id.step);
    result = apapi_merge_add(merge, record) ? -1 : apapi_table_format(merge, &head, text, err);
    apapi_merge_destroy(merge);
    return result;
}

static void deliver(const struct sampler *sampler, const struct apapi_record *record)
{
    struct apapi_error err;
    char *line = NULL, *table = NULL;

    if (apapi_record_encode(record, &line, &err)) {
        answer(APAPI_WORD_FAILED, err.text);
        return;
    }
    store(sampler, record, line);
    answer(APAPI_WORD_RECORD, line);
    if (sampler->step.wants_table && format_table(record, &table, &err) == 0) {
        answer(APAPI_WORD_TABLE, table);
    }
    free(table);
    free(line);
}

/* @param reason why the record is not complete; NULL: it is. */
static void finish(struct sampler *sampler, const char *reason)
{
    struct apapi_record record = {.id = sampler->step.id, .complete = !reason};
    struct apapi_error err;

    if (!sampler->measuring) {
        answer(APAPI_WORD_FAILED, "the step ended before it began");
        return;
    }
    apapi_session_stop(sampler->session, NULL);
    if (apapi_session_measurement(sampler->session, &record.measurement, &err)) {
        answer(APAPI_WORD_FAILED, err.text);
        return;
    }
    snprintf(record.reason, sizeof record.reason, "%s", reason ? reason : "");
    deliver(sampler, &record);
    apapi_record_clear(&record);
}

/* One message of the plugin. @return whether there is more to do. */
static bool converse(struct sampler *sampler)
{
    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PATIENCE_NS)) {
        finish(sampler, errno == EPIPE ? "slurmstepd ended before the step" : strerror(errno));
        return false;
    }
    if (message_is(&message, APAPI_WORD_BEGIN) && !sampler->measuring) {
        begin(sampler);
    } else if (message_is(&message, APAPI_WORD_STOP)) {
        finish(sampler, NULL);
        return false;
    }
    return true;
}

static void serve(struct sampler *sampler, int signals)
{
    struct pollfd watched[] = {{.fd = APAPI_CHANNEL_FD, .events = POLLIN},
                               {.fd = signals, .events = POLLIN}};
    bool more = true;

    while (more) {
        if (poll(watched, 2, -1) < 0) {
            continue;
        }
        if (watched[1].revents) {
            finish(sampler, "the sampler was told to end");
            return;
        }
        more = converse(sampler);
    }
}

/* A system that shuts down may end the sampler; no other signal means anything to it. */
static int block_signals(void)
{
    sigset_t all, end;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    return signalfd(-1, &end, SFD_CLOEXEC);
}

static int run(void)
{
    static struct sampler sampler;
    struct apapi_error err;
    int signals = block_signals();
    int result = EXIT_SUCCESS;

    fcntl(APAPI_CHANNEL_FD, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_DUMPABLE, 0); /* what root reads here is not for a debugger */
    umask(077);
    openlog("apapi-sampler", LOG_PID, LOG_DAEMON);
    cgroup_leave_job();
    if (prepare(&sampler, &err)) {
        answer(APAPI_WORD_FAILED, err.text);
        result = EXIT_FAILURE;
    } else {
        serve(&sampler, signals);
    }
    apapi_session_destroy(sampler.session);
    apapi_event_rules_clear(&sampler.rules);
    return result;
}

/* For srun: is this list of components good? One line on standard output if not. */
static int check(const char *components)
{
    struct apapi_error err;

    if (apapi_components_check(components, &err)) {
        printf("%s\n", err.text);
        return 2;
    }
    return EXIT_SUCCESS;
}

static bool has_channel(void)
{
    struct stat channel;

    return fstat(APAPI_CHANNEL_FD, &channel) == 0 && S_ISSOCK(channel.st_mode);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--check") == 0) {
        return check(argv[2]);
    }
    if (argc == 1 && has_channel()) {
        return run();
    }
    fprintf(stderr, "apapi-sampler is started by spank_apapi.so in slurmstepd.\n"
                    "usage: apapi-sampler --check COMPONENT[:COMPONENT...]\n");
    return 2;
}
