/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-sampler is started for a step, a node, a command of a threshold, or a question. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
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
#include "apapi/source.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/option_table.h"
#include "base/text.h"
#include "channel/channel.h"
#include "channel/deadline.h"
#include "config/config.h"
#include "config/filename.h"
#include "config/installed.h"
#include "gather/parts.h"
#include "measure/share.h"
#include "node/loop.h"
#include "node/share_page.h"
#include "regions/observe/observe.h"
#include "render/step_report.h"
#include "sampler/archive.h"
#include "sampler/beside.h"
#include "sampler/limits.h"
#include "sampler/livefile.h"
#include "sampler/process.h"
#include "sampler/questions.h"
#include "sampler/step.h"
#include "sampler/userfiles.h"
#include "sources/sources.h"

/* --- a whole node --------------------------------------------------------------------------- */

#define LOG_SOCKET "/dev/log"
#define ANSWER_NS (1000 * DEADLINE_MS)

static char node_problem[512];

/* Run the node sampler by hand until a signal ends it: `apapi-sampler --node NAME [CONFIG]`. */
static int node_mode_run(char **argv)
{
    const struct node_options options = {
        .node = argv[2], .config = argv[3], .owner = -1, .say = log_write};
    int status;

    prctl(PR_SET_DUMPABLE, 0);
    umask(077);
    log_open(LOG_SOCKET, "apapi-sampler");
    status = node_run(&options, node_problem, sizeof node_problem);
    if (*node_problem) {
        fprintf(stderr, "apapi-sampler: %s\n", node_problem);
    }
    return status;
}

/* @param message  APAPI_WORD_NODE. It is used for the answer, which slurmd's plugin writes to its
 * log. @return the exit status. */
static int node_mode_serve(struct message *message)
{
    static char node[NAME_MAX + 1], config[PATH_MAX];
    const char *name = message_value(message, "node"), *path = message_value(message, "config");
    const struct node_options options = {
        .node = node, .config = path ? config : NULL, .owner = APAPI_CHANNEL_FD, .say = log_write};
    int status;

    snprintf(node, sizeof node, "%s", name ? name : "");
    snprintf(config, sizeof config, "%s", path ? path : "");
    process_settle(false);
    status = node_run(&options, node_problem, sizeof node_problem);
    if (*node_problem) {
        message_send_text(APAPI_CHANNEL_FD, message, APAPI_WORD_FAILED, node_problem,
                          deadline_now() + ANSWER_NS);
    }
    return status;
}

/* --- the program's state ---------------------------------------------------------------------- */

struct sampler {
    struct step step;
    struct apapi_event_rules rules;
    struct apapi_session *session;
    struct parts parts; /* of the job, if a table of the whole job is wanted */
    struct userfiles files;
    struct limits limits;
    struct archive archive;
    struct livefile live;
    struct observer *observer; /* NULL: there is no live page */
    struct serve *serve;       /* NULL: programs cannot report regions */
    struct task naming;        /* looks the user up: a directory service may be slow */
    char user[sizeof((struct apapi_identity *)0)->user]; /* as it found it */
    bool measuring;
    uint64_t wait_until_ns; /* end of the wait for steps that outlive the job's script */
};

/* Too large for the stack. */
static struct message message;

/* --- the report of a batch step ------------------------------------------------------------- */

/* Format the report of the step alone. @param line  its record. @return NULL: out of memory */
static char *step_tables_one(const struct step *step, const struct apapi_record *record,
                             const char *line)
{
    char name[64], *text = NULL;
    const struct apapi_table_head head = {.step = name,
                                          .name = record->id.name,
                                          .user_s = NAN,
                                          .system_s = NAN,
                                          .elapsed_s = NAN,
                                          .verbose = packet_is_verbose(step->rules)};
    struct apapi_merge *merge = apapi_merge_create();
    size_t size;
    FILE *out = merge && apapi_merge_add(merge, record) == 0 ? open_memstream(&text, &size) : NULL;
    int result = -1;

    snprintf(name, sizeof name, "%u.%s", record->id.job, record->id.step);
    if (out) {
        step_report_keep(merge, line, strlen(line));
        result = step_report_write(merge, step->format, &head, out);
    }
    apapi_merge_destroy(merge);
    return text_of_stream(out, &text, result);
}

/* @return the table of the whole job; NULL: there is none. */
static char *step_tables_job(struct sampler *sampler, const struct apapi_record *record)
{
    const struct step *step = &sampler->step;

    if (!sampler->parts.job || step->job_quiet) {
        return NULL;
    }
    parts_wait(&sampler->parts, sampler->wait_until_ns);
    parts_add(&sampler->parts, record);
    return parts_table(&sampler->parts,
                       step->id.job_nodes == APAPI_UNKNOWN ? 0 : step->id.job_nodes,
                       step->job_nodelist);
}

/* @return a line for each threshold that was crossed, below the job's table. NULL: out of memory */
static char *step_tables_crossings(const struct apapi_record *record)
{
    char crossed[CROSSING_TEXT_SIZE], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; i < record->crossing_count && out; i++) {
        if (crossing_is_last(record, i)) {
            crossing_text(record, i, crossed, sizeof crossed);
            text_wrap(out, "step %s on %s: %s: crossed (%s)", record->id.step, record->id.node,
                      record->crossing[i].threshold, crossed);
        }
    }
    return text_of_stream(out, &text, 0);
}

/* @return the table of the batch step and then of the job; other formats have the step alone. */
static char *step_tables_text(struct sampler *sampler, const struct apapi_record *record,
                              const char *line)
{
    bool table = sampler->step.format == CONFIG_TABLE;
    char *job = table ? step_tables_job(sampler, record) : NULL, *step, *both = NULL;
    bool alone = job && (sampler->step.job_only || sampler->step.job_one);

    step = alone ? step_tables_crossings(record) : step_tables_one(&sampler->step, record, line);
    if (!step) {
        return job;
    }
    if (job && asprintf(&both, "%s%s", alone ? job : step, alone ? step : job) >= 0) {
        free(step);
        step = both;
    }
    free(job);
    return step;
}

/* --- the share of the node ------------------------------------------------------------------ */

#define STALE_NS ((uint64_t)(5 * NS_PER_S)) /* plus two intervals: the node sampler has stopped */

/* Slurm counts all cores of the job for the batch step, but other steps may have them, too. */
static bool share_is_exclusive(const struct apapi_identity *id)
{
    return id->step[0] >= '0' && id->step[0] <= '9' && id->cores != APAPI_UNKNOWN &&
           id->node_cores != APAPI_UNKNOWN && id->cores >= id->node_cores;
}

static void share_take_all(struct apapi_record *record)
{
    struct apapi_share *share = &record->share;

    snprintf(share->method, sizeof share->method, "exclusive");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_domain_result *domain = &record->measurement.domains[d];

        if (domain->measured) {
            share->domains[d].energy_j = domain->energy_j;
            share->domains[d].uncertainty_j = domain->uncertainty_j;
        }
    }
}

/*
 * @return the sum of the meters' error of power above idle power, for the step's part of it; of all
 * extrapolated energy, which may be wrong as a whole; and of the error of idle power that was
 * estimated, or is not known and lies between 0 and the least power that the node has drawn [J].
 */
static double share_uncertainty_j(const struct share_end *end, int domain,
                                  const struct apapi_measurement *m)
{
    const struct apapi_domain_result *measured = &m->domains[domain];
    double energy_j = end->found.row.energy_j[domain];
    double open_s = end->found.row.open_s[domain] - end->found.row.open_cores_s[domain];
    double elapsed_s = (double)m->elapsed_ns / NS_PER_S, mean_w = measured->energy_j / elapsed_s;
    double part = share_part(energy_j - end->found.row.idle_j[domain], measured->energy_j,
                             end->found.head.idle_w[domain] * elapsed_s);
    double open_j = 0;

    if (open_s != 0) {
        open_j = fmin(mean_w, end->found.head.least_w[domain]) * fabs(open_s);
        open_j = open_s > 0 ? fmin(open_j, energy_j) : open_j;
    }
    return measured->uncertainty_j * part + end->tail_j[domain] + open_j +
           end->found.row.error_j[domain];
}

static void share_take_domain(const struct share_end *end, int domain, struct apapi_record *record)
{
    const struct apapi_domain_result *measured = &record->measurement.domains[domain];
    struct apapi_share_energy *energy = &record->share.domains[domain];

    if (!measured->measured || isnan(end->found.head.energy_j[domain])) {
        return;
    }
    energy->energy_j = end->found.row.energy_j[domain];
    energy->uncertainty_j = share_uncertainty_j(end, domain, &record->measurement);
    energy->idle_w = end->found.head.idle_w[domain];
    if (strcmp(end->found.head.idle, "cores") == 0) {
        energy->idle_j = end->found.row.idle_j[domain];
    }
}

/* @return whether idle power is in the energy of domains that add up; without these, of others. */
static bool share_keeps_idle(const struct share_end *end, const struct apapi_share *share)
{
    bool inner = !isnan(apapi_share_energy_j(share)), has = false;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        bool open = end->found.row.open_s[d] != 0 ||
                    (end->tail_j[d] > 0 && isnan(end->found.head.idle_w[d]));

        has = has || (open && share->domains[d].energy_j > 0 && d != APAPI_DOMAIN_GPU &&
                      apapi_domain_adds_up(d) == inner);
    }
    return has;
}

static void share_take(const struct share_end *end, struct apapi_record *record)
{
    const struct share_head *head = &end->found.head;
    struct apapi_share *share = &record->share;

    snprintf(share->method, sizeof share->method, "%.23s", head->method);
    snprintf(share->idle, sizeof share->idle, "%.23s", head->idle);
    share->slices = end->found.row.flags & SHARE_ROW_SLICES;
    share->interval_ns = head->interval_ns;
    share->tail_ns = end->tail_ns;
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        share_take_domain(end, d, record);
    }
    if (share_keeps_idle(end, share)) {
        snprintf(share->idle, sizeof share->idle, "included");
    }
}

/*
 * Limit a share to the energy that the node used while the step ran. The extrapolation at the end
 * of the step, or an interval in which it ran only for a part, may have given it more.
 */
static void share_bound(struct share_end *end, const struct apapi_measurement *m)
{
    struct share_row *row = &end->found.row;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        double over_j = m->domains[d].measured ? row->energy_j[d] - m->domains[d].energy_j : 0;

        if (over_j > 0) {
            row->energy_j[d] -= over_j;
            end->tail_j[d] = fmax(end->tail_j[d] - over_j, 0);
            row->idle_j[d] = fmin(row->idle_j[d], row->energy_j[d]);
        }
    }
}

/* @return why there is no share; NULL: there is one. */
static const char *share_look(const struct share_key *key, struct share_end *end)
{
    const struct share_head *head = &end->found.head;

    if (share_end_look(key, end)) {
        return head->size == 0 && errno == ENOTSUP ? "the node sampler is of another version"
               : head->size > 0 && !end->orphaned  ? "the node sampler has not seen the step"
                                                   : "no node sampler runs";
    }
    if (end->tail_ns > STALE_NS + 2 * head->interval_ns) {
        return "the node sampler has stopped";
    }
    if (strcmp(head->method, "cpu-time") == 0 && !(end->found.row.flags & SHARE_ROW_COUNTED)) {
        return "the CPU time of the step's control group is not known";
    }
    return NULL;
}

static void share_finish(const struct step *step, struct apapi_record *record)
{
    const struct share_key key = {step->config.live_dir, step->id.node, step->id.job,
                                  step->id.step};
    const char *wanted = *step->share ? step->share : source_setting("shares", "records"), *reason;
    struct share_end end;

    if (!wanted || strcmp(wanted, "on") != 0) {
        return;
    }
    record->share = apapi_share_unknown();
    share_end_refresh(&key);
    reason = share_look(&key, &end);
    if (!reason) {
        share_bound(&end, &record->measurement);
        share_take(&end, record);
        share_end_claim(&key, &end);
    } else if (share_is_exclusive(&step->id)) {
        share_take_all(record);
    } else {
        snprintf(record->share.reason, sizeof record->share.reason, "%s", reason);
    }
}

/* --- a step --------------------------------------------------------------------------------- */

#define STOP_LIMIT_S 600 /* for everything after the step, including disks that do not respond */
#define PATIENCE_NS (10000 * DEADLINE_MS)   /* for the plugin to answer or to read */
#define NAME_PATIENCE_NS (20 * DEADLINE_MS) /* for the user's name, before the first reading */
#define LAST_NAME_PATIENCE_NS (300 * DEADLINE_MS) /* the same after the last one */
#define NAME_PAUSE_MS 500                         /* between two looks for it in between */

/* A plugin that has ended is no error. Any other failure to answer is reported. */
static void sampler_answer(const char *word, const char *text)
{
    if (message_send_text(APAPI_CHANNEL_FD, &message, word, text ? text : "",
                          deadline_now() + PATIENCE_NS) &&
        errno != EPIPE) {
        log_write(LOG_WARNING, "the plugin does not get the answer \"%s\": %s", word,
                  strerror(errno));
    }
}

static void create_live(struct sampler *sampler)
{
    const struct step *step = &sampler->step;
    struct apapi_error err;

    if (*step->config.live_dir && livefile_create(&sampler->live, step, &err)) {
        log_write(LOG_NOTICE, "job %u step %s has no live page: %s", step->id.job, step->id.step,
                  err.text);
    }
    if (sampler->live.page) {
        sampler->observer = observe_create(sampler->live.page);
        sampler->archive.observer = sampler->observer;
    }
}

static void look_up_user(void *context)
{
    struct sampler *sampler = context;

    names_user(sampler->step.id.uid, sampler->user, sizeof sampler->user);
}

/*
 * Take the user's name over if it is known by then. Until it is, the user is a number. The live
 * page and the checkpoint get it together: to readers, a step of another user is another step.
 */
static void take_user(struct sampler *sampler, uint64_t deadline_ns)
{
    if (!*sampler->step.id.user && task_wait(&sampler->naming, deadline_ns) && *sampler->user) {
        strcpy(sampler->step.id.user, sampler->user);
        livefile_name_user(&sampler->live, sampler->user);
        archive_renew(&sampler->archive);
    }
}

static void sampler_log_regions(const char *text)
{
    log_write(LOG_NOTICE, "%s", text);
}

static void serve_regions(struct sampler *sampler)
{
    const struct step *step = &sampler->step;

    if (sampler->observer && *sampler->live.path) {
        sampler->serve =
            serve_open(sampler->live.path, step->id.uid, sampler->observer, sampler_log_regions);
        if (!sampler->serve) {
            log_write(LOG_NOTICE, "job %u step %s has no regions: %s", step->id.job, step->id.step,
                      strerror(errno));
        }
    }
}

static void publish_live(struct sampler *sampler)
{
    const struct step *step = &sampler->step;
    struct apapi_error err;

    if (sampler->live.page && livefile_publish(&sampler->live, step, &err)) {
        log_write(LOG_NOTICE, "live page of job %u step %s: %s", step->id.job, step->id.step,
                  err.text);
    }
}

static int sampler_open_session(struct sampler *sampler, struct apapi_error *err)
{
    const struct apapi_environment nothing = {
        .softfail = true}; /* root's sampler ignores the user's environment */
    const struct apapi_session_config config = {
        .components = *sampler->step.components ? sampler->step.components : NULL,
        .intervals = &sampler->step.intervals,
        .min_interval_ns = sampler->step.min_interval_ns,
        .rules = &sampler->rules,
        .softfail = true,
        .on_sample = sampler->files.tracer ? trace_sample : NULL,
        .context = sampler->files.tracer,
        .live = sampler->live.page,
        .on_live = sampler->observer ? observe_reading : NULL,
        .live_context = sampler->observer,
    };

    if (apapi_event_rules_load(&sampler->rules, &nothing, installed_path(INSTALLED_CONFIG), NULL,
                               err)) {
        log_write(LOG_WARNING, "the default event files are not used: %s", err->text);
    }
    if (pack_open(sampler->step.rules, &sampler->rules, err)) {
        log_write(LOG_INFO, "the user's event files are not used: %s", err->text);
    }
    sampler->session = apapi_session_create(&config, err);
    return sampler->session ? 0 : -1;
}

static void open_parts(struct sampler *sampler)
{
    if (*sampler->step.job_token && parts_open(&sampler->parts, APAPI_LISTEN_FD,
                                               sampler->step.job_token, sampler->step.id.job)) {
        log_write(LOG_NOTICE, "job %u has no table: %s", sampler->step.id.job, strerror(errno));
    }
    sampler->parts.only = sampler->step.job_only;
    limits_hear(&sampler->limits, &sampler->parts);
}

/* Log that versions differ: during an upgrade, or if the node has two installations. */
static void sampler_note_versions(const struct step *step)
{
    if (strcmp(step->channel, APAPI_CHANNEL_VERSION) != 0) {
        log_write(LOG_NOTICE,
                  "job %u step %s: the plugin's version of the channel is %s, this program's is "
                  "%s (" APAPI_VERSION "): APAPI is being upgraded, or there are two of it here",
                  step->id.job, step->id.step, *step->channel ? step->channel : "0",
                  APAPI_CHANNEL_VERSION);
    }
}

static int sampler_prepare(struct sampler *sampler, struct apapi_error *err)
{
    const char *live_dir, *readings;

    if (!message_is(&message, APAPI_WORD_CONFIG)) {
        return apapi_fail(err, EINVAL, "the first message is not the configuration");
    }
    if (step_parse(&message, &sampler->step, err)) {
        return -1;
    }
    sampler_note_versions(&sampler->step);
    userfiles_prepare(&sampler->files, &sampler->step);
    process_schedule(&sampler->step);
    if (limits_open(&sampler->limits, &sampler->step)) {
        sampler->archive.crossings = &sampler->limits.crossings;
    }
    process_settle(userfiles_have_writers(&sampler->files));
    userfiles_start_trace(&sampler->files);
    names_cluster(&sampler->step);
    task_start(&sampler->naming, look_up_user, sampler);
    open_parts(sampler);
    config_set_sources(&sampler->step.config);
    readings = source_setting("node", "readings");
    live_dir = sampler->step.config.live_dir;
    node_source_use(*live_dir && !(readings && strcmp(readings, "off") == 0) ? live_dir : NULL,
                    sampler->step.id.node);
    if (sampler->step.slowed) {
        log_write(LOG_INFO, "job %u step %s: interval raised to min_interval, %g ms",
                  sampler->step.id.job, sampler->step.id.step,
                  (double)sampler->step.min_interval_ns / 1e6);
    }
    if (*sampler->step.gpus && apapi_source_set("slurm", "gpus", sampler->step.gpus)) {
        return apapi_fail(err, errno, "the step's GPUs: %s", strerror(errno));
    }
    if (sampler->step.site_components && known_components(sampler->step.components, err)) {
        return -1;
    }
    create_live(sampler);
    if (sampler_open_session(sampler, err)) {
        return -1;
    }
    limits_set(&sampler->limits, sampler->session);
    take_user(sampler, filename_has(sampler->step.trace, "u") ? UINT64_MAX
                                                              : deadline_now() + NAME_PATIENCE_NS);
    publish_live(sampler);
    serve_regions(sampler);
    return 0;
}

static void sampler_begin(struct sampler *sampler)
{
    const char *folder = message_value(&message, "folder");
    struct apapi_error err;

    userfiles_begin(&sampler->files, &sampler->step, folder ? folder : "");
    if (apapi_session_start(sampler->session, message_number(&message, "ns"), &err)) {
        sampler_answer(APAPI_WORD_FAILED, err.text);
        return;
    }
    sampler->measuring = true;
    limits_begin(&sampler->limits, sampler->live.page, &message);
    sampler_answer(APAPI_WORD_READY, NULL);
    names_count_cores(&sampler->step); /* only now: the tasks wait for the answer */
    take_user(sampler, 0);
    archive_begin(&sampler->archive, sampler->session);
}

/* Send the report for the plugin to print; empty if it was written to the user's file. */
static void sampler_report(struct sampler *sampler, const struct apapi_record *record,
                           const char *line)
{
    char *text;

    if (sampler->step.format == CONFIG_NONE) {
        return;
    }
    text = step_tables_text(sampler, record, line);
    sampler_answer(APAPI_WORD_TABLE,
                   !text || userfiles_report(&sampler->files, &sampler->step, text) ? "" : text);
    free(text);
}

static void finish_files(struct sampler *sampler)
{
    const struct step *step = &sampler->step;
    const char *trouble = sampler->files.trouble.text;

    if (*step->output || *step->trace || *step->overflow || step_watches_job(step)) {
        userfiles_end_trace(&sampler->files);
        sampler_answer(APAPI_WORD_NOTE, *trouble ? trouble : sampler->limits.trouble.text);
    }
}

/* Tell readers of the record that it will reach the accounting late or never. */
static void sampler_note_trouble(const struct archive *archive, struct apapi_record *record,
                                 char **line)
{
    char *noted;

    snprintf(record->unwritten, sizeof record->unwritten, "%s", archive->trouble.text);
    if (*record->unwritten && apapi_record_encode(record, &noted, NULL) == 0) {
        free(*line);
        *line = noted;
    }
}

static void sampler_deliver(struct sampler *sampler, struct apapi_record *record)
{
    struct apapi_error err;
    char *line = NULL;

    if (apapi_record_encode(record, &line, &err)) {
        sampler_answer(APAPI_WORD_FAILED, err.text);
        return;
    }
    archive_write(&sampler->archive, record, line);
    sampler_note_trouble(&sampler->archive, record, &line);
    livefile_withdraw(&sampler->live);
    sampler_answer(APAPI_WORD_RECORD, line);
    sampler_report(sampler, record, line);
    finish_files(sampler);
    free(line);
}

static void finish_regions(struct sampler *sampler, struct apapi_record *record)
{
    serve_close(sampler->serve);
    sampler->serve = NULL;
    if (sampler->observer &&
        observe_result(sampler->observer, &record->measurement, &record->regions)) {
        log_write(LOG_WARNING, "job %u step %s: no memory for its regions", record->id.job,
                  record->id.step);
    }
}

/* @param reason  why the record is incomplete; NULL: it is complete */
static void sampler_finish(struct sampler *sampler, const struct apapi_ending *ending,
                           const char *reason)
{
    struct apapi_record record = {.complete = !reason, .ending = *ending};
    struct apapi_error err;
    char lost[24];

    watchdog_set(STOP_LIMIT_S);
    if (!sampler->measuring) {
        sampler_answer(APAPI_WORD_FAILED, reason ? reason : "the step ended before it began");
        return;
    }
    snprintf(lost, sizeof lost, "%zu", log_lost());
    sampler_answer(APAPI_WORD_STOPPING, strcmp(lost, "0") == 0 ? "" : lost);
    apapi_session_stop(sampler->session, NULL);
    if (apapi_session_measurement(sampler->session, &record.measurement, &err)) {
        sampler_answer(APAPI_WORD_FAILED, err.text);
        return;
    }
    if (sampler->parts.job) {
        receiver_work(&sampler->parts.receiver); /* totals of the last steps */
    }
    take_user(sampler, deadline_now() + LAST_NAME_PATIENCE_NS);
    record.id = sampler->step.id;
    limits_record(&sampler->limits, &record);
    snprintf(record.reason, sizeof record.reason, "%s", reason ? reason : "");
    finish_regions(sampler, &record);
    share_finish(&sampler->step, &record);
    sampler_deliver(sampler, &record);
    apapi_record_clear(&record);
}

/* Handle one message of the plugin. @return whether to go on. */
static bool converse(struct sampler *sampler)
{
    struct apapi_ending ending = APAPI_ENDING_UNKNOWN;

    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PATIENCE_NS)) {
        sampler_finish(sampler, &ending,
                       errno == EPIPE ? "slurmstepd ended before the step" : strerror(errno));
        return false;
    }
    if (message_is(&message, APAPI_WORD_BEGIN) && !sampler->measuring) {
        sampler_begin(sampler);
    } else if (message_is(&message, APAPI_WORD_TASK)) {
        crossings_add_task(&sampler->limits.crossings, (pid_t)message_number(&message, "pid"));
    } else if (message_is(&message, APAPI_WORD_STOP)) {
        step_parse_ending(&message, &ending);
        sampler->wait_until_ns = deadline_now() + message_number(&message, "wait_ms") * DEADLINE_MS;
        sampler_finish(sampler, &ending, NULL);
        return false;
    }
    return true;
}

/* @return time until work is due without a message [ms]; -1: never. */
static int patience_ms(struct sampler *sampler)
{
    const int times_ms[] = {
        task_wait(&sampler->naming, 0) ? -1 : NAME_PAUSE_MS,
        sampler->parts.job ? receiver_patience_ms(&sampler->parts.receiver) : -1,
        sampler->serve ? serve_pause_ms(sampler->serve) : -1, archive_pause_ms(&sampler->archive),
        limits_patience_ms(&sampler->limits)};
    int soonest_ms = -1;

    for (size_t i = 0; i < COUNT_OF(times_ms); i++) {
        soonest_ms = clock_sooner_ms(soonest_ms, times_ms[i]);
    }
    return soonest_ms;
}

static void sampler_serve(struct sampler *sampler, int signals)
{
    struct pollfd watched[] = {
        {.fd = APAPI_CHANNEL_FD, .events = POLLIN},
        {.fd = signals, .events = POLLIN},
        {.fd = sampler->parts.job ? sampler->parts.receiver.poll : -1, .events = POLLIN},
        {.events = POLLIN}};
    bool more = true;

    while (more) {
        int ready;

        watched[3].fd = sampler->serve ? serve_descriptor(sampler->serve) : -1;
        ready = poll(watched, 4, patience_ms(sampler));
        if (ready < 0) {
            continue;
        }
        take_user(sampler, 0);
        if (watched[1].revents) {
            sampler_finish(sampler, &APAPI_ENDING_UNKNOWN, "the sampler was told to end");
            return;
        }
        if (watched[0].revents) {
            more = converse(sampler);
        } else if (sampler->parts.job) {
            receiver_work(&sampler->parts.receiver);
        }
        if (more && sampler->serve) {
            serve_work(sampler->serve);
            serve_tick(sampler->serve);
        }
        if (more) {
            limits_work(&sampler->limits, sampler->session);
        }
        if (ready == 0 || (more && archive_pause_ms(&sampler->archive) == 0)) {
            archive_work(&sampler->archive, sampler->session);
        }
    }
}

/* SIGTERM of a system shutdown may end the sampler. It ignores all other signals. */
static int block_signals(void)
{
    sigset_t all, end;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    return signalfd(-1, &end, SFD_CLOEXEC);
}

static int sampler_run(void)
{
    static struct sampler sampler; /* no initial value: it would add 160 KB to the program */
    struct apapi_error err;
    int signals = block_signals();
    int result = EXIT_SUCCESS;
    char *text = NULL;

    fcntl(APAPI_CHANNEL_FD, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_DUMPABLE, 0); /* its memory holds data that only root may read */
    umask(077);
    log_open(LOG_SOCKET, "apapi-sampler");
    cgroup_leave_job();
    sampler.live = LIVEFILE_NONE;
    sampler.files.report = sampler.files.trace = WRITER_NONE;
    archive_init(&sampler.archive, &sampler.step);
    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PATIENCE_NS)) {
        apapi_fail(&err, errno, "no configuration: %s", strerror(errno));
        sampler_answer(APAPI_WORD_FAILED, err.text);
        result = EXIT_FAILURE;
    } else if (message_is(&message, APAPI_WORD_ASK)) {
        process_settle(false);
        result = questions_answer(&message, &text) ? EXIT_FAILURE : EXIT_SUCCESS;
        sampler_answer(result ? APAPI_WORD_REFUSED : APAPI_WORD_ANSWER, text);
        free(text);
    } else if (message_is(&message, APAPI_WORD_NODE)) {
        result = node_mode_serve(&message);
    } else if (sampler_prepare(&sampler, &err)) {
        sampler_answer(APAPI_WORD_FAILED, err.text);
        result = EXIT_FAILURE;
    } else {
        sampler_serve(&sampler, signals);
    }
    archive_end(&sampler.archive);
    parts_close(&sampler.parts);
    userfiles_close(&sampler.files);
    apapi_session_destroy(sampler.session);
    limits_close(&sampler.limits);
    serve_close(sampler.serve);
    observe_destroy(sampler.observer); /* only now: the session told it of its readings */
    livefile_close(&sampler.live);     /* only now: the session wrote to it */
    apapi_event_rules_clear(&sampler.rules);
    return result;
}

/* --- the program ---------------------------------------------------------------------------- */

static const struct option_table table = {
    .program = "apapi-sampler",
    .head = "apapi-sampler is started by spank_apapi.so in slurmstepd.\n",
    .foot = "",
    .rows = (const struct option_row[]){{0}}};

int main(int argc, char **argv)
{
    struct stat channel;
    int status;

    if (beside_is_asked(argc, argv)) {
        return beside_run(argv);
    }
    process_restrict();
    if (argc == 1 && fstat(APAPI_CHANNEL_FD, &channel) == 0 && S_ISSOCK(channel.st_mode)) {
        unsetenv("LANG"); /* the plugin has set it: the language of the reader is not known */
        return sampler_run();
    }
    process_settle(false);
    if ((argc == 3 || argc == 4) && strcmp(argv[1], NODE_OPTION) == 0) {
        return node_mode_run(argv);
    }
    status = option_table_read(&table, argc, argv, NULL);
    if (status >= 0) {
        return status;
    }
    option_table_help(&table, stderr);
    return USAGE_ERROR;
}
