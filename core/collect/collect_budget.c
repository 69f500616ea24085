/* SPDX-License-Identifier: BSD-3-Clause */
#include "collect/collect_budget.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/units.h"
#include "channel/deadline.h"
#include "collect/pass_totals.h"

#define SILENT_PERIODS 3
#define UNHEARD_PERIODS 30 /* for the first total: the step may begin late */
#define TOLD_MAX 3         /* nodes that are named at once */

/* The job's ID after the energy. */
static int parse_job(const char *text, uint32_t *job)
{
    struct whole_number number;

    if (*text != ' ' || whole_number_parse(text + 1, &number) || number.negative || *number.rest ||
        number.value == 0 || number.value > UINT32_MAX) {
        return -1;
    }
    *job = (uint32_t)number.value;
    return 0;
}

/* "RUN ELAPSED_NS JOULES JOB" */
static int parse_report(const char *text, struct budget_report *report, uint32_t *job)
{
    struct whole_number run, elapsed;
    struct real_number total;

    if (whole_number_parse(text, &run) || run.negative || *run.rest != ' ' ||
        whole_number_parse(run.rest + 1, &elapsed) || elapsed.negative || *elapsed.rest != ' ') {
        return -1;
    }
    *report = (struct budget_report){run.value, elapsed.value, NAN};
    if (strncmp(elapsed.rest, " - ", 3) == 0) {
        return parse_job(elapsed.rest + 2, job);
    }
    if (real_number_parse(elapsed.rest + 1, &total) || !(total.value >= 0)) {
        return -1;
    }
    report->total_j = total.value;
    return parse_job(total.rest, job);
}

static bool budget_has_room(const struct collect_budget *budget, const char *name)
{
    for (size_t i = 0; i < budget->sum.count; i++) {
        if (strcmp(budget->sum.nodes[i].name, name) == 0) {
            return true;
        }
    }
    return budget->nodes == 0 || budget->sum.count < budget->nodes;
}

/* What a reader of the record would not expect of an action. */
static const char *describe_result(const struct enforcer *enforcer)
{
    if (enforcer && enforcer->stage == ENFORCE_FAILED) {
        return "not sent";
    }
    return enforcer && enforcer->stage == ENFORCE_SENDING && enforcer->attempts > 1 ? "not sent yet"
                                                                                    : "";
}

/* @return length of the line; 0: there is no budget */
static size_t budget_put_state(const struct collect_budget *budget, char *text, size_t size)
{
    double least_j = INFINITY;

    for (size_t i = 0; i < budget->watch.count; i++) {
        least_j = fmin(least_j, budget->watch.budgets[i].amount_j);
    }
    return isinf(least_j) ? 0
                          : (size_t)snprintf(text, size, APAPI_ANSWER_BUDGET "%.9g %.9g\n", least_j,
                                             budget_sum_total_j(&budget->sum, deadline_now()));
}

static void budget_answer(const struct collect_budget *budget, int fd)
{
    char text[64 + COLLECT_NOTES_MAX * (sizeof budget->notes[0].text + 16)];
    size_t length = budget_put_state(budget, text, sizeof text);

    for (size_t i = 0; i < budget->note_count; i++) {
        const struct collect_note *note = &budget->notes[i];

        length += (size_t)snprintf(text + length, sizeof text - length, "%s\t%s\n", note->text,
                                   describe_result(note->enforcer));
    }
    send(fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void budget_take_total(void *context, const struct delivery *delivery, int fd)
{
    struct collect_budget *budget = context;
    struct budget_report report;
    uint64_t now_ns = deadline_now();
    uint32_t job;

    if (!budget_has_room(budget, delivery->node) ||
        parse_report(delivery->payload, &report, &job)) {
        return;
    }
    enforce_add_job(&budget->target, job);
    budget->heard_ns = budget->heard_ns ? budget->heard_ns : now_ns;
    budget_sum_report(&budget->sum, delivery->node, &report, now_ns);
    budget->next_ns = now_ns;
    budget_answer(budget, fd);
}

static void budget_take_end(void *context, const char *node, double total_j)
{
    struct collect_budget *budget = context;

    if (budget_has_room(budget, node)) {
        budget_sum_end(&budget->sum, node, total_j);
        budget->next_ns = deadline_now();
    }
}

/* The site's budget, as soon as partition and QOS are known. */
static void watch_site(struct collect_budget *budget, const struct budget_place *place)
{
    struct budget found;

    if (budget_site_find(&budget->site, place, *budget->user_text != '\0', &found)) {
        budget_watch_add(&budget->watch, &found);
    }
}

static void ask_place(struct collect_budget *budget)
{
    char job[32];
    const char *const words[] = {"squeue", "--noheader", "--format=%P %q", "--job", job, NULL};

    snprintf(job, sizeof job, "%.*s", (int)strcspn(budget->step, "."), budget->step);
    tool_start(&budget->asking, &budget->place, words);
}

static void take_place(struct collect_budget *budget, bool known)
{
    char *qos = strchr(budget->asking.text, ' ');
    struct budget_place place = {"", ""};

    if (known && qos) {
        *qos++ = '\0';
        qos[strcspn(qos, " \n")] = '\0';
        place = (struct budget_place){budget->asking.text, qos};
    } else {
        speak(&budget->speaker, "step %s: partition and QOS are not known: %.200s", budget->step,
              budget->asking.text);
    }
    watch_site(budget, &place);
}

static void read_site(struct collect_budget *budget, const char *path)
{
    config_defaults(&budget->config);
    if (path) {
        config_read(&budget->config, path, NULL);
    }
    budget->site = (struct budget_site){
        config_section_value(&budget->config, BUDGET_SECTION, BUDGET_MAX_KEY),
        config_section_value(&budget->config, BUDGET_SECTION, BUDGET_DEFAULT_KEY),
        config_section_value(&budget->config, BUDGET_SECTION, BUDGET_ACTION_KEY)};
}

static void watch_user(struct collect_budget *budget)
{
    struct budget asked;

    if (*budget->user_text && budget_parse(budget->user_text, &asked, NULL) == 0) {
        budget_watch_add(&budget->watch, &asked);
    }
}

static void begin_copy(const struct message *message, const char *key, char *text, size_t size)
{
    const char *value = message_value(message, key);

    snprintf(text, size, "%s", value ? value : "");
}

static void begin_target(struct enforce_target *target, const char *step)
{
    const char *dot = strchr(step, '.');

    snprintf(target->step, sizeof target->step, "%s", dot ? dot + 1 : step);
    enforce_add_job(target, (uint32_t)strtoul(step, NULL, 10));
}

void collect_budget_begin(struct collect_budget *budget, const struct message *message,
                          struct receiver *receiver)
{
    uint64_t totals_ms = message_number(message, "totals_ms");

    if (totals_ms == 0) {
        budget->speaker.fd = -1;
        return;
    }
    budget->active = true;
    budget->forward = receiver->forward;
    budget->of_job = message_value(message, "job_budget") != NULL;
    budget->begun_ns = deadline_now();
    speak_begin(&budget->speaker);
    if (message_value(message, "quiet")) {
        speak_end(&budget->speaker);
    }
    budget->nodes = receiver->nodes;
    budget->period_ns = budget_period_ns(totals_ms * DEADLINE_MS, budget->nodes);
    budget->sum.silent_ns = SILENT_PERIODS * budget->period_ns;
    begin_copy(message, "step", budget->step, sizeof budget->step);
    begin_target(&budget->target, budget->step);
    begin_copy(message, "budget", budget->user_text, sizeof budget->user_text);
    begin_copy(message, "slurm_bin", budget->place.folder, sizeof budget->place.folder);
    begin_copy(message, "slurm_conf", budget->place.slurm_conf, sizeof budget->place.slurm_conf);
    read_site(budget, message_value(message, "config"));
    watch_user(budget);
    if (budget_site_varies(&budget->site)) {
        ask_place(budget);
    } else {
        watch_site(budget, &(struct budget_place){"", ""});
    }
    receiver->total = budget_take_total;
    receiver->ended = budget_take_end;
    receiver->budget_context = budget;
}

/* The words of the option: "term", "signal=USR1@job", "log". */
static void describe_action(const struct budget *budget, char *text, size_t size)
{
    const char *where = budget->whole_job ? "@job" : "";

    switch (budget->action) {
    case BUDGET_TERM:
        snprintf(text, size, "term%s", where);
        break;
    case BUDGET_SIGNAL:
        snprintf(text, size, "signal=%s%s", budget_signal_name(budget), where);
        break;
    default:
        snprintf(text, size, "log");
        break;
    }
}

/* @param enforcer  of the action; NULL: a line is all */
static void note_crossing(struct collect_budget *budget, const struct budget_crossing *crossing,
                          const struct enforcer *enforcer)
{
    struct collect_note *note = &budget->notes[budget->note_count];
    int64_t unix_ns = clock_unix_ns() - (int64_t)(deadline_now() - crossing->reached_ns);
    char warning[32] = "", action[32] = "log";

    if (budget->note_count == COLLECT_NOTES_MAX) {
        return;
    }
    if (crossing->warning) {
        snprintf(warning, sizeof warning, ", warn=%g%%", crossing->budget->warn * 100);
    }
    if (enforcer) {
        describe_action(crossing->budget, action, sizeof action);
    }
    snprintf(note->text, sizeof note->text, "%" PRId64 " %.9g\tbudget of %s%s\t%s", unix_ns,
             crossing->sum_j, crossing->budget->text, warning, action);
    note->enforcer = enforcer;
    budget->note_count++;
}

/* A step that has ended, or is being ended, needs no signal. */
static bool is_ending(const struct collect_budget *budget)
{
    if (budget->nodes > 0 && budget_sum_ended(&budget->sum) >= budget->nodes) {
        return true;
    }
    for (size_t i = 0; i < BUDGET_WATCHED; i++) {
        if (budget->enforcers[i].stage != ENFORCE_IDLE &&
            budget->enforcers[i].budget.action == BUDGET_TERM) {
            return true;
        }
    }
    return false;
}

static void act(struct collect_budget *budget, const struct budget_crossing *crossing)
{
    const struct budget *crossed = crossing->budget;
    const char *signal = budget_signal_name(crossed);
    struct enforcer *enforcer = &budget->enforcers[crossed - budget->watch.budgets];
    bool acts = *signal && !is_ending(budget);
    char sum[UNITS_SIZE], action[64] = "";

    if (acts) {
        enforcer->place = &budget->place;
        enforcer->target = &budget->target;
        enforce_begin(enforcer, crossed); /* before what may take longer */
        snprintf(action, sizeof action, "SIG%s to the %s", signal,
                 crossed->whole_job ? "job" : "step");
    }
    units_quantity(sum, sizeof sum, crossing->sum_j, "J");
    note_crossing(budget, crossing, acts ? enforcer : NULL);
    speak(&budget->speaker, "step %s: energy budget of %s reached: %s%s%s", budget->step,
          crossed->text, sum, acts ? ", " : "", action);
}

static void warn(struct collect_budget *budget, const struct budget_crossing *crossing)
{
    char sum[UNITS_SIZE];

    units_quantity(sum, sizeof sum, crossing->sum_j, "J");
    note_crossing(budget, crossing, NULL);
    speak(&budget->speaker, "step %s: %g %% of the energy budget of %s used: %s", budget->step,
          crossing->budget->warn * 100, crossing->budget->text, sum);
}

static void tell_node(const struct collect_budget *budget, const struct budget_node *node)
{
    char power[UNITS_SIZE];

    units_quantity(power, sizeof power, node->power_w, "W");
    if (node->silent && isnan(node->power_w)) {
        speak(&budget->speaker, "step %s: %s is silent, and its power is not known", budget->step,
              node->name);
    } else if (node->silent) {
        speak(&budget->speaker, "step %s: %s is silent: it counts as drawing %s, as before",
              budget->step, node->name, power);
    } else {
        speak(&budget->speaker, "step %s: %s is heard again", budget->step, node->name);
    }
}

/* A network that fails concerns all nodes at once. */
static void look_at_nodes(struct collect_budget *budget, uint64_t now_ns)
{
    const struct budget_node *node;
    size_t told = 0, more = 0;

    while ((node = budget_sum_look(&budget->sum, now_ns))) {
        if (node->ended || (budget->watch.count == 0 && !budget->of_job)) {
            continue;
        }
        if (told < TOLD_MAX) {
            told++;
            tell_node(budget, node);
        } else {
            more++;
        }
    }
    if (more > 0) {
        speak(&budget->speaker, "step %s: the same of %zu more nodes", budget->step, more);
    }
}

/* Once, for who asked for a budget: nodes of which nothing is known. */
static void count_nodes(struct collect_budget *budget, uint64_t now_ns)
{
    size_t known = budget_sum_known(&budget->sum);
    uint64_t due_ns = budget->heard_ns ? budget->heard_ns + budget->sum.silent_ns
                                       : budget->begun_ns + UNHEARD_PERIODS * budget->period_ns;

    if (budget->counted || !*budget->user_text || now_ns < due_ns) {
        return;
    }
    budget->counted = true;
    if (known < budget->nodes) {
        speak(&budget->speaker,
              "step %s: the energy of %zu of %zu nodes is not known: the budget is without them",
              budget->step, budget->nodes - known, budget->nodes);
    }
}

static void look_at_sum(struct collect_budget *budget)
{
    struct budget_crossing crossings[BUDGET_WATCHED];
    uint64_t now_ns = deadline_now();
    size_t count;

    budget->next_ns = now_ns + budget->period_ns;
    if (now_ns >= budget->pass_ns) {
        budget->pass_ns = now_ns + budget->period_ns;
        pass_totals(&budget->sum, budget->forward);
    }
    look_at_nodes(budget, now_ns);
    count_nodes(budget, now_ns);
    count = budget_watch_look(&budget->watch, budget_sum_total_j(&budget->sum, now_ns), now_ns,
                              crossings);
    for (size_t i = 0; i < count; i++) {
        (crossings[i].warning ? warn : act)(budget, &crossings[i]);
    }
}

static void look_at_enforcer(struct collect_budget *budget, struct enforcer *enforcer)
{
    if (enforce_work(enforcer) && enforcer->stage == ENFORCE_FAILED) {
        enforcer->tool.text[strcspn(enforcer->tool.text, "\n")] = '\0';
        speak(&budget->speaker, "step %s: the budget of %s has no effect: %.200s", budget->step,
              enforcer->budget.text, enforcer->tool.text);
    }
}

void collect_budget_work(struct collect_budget *budget)
{
    enum tool_state asked;

    if (!budget->active) {
        return;
    }
    asked = tool_look(&budget->asking);
    if (asked == TOOL_DONE || asked == TOOL_FAILED) {
        take_place(budget, asked == TOOL_DONE);
    }
    if (deadline_now() >= budget->next_ns) {
        look_at_sum(budget);
    }
    for (size_t i = 0; i < BUDGET_WATCHED; i++) {
        look_at_enforcer(budget, &budget->enforcers[i]);
    }
}

static void sooner(int *pause_ms, int other_ms)
{
    *pause_ms = other_ms >= 0 && other_ms < *pause_ms ? other_ms : *pause_ms;
}

int collect_budget_pause_ms(const struct collect_budget *budget)
{
    uint64_t now_ns = deadline_now();
    int pause_ms;

    if (!budget->active) {
        return -1;
    }
    pause_ms = budget->next_ns > now_ns ? (int)((budget->next_ns - now_ns) / DEADLINE_MS) + 1 : 0;
    sooner(&pause_ms, budget->asking.pid ? 10 : -1);
    for (size_t i = 0; i < BUDGET_WATCHED; i++) {
        sooner(&pause_ms, enforce_pause_ms(&budget->enforcers[i]));
    }
    return pause_ms;
}

void collect_budget_end(struct collect_budget *budget)
{
    speak_end(&budget->speaker);
    budget->active = false;
}
