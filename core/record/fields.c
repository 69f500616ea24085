/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/fields.h"

#include "apapi/record.h"
#include "base/array.h"

#define SIZE_IN(type, member) sizeof(((struct type *)NULL)->member)
#define IN_RECORD(member) offsetof(struct apapi_record, member)
#define IN_MEASUREMENT(member) offsetof(struct apapi_measurement, member)
#define IN_DOMAIN(member) offsetof(struct apapi_domain_result, member)
#define IN_COMPONENT(member) offsetof(struct apapi_component_result, member)
#define IN_EVENT(member) offsetof(struct apapi_event_result, member)
#define IN_REGION(member) offsetof(struct apapi_region_result, member)
#define IN_ENERGY(member) offsetof(struct apapi_region_energy, member)
#define IN_FOM(member) offsetof(struct apapi_fom, member)
#define IN_LOSSES(member) offsetof(struct apapi_region_losses, member)
#define IN_SHARE(member) offsetof(struct apapi_share, member)
#define IN_SHARED(member) offsetof(struct apapi_share_energy, member)
#define IN_CROSSING(member) offsetof(struct apapi_crossing, member)

const struct field fields_of_record[] = {
    {"cluster", FIELD_TEXT, false, IN_RECORD(id.cluster), SIZE_IN(apapi_record, id.cluster)},
    {"job", FIELD_NUMBER, false, IN_RECORD(id.job), 0},
    {"array_job", FIELD_NUMBER, false, IN_RECORD(id.array_job), 0},
    {"array_task", FIELD_NUMBER, false, IN_RECORD(id.array_task), 0},
    {"het_job", FIELD_NUMBER, false, IN_RECORD(id.het_job), 0},
    {"het_offset", FIELD_NUMBER, false, IN_RECORD(id.het_offset), 0},
    {"step", FIELD_TEXT, false, IN_RECORD(id.step), SIZE_IN(apapi_record, id.step)},
    {"name", FIELD_TEXT, false, IN_RECORD(id.name), SIZE_IN(apapi_record, id.name)},
    {"job_name", FIELD_TEXT, false, IN_RECORD(id.job_name), SIZE_IN(apapi_record, id.job_name)},
    {"node", FIELD_TEXT, true, IN_RECORD(id.node), SIZE_IN(apapi_record, id.node)},
    {"node_index", FIELD_NUMBER, false, IN_RECORD(id.node_index), 0},
    {"nodes", FIELD_NUMBER, false, IN_RECORD(id.nodes), 0},
    {"nodelist", FIELD_TEXT, false, IN_RECORD(id.nodelist), SIZE_IN(apapi_record, id.nodelist)},
    {"tasks", FIELD_NUMBER, false, IN_RECORD(id.tasks), 0},
    {"cores", FIELD_NUMBER, false, IN_RECORD(id.cores), 0},
    {"node_cores", FIELD_NUMBER, false, IN_RECORD(id.node_cores), 0},
    {"gpus", FIELD_NUMBER, false, IN_RECORD(id.gpus), 0},
    {"restarts", FIELD_NUMBER, false, IN_RECORD(id.restarts), 0},
    {"uid", FIELD_NUMBER, false, IN_RECORD(id.uid), 0},
    {"user", FIELD_TEXT, false, IN_RECORD(id.user), SIZE_IN(apapi_record, id.user)},
    {"account", FIELD_TEXT, false, IN_RECORD(id.account), SIZE_IN(apapi_record, id.account)},
    {"partition", FIELD_TEXT, false, IN_RECORD(id.partition), SIZE_IN(apapi_record, id.partition)},
    {"qos", FIELD_TEXT, false, IN_RECORD(id.qos), SIZE_IN(apapi_record, id.qos)},
    {"verified", FIELD_FLAG, false, IN_RECORD(id.verified), 0},
    {"start", FIELD_MOMENT, true, IN_RECORD(measurement.start_unix_ns), 0},
    {"boot", FIELD_TEXT, false, IN_RECORD(measurement.boot),
     SIZE_IN(apapi_record, measurement.boot)},
    {"monotonic_s", FIELD_DURATION, false, IN_RECORD(measurement.monotonic_ns), 0},
    {"elapsed_s", FIELD_DURATION, true, IN_RECORD(measurement.elapsed_ns), 0},
    {"late_s", FIELD_DURATION, true, IN_RECORD(measurement.late_ns), 0},
    {"exit_code", FIELD_NUMBER, false, IN_RECORD(ending.code), 0},
    {"exit_signal", FIELD_NUMBER, false, IN_RECORD(ending.signal), 0},
    {"failed_tasks", FIELD_NUMBER, false, IN_RECORD(ending.failed), 0},
    {"complete", FIELD_FLAG, true, IN_RECORD(complete), 0},
    {"reason", FIELD_TEXT, false, IN_RECORD(reason), SIZE_IN(apapi_record, reason)},
    {"recovered", FIELD_FLAG, false, IN_RECORD(recovered), 0},
    {"delayed", FIELD_FLAG, false, IN_RECORD(delayed), 0},
    {"unwritten", FIELD_TEXT, false, IN_RECORD(unwritten), SIZE_IN(apapi_record, unwritten)},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_trust[] = {
    {"covered", FIELD_AMOUNT, false, IN_MEASUREMENT(covered), 0},
    {"cpu_s", FIELD_DURATION, true, IN_MEASUREMENT(cpu_ns), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_domain[] = {
    {"energy_j", FIELD_AMOUNT, false, IN_DOMAIN(energy_j), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_DOMAIN(uncertainty_j), 0},
    {"covered", FIELD_PART, false, IN_DOMAIN(covered), 0},
    {"rest_j", FIELD_PART, false, IN_DOMAIN(rest_j), 0},
    {"mean_w", FIELD_MEASURED, false, IN_DOMAIN(power_w.mean), 0},
    {"min_w", FIELD_LEAST, false, IN_DOMAIN(power_w.min), 0},
    {"max_w", FIELD_GREATEST, false, IN_DOMAIN(power_w.max), 0},
    {"p95_w", FIELD_ROUGH, false, IN_DOMAIN(power_w.p95), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_component[] = {
    {"name", FIELD_TEXT, true, IN_COMPONENT(name), SIZE_IN(apapi_component_result, name)},
    {"source", FIELD_TEXT, false, IN_COMPONENT(source), SIZE_IN(apapi_component_result, source)},
    {"reason", FIELD_TEXT, false, IN_COMPONENT(reason), SIZE_IN(apapi_component_result, reason)},
    {"interval_s", FIELD_DURATION, false, IN_COMPONENT(interval_ns), 0},
    {"missed", FIELD_COUNT, false, IN_COMPONENT(missed), 0},
    {"user_rules", FIELD_FLAG, false, IN_COMPONENT(user_rules), 0},
    {"outages", FIELD_COUNT, false, IN_COMPONENT(outages), 0},
    {"outage_s", FIELD_DURATION, false, IN_COMPONENT(outage_ns), 0},
    {"periods", FIELD_COUNT, false, IN_COMPONENT(period.count), 0},
    {"period_mean_s", FIELD_ROUGH, false, IN_COMPONENT(period.mean_s), 0},
    {"period_sd_s", FIELD_ROUGH, false, IN_COMPONENT(period.sd_s), 0},
    {"period_longest_s", FIELD_ROUGH, false, IN_COMPONENT(period.longest_s), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_event[] = {
    {"name", FIELD_TEXT, true, IN_EVENT(event.name), SIZE_IN(apapi_event_result, event.name)},
    {"kind", FIELD_KIND, false, IN_EVENT(event.kind), 0},
    {"domain", FIELD_DOMAIN, false, IN_EVENT(event.domain), 0},
    {"unit", FIELD_TEXT, true, IN_EVENT(event.unit), SIZE_IN(apapi_event_result, event.unit)},
    {"total", FIELD_MEASURED, false, IN_EVENT(total), 0},
    {"raw_total", FIELD_COUNT, false, IN_EVENT(raw_total), 0},
    {"scale", FIELD_EXACT, true, IN_EVENT(event.scale), 0},
    {"type", FIELD_TYPE, false, IN_EVENT(event.type), 0},
    {"counter", FIELD_FLAG, false, IN_EVENT(event.accumulates), 0},
    {"estimated", FIELD_FLAG, false, IN_EVENT(event.estimated), 0},
    {"range_max", FIELD_COUNT, false, IN_EVENT(event.range_max), 0},
    {"guard_j", FIELD_EXACT, false, IN_EVENT(event.guard_j), 0},
    {"update_s", FIELD_DURATION, false, IN_EVENT(event.update_ns), 0},
    {"min", FIELD_LEAST, false, IN_EVENT(summary.min), 0},
    {"mean", FIELD_MEASURED, false, IN_EVENT(summary.mean), 0},
    {"max", FIELD_GREATEST, false, IN_EVENT(summary.max), 0},
    {"p95", FIELD_ROUGH, false, IN_EVENT(summary.p95), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_EVENT(uncertainty_j), 0},
    {"covered_s", FIELD_DURATION, true, IN_EVENT(covered_ns), 0},
    {"samples", FIELD_COUNT, true, IN_EVENT(incidents.samples), 0},
    {"failed", FIELD_COUNT, false, IN_EVENT(incidents.failed), 0},
    {"wraps", FIELD_COUNT, false, IN_EVENT(incidents.wraps), 0},
    {"resets", FIELD_COUNT, false, IN_EVENT(incidents.resets), 0},
    {"refused", FIELD_COUNT, false, IN_EVENT(incidents.refused), 0},
    {"gaps", FIELD_COUNT, false, IN_EVENT(incidents.gaps), 0},
    {"stalls", FIELD_COUNT, false, IN_EVENT(incidents.stalls), 0},
    {"rough", FIELD_COUNT, false, IN_EVENT(incidents.rough), 0},
    {"stuck", FIELD_FLAG, false, IN_EVENT(stuck), 0},
    {"still", FIELD_FLAG, false, IN_EVENT(still), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_region[] = {
    {"name", FIELD_TEXT, false, IN_REGION(path), SIZE_IN(apapi_region_result, path)},
    {"kind", FIELD_REGION, false, IN_REGION(kind), 0},
    {"method", FIELD_METHOD, true, IN_REGION(method), 0},
    {"reason", FIELD_TEXT, false, IN_REGION(reason), SIZE_IN(apapi_region_result, reason)},
    {"count", FIELD_COUNT, false, IN_REGION(count), 0},
    {"programs", FIELD_NUMBER, false, IN_REGION(programs), 0},
    {"threads", FIELD_NUMBER, false, IN_REGION(threads), 0},
    {"time_s", FIELD_DURATION, true, IN_REGION(time_ns), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_region_energy[] = {
    {"energy_j", FIELD_AMOUNT, false, IN_ENERGY(energy_j), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_ENERGY(uncertainty_j), 0},
    {"power_w", FIELD_MEASURED, false, IN_ENERGY(power_w), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_fom[] = {
    {"name", FIELD_TEXT, true, IN_FOM(name), SIZE_IN(apapi_fom, name)},
    {"value", FIELD_MEASURED, true, IN_FOM(value), 0},
    {"unit", FIELD_TEXT, false, IN_FOM(unit), SIZE_IN(apapi_fom, unit)},
    {"programs", FIELD_NUMBER, false, IN_FOM(programs), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_losses[] = {{"regions", FIELD_COUNT, false, IN_LOSSES(regions), 0},
                                         {"names", FIELD_COUNT, false, IN_LOSSES(names), 0},
                                         {"threads", FIELD_COUNT, false, IN_LOSSES(threads), 0},
                                         {"programs", FIELD_COUNT, false, IN_LOSSES(programs), 0},
                                         {"refused", FIELD_COUNT, false, IN_LOSSES(refused), 0},
                                         {"misuses", FIELD_COUNT, false, IN_LOSSES(misuses), 0},
                                         {NULL, 0, false, 0, 0}};

const struct field fields_of_crossing[] = {
    {"threshold", FIELD_TEXT, true, IN_CROSSING(threshold), SIZE_IN(apapi_crossing, threshold)},
    {"time", FIELD_MOMENT, true, IN_CROSSING(unix_ns), 0},
    {"value", FIELD_MEASURED, false, IN_CROSSING(value), 0},
    {"unit", FIELD_TEXT, false, IN_CROSSING(unit), SIZE_IN(apapi_crossing, unit)},
    {"count", FIELD_COUNT, true, IN_CROSSING(count), 0},
    {"action", FIELD_TEXT, false, IN_CROSSING(action), SIZE_IN(apapi_crossing, action)},
    {"result", FIELD_TEXT, false, IN_CROSSING(result), SIZE_IN(apapi_crossing, result)},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_share[] = {
    {"method", FIELD_TEXT, false, IN_SHARE(method), SIZE_IN(apapi_share, method)},
    {"idle", FIELD_TEXT, false, IN_SHARE(idle), SIZE_IN(apapi_share, idle)},
    {"reason", FIELD_TEXT, false, IN_SHARE(reason), SIZE_IN(apapi_share, reason)},
    {"slices", FIELD_FLAG, false, IN_SHARE(slices), 0},
    {"interval_s", FIELD_DURATION, false, IN_SHARE(interval_ns), 0},
    {"tail_s", FIELD_DURATION, false, IN_SHARE(tail_ns), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_share_energy[] = {
    {"energy_j", FIELD_AMOUNT, true, IN_SHARED(energy_j), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_SHARED(uncertainty_j), 0},
    {"idle_j", FIELD_AMOUNT, false, IN_SHARED(idle_j), 0},
    {"idle_w", FIELD_ROUGH, false, IN_SHARED(idle_w), 0},
    {NULL, 0, false, 0, 0}};

#define FITS(fields) _Static_assert(COUNT_OF(fields) <= FIELDS_MAX, "FIELDS_MAX is too small")
FITS(fields_of_record);
FITS(fields_of_trust);
FITS(fields_of_domain);
FITS(fields_of_component);
FITS(fields_of_event);
FITS(fields_of_region);
FITS(fields_of_region_energy);
FITS(fields_of_fom);
FITS(fields_of_losses);
FITS(fields_of_crossing);
FITS(fields_of_share);
FITS(fields_of_share_energy);

const char *field_type_name(int type)
{
    static const char *const names[] = {[APAPI_TYPE_INT64] = "int64",
                                        [APAPI_TYPE_UINT64] = "uint64",
                                        [APAPI_TYPE_FP64] = "fp64",
                                        [APAPI_TYPE_BIT64] = "bit64"};

    return type >= 0 && type < (int)(COUNT_OF(names)) ? names[type] : NULL;
}
