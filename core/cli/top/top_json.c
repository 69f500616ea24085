/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi top for programs, described in docs/top.schema.json. Unknown values have no key. */
#include <math.h>

#include "cli/json.h"
#include "cli/steps/view.h"
#include "record/fields.h"

#define IN_STEP(member) offsetof(struct top_step, member)
#define IN_EVENT(member) offsetof(struct top_event, member)
#define IN_FIGURE(member) offsetof(struct top_figure, member)

static const struct field step_fields[] = {
    {"cluster", FIELD_TEXT, false, IN_STEP(id.cluster), 0},
    {"job", FIELD_NUMBER, false, IN_STEP(id.job), 0},
    {"array_job", FIELD_NUMBER, false, IN_STEP(id.array_job), 0},
    {"array_task", FIELD_NUMBER, false, IN_STEP(id.array_task), 0},
    {"het_job", FIELD_NUMBER, false, IN_STEP(id.het_job), 0},
    {"het_offset", FIELD_NUMBER, false, IN_STEP(id.het_offset), 0},
    {"step", FIELD_TEXT, false, IN_STEP(id.step), 0},
    {"job_name", FIELD_TEXT, false, IN_STEP(id.job_name), 0},
    {"node", FIELD_TEXT, true, IN_STEP(id.node), 0},
    {"tasks", FIELD_NUMBER, false, IN_STEP(id.tasks), 0},
    {"uid", FIELD_NUMBER, false, IN_STEP(id.uid), 0},
    {"user", FIELD_TEXT, false, IN_STEP(id.user), 0},
    {"elapsed_s", FIELD_MEASURED, false, IN_STEP(elapsed_s), 0},
    {NULL, 0, false, 0, 0}};

/* For a domain, and for an event with such a unit. */
static const struct field power_fields[] = {
    {"power_w", FIELD_MEASURED, false, IN_FIGURE(now), 0},
    {"energy_j", FIELD_MEASURED, false, IN_FIGURE(total), 0},
    {NULL, 0, false, 0, 0}};

static const struct field value_fields[] = {{"now", FIELD_MEASURED, false, IN_FIGURE(now), 0},
                                            {"total", FIELD_MEASURED, false, IN_FIGURE(total), 0},
                                            {NULL, 0, false, 0, 0}};

static const struct field trust_fields[] = {
    {"age_s", FIELD_ROUGH, false, IN_FIGURE(age_s), 0},
    {"estimated", FIELD_FLAG, false, IN_FIGURE(estimated), 0},
    {"failed", FIELD_FLAG, false, IN_FIGURE(failed), 0},
    {"stale", FIELD_FLAG, false, IN_FIGURE(stale), 0},
    {NULL, 0, false, 0, 0}};

static const struct field event_fields[] = {{"name", FIELD_TEXT, true, IN_EVENT(name), 0},
                                            {"kind", FIELD_KIND, true, IN_EVENT(kind), 0},
                                            {"domain", FIELD_DOMAIN, false, IN_EVENT(domain), 0},
                                            {NULL, 0, false, 0, 0}};

static const char *const states[] = {[APAPI_LIVE_STARTING] = "starting",
                                     [APAPI_LIVE_RUNNING] = "running",
                                     [APAPI_LIVE_ENDED] = "ended"};

/* --- parts ---------------------------------------------------------------------------------- */

static int put_figure(json_t *object, const struct top_figure *figure)
{
    return fields_encode(object, power_fields, figure) ||
           fields_encode(object, trust_fields, figure);
}

static int top_json_put_domain(json_t *object, const void *domains, size_t d)
{
    const struct top_figure *figure = &((const struct top_figure *)domains)[d];

    return figure->measured ? put_figure(object, figure) : FIELDS_NONE;
}

static int top_json_put_domains(json_t *object, const struct top_figure domains[APAPI_DOMAINS])
{
    json_t *total = domains[TOP_TOTAL].measured ? json_object() : NULL;

    return fields_put_domains(object, "domains", top_json_put_domain, domains) ||
           (total && (field_put(object, "total", total) || put_figure(total, &domains[TOP_TOTAL])));
}

static int top_json_put_event(json_t *object, const void *events, size_t i)
{
    const struct top_event *event = &((const struct top_event *)events)[i];
    bool energetic = event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER;

    if (!event->figure.measured) {
        return FIELDS_NONE;
    }
    return fields_encode(object, event_fields, event) ||
           (!energetic && *event->unit && field_put_text(object, "unit", event->unit)) ||
           (!energetic && field_put_text(object, "now_unit", event->now_unit)) ||
           fields_encode(object, energetic ? power_fields : value_fields, &event->figure) ||
           fields_encode(object, trust_fields, &event->figure);
}

static int top_json_put_step(json_t *object, const void *steps, size_t i)
{
    const struct top_step *step = &((const struct top_step *)steps)[i];

    return fields_encode(object, step_fields, step) ||
           field_put_text(object, "state", states[step->state]) ||
           (step->start_unix_ns > 0 && field_put_moment(object, "start", step->start_unix_ns)) ||
           top_json_put_domains(object, step->domains);
}

static int top_json_put_step_events(json_t *object, const void *steps, size_t i)
{
    const struct top_step *step = &((const struct top_step *)steps)[i];

    return top_json_put_step(object, steps, i) ||
           fields_put_list(object, "events", step->event_count, top_json_put_event, step->events);
}

static int top_json_put_node(json_t *object, const void *nodes, size_t i)
{
    const struct top_node *node = &((const struct top_node *)nodes)[i];

    return field_put_text(object, "node", node->name) ||
           field_put_count(object, "steps", node->steps) ||
           top_json_put_domains(object, node->domains);
}

/* --- the whole ------------------------------------------------------------------------------ */

int top_print_json(const struct top_view *view, bool events)
{
    const struct apapi_live_counts *counts = &view->counts;
    json_t *object = json_pack("{s:i}", "version", 1);

    return json_print(
        object,
        field_put_moment(object, "time", view->unix_ns) ||
            fields_put_list(object, "steps", view->count,
                            events ? top_json_put_step_events : top_json_put_step, view->steps) ||
            fields_put_list(object, "nodes", view->node_count, top_json_put_node, view->nodes) ||
            field_put_count(object, "foreign", counts->foreign) ||
            field_put_count(object, "dead", counts->dead) ||
            field_put_count(object, "broken", counts->broken));
}
