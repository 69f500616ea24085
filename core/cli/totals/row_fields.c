/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/totals/totals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/units.h"

#define ENERGY_WIDTH 10
#define POWER_WIDTH 10
#define TIME_WIDTH 19
#define FIXED_DECIMALS 3 /* in a unit that was asked for */
#define WIDTH_MAX 4096
#define ROW(member) offsetof(struct report_row, member)

static const struct report_field fields[] = {
    {"jobid", REPORT_BUFFER, 10, ROW(job_id), "job, as 17, 17_3 of an array or 17+1"},
    {"stepid", REPORT_BUFFER, 12, ROW(step_id), "job and step; --by step"},
    {"day", REPORT_TEXT, 10, ROW(words[REPORT_DAY]), "local day; --by day"},
    {"node", REPORT_TEXT, 12, ROW(node), "name of the node; --by node"},
    {"cluster", REPORT_TEXT, 10, ROW(words[REPORT_CLUSTER]), "name of the cluster"},
    {"user", REPORT_TEXT, 9, ROW(words[REPORT_USER]), "user who ran it"},
    {"account", REPORT_TEXT, 10, ROW(words[REPORT_ACCOUNT]), "account of the job"},
    {"partition", REPORT_TEXT, 10, ROW(words[REPORT_PARTITION]), "partition of the job"},
    {"qos", REPORT_TEXT, 8, ROW(words[REPORT_QOS]), "QOS of the job"},
    {"jobname", REPORT_TEXT, 12, ROW(words[REPORT_JOB_NAME]), "name of the job"},
    {"name", REPORT_TEXT, 12, ROW(words[REPORT_NAME]), "name of the step's program"},
    {"jobs", REPORT_COUNT, 6, ROW(jobs), "number of jobs"},
    {"steps", REPORT_COUNT, 5, ROW(steps), "number of steps that have a record"},
    {"nodes", REPORT_COUNT, 5, ROW(nodes), "number of nodes"},
    {"nodelist", REPORT_LIST, 15, ROW(nodelist), "nodes that have a record"},
    {"start", REPORT_MOMENT, TIME_WIDTH, ROW(start_ns), "first reading, local time"},
    {"end", REPORT_MOMENT, TIME_WIDTH, ROW(end_ns), "last reading"},
    {"elapsed", REPORT_SECONDS, 11, ROW(elapsed_s), "from first to last reading; sum over jobs"},
    {"energy", REPORT_ENERGY, ENERGY_WIDTH, ROW(energy_j), "package + dram + gpu"},
    {"uncertainty", REPORT_ENERGY, ENERGY_WIDTH + 1, ROW(uncertainty_j),
     "of energy, above or below, but for that of the meters"},
    {"package", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_PACKAGE]), "of processors"},
    {"dram", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_DRAM]), "of memory"},
    {"gpu", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_GPU]), "of GPUs"},
    {"core", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_CORE]), "inside package"},
    {"uncore", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_UNCORE]), "inside package"},
    {"psys", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_PSYS]), "of the platform"},
    {"nodeenergy", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_NODE]),
     "of whole nodes, by meters of their own"},
    {"energypernode", REPORT_ENERGY, 13, ROW(energy_per_node_j), "energy / nodes"},
    {"power", REPORT_POWER, POWER_WIDTH, ROW(power_w), "mean while any node was measured"},
    {"maxpower", REPORT_POWER, POWER_WIDTH, ROW(max_power_w), "greatest of one node"},
    {"measured", REPORT_PERCENT, 8, ROW(measured_pct), "node time with known energy"},
    {"covered", REPORT_PERCENT, 8, ROW(covered_pct), "records' time between good readings"},
    {"missing_domains", REPORT_BUFFER, 15, ROW(missing_domains), "domains that energy lacks"},
    {"records", REPORT_COUNT, 7, ROW(records), "number of records"},
    {"complete", REPORT_FLAG, 8, ROW(complete), "yes: none is incomplete or missing"},
    {"incomplete", REPORT_COUNT, 10, ROW(incomplete), "records that end before their step"},
    {"missing", REPORT_COUNT, 7, ROW(missing), "nodes of a step without a record"},
    {"missing_nodes", REPORT_LIST, 15, ROW(missing_nodes), "names of these nodes, as far as known"},
    {"reason", REPORT_TEXT, 20, ROW(reason), "why a record is incomplete"},
    {"delayed", REPORT_COUNT, 7, ROW(delayed), "records that were written late"},
    {"shareless", REPORT_COUNT, 9, ROW(shareless), "records without a share; --energy=share"},
    {"idle_included", REPORT_COUNT, 13, ROW(with_idle), "records with idle power in the share"},
    {"exit", REPORT_BUFFER, 6, ROW(exit), "greatest exit status:signal"},
    {"state", REPORT_TEXT, 9, ROW(state), "COMPLETED: all tasks with status 0; else FAILED"},
    {"restarts", REPORT_COUNT, 8, ROW(restarts), "times the job was requeued"},
    {"co2", REPORT_MASS, 10, ROW(co2_g), "energy x PUE x co2_g_per_kwh of apapi.conf"},
    {"cost", REPORT_MONEY, 10, ROW(cost), "energy x PUE x price_per_kwh of apapi.conf"},
};
#define FIELD_COUNT COUNT_OF(fields)

static const struct {
    const char *name, *suffix;
    double factor; /* in J */
} units[] = {
    {"auto", "j", 1}, {"J", "j", 1}, {"kJ", "kj", 1e3}, {"Wh", "wh", 3600}, {"kWh", "kwh", 3.6e6}};

const struct report_field *report_field_at(size_t index)
{
    return index < FIELD_COUNT ? &fields[index] : NULL;
}

static bool row_fields_is_number(const struct report_field *field)
{
    return field->kind >= REPORT_COUNT && field->kind <= REPORT_MONEY;
}

struct report_row report_row_empty(void)
{
    struct report_row row = {.complete = false};

    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (row_fields_is_number(&fields[i])) {
            *(double *)(void *)((char *)&row + fields[i].offset) = NAN;
        }
    }
    return row;
}

static const struct report_field *find_field(const char *name, size_t length)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strlen(fields[i].name) == length && strncasecmp(fields[i].name, name, length) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

void report_fields_list(bool numbers_only, char *text, size_t size)
{
    size_t length = 0;

    *text = '\0';
    for (size_t i = 0; i < FIELD_COUNT && length < size; i++) {
        if (row_fields_is_number(&fields[i]) || !numbers_only) {
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? "," : "",
                                       fields[i].name);
        }
    }
}

int report_format_parse(const char *list, struct report_format *format, struct apapi_error *err)
{
    format->count = 0;
    for (const char *word = list;; word++) {
        size_t size = strcspn(word, ","), name_size = strcspn(word, ",%");
        const struct report_field *field = find_field(word, name_size);
        size_t width = field ? field->width : 0;
        char *end;

        if (!field) {
            return apapi_fail(err, EINVAL, "unknown field '%.*s'", (int)name_size, word);
        }
        if (name_size < size) {
            width = strtoul(word + name_size + 1, &end, 10);
            if (end != word + size || width < 1 || width > WIDTH_MAX) {
                return apapi_fail(err, ERANGE, "'%.*s': the width is not a number from 1 to %d",
                                  (int)size, word, WIDTH_MAX);
            }
        }
        if (format->count == REPORT_COLUMNS_MAX) {
            return apapi_fail(err, ERANGE, "more than %d fields", REPORT_COLUMNS_MAX);
        }
        format->columns[format->count++] =
            (struct report_column){.field = field, .width = width, .given = name_size < size};
        word += size;
        if (*word == '\0') {
            return 0;
        }
    }
}

const struct report_field *report_field_sortable(const char *name, struct apapi_error *err)
{
    const struct report_field *field = find_field(name, strlen(name));

    if (!field || !row_fields_is_number(field)) {
        apapi_fail(err, EINVAL,
                   field ? "cannot sort by '%.40s', which is not a number"
                         : "unknown field '%.40s'",
                   name);
        return NULL;
    }
    return field;
}

/* --- values --------------------------------------------------------------------------------- */

static const void *member(const struct report_field *field, const struct report_row *row)
{
    return (const char *)row + field->offset;
}

double report_field_number(const struct report_field *field, const struct report_row *row)
{
    return *(const double *)member(field, row);
}

const char *report_field_string(const struct report_field *field, const struct report_row *row)
{
    const char *text = NULL;

    switch (field->kind) {
    case REPORT_TEXT:
    case REPORT_LIST:
        text = *(const char *const *)member(field, row);
        return text ? text : "";
    case REPORT_BUFFER:
        return member(field, row);
    default:
        return NULL;
    }
}

struct elapsed_text report_elapsed_text(double seconds)
{
    long long all = (long long)seconds, day_s = all % 86400;
    struct elapsed_text text = {""};
    int length = all < 86400 ? 0 : snprintf(text.text, sizeof text, "%lld-", all / 86400);

    snprintf(text.text + length, sizeof text - (size_t)length, "%02lld:%02lld:%02lld", day_s / 3600,
             day_s / 60 % 60, day_s % 60);
    return text;
}

void report_energy_text(char *text, size_t size, double energy_j, double uncertainty_j,
                        enum report_unit unit)
{
    struct units_scale scale = {units[unit].factor, "", FIXED_DECIMALS};

    if (unit == REPORT_UNIT_AUTO) {
        snprintf(text, size, "%s", units_known_quantity(energy_j, uncertainty_j, "J").text);
        return;
    }
    if (energy_j > 0 && energy_j < scale.factor / 10) { /* three digits that are not 0 */
        scale.decimals = 2 - (int)floor(log10(energy_j / scale.factor));
    }
    units_keep_known(&scale, energy_j, uncertainty_j);
    snprintf(text, size, "%s %s", units_number_full(energy_j, &scale).text, units[unit].name);
}

static void row_fields_put_number(const struct report_field *field, const struct report_row *row,
                                  const struct report_format *format, char *text, size_t size)
{
    double value = report_field_number(field, row);
    /* of all energies and powers of a row, as that of the total */
    double share = field->offset == ROW(uncertainty_j) ? 1 : row->uncertainty_j / row->energy_j;

    *text = '\0';
    switch (field->kind) {
    case REPORT_ENERGY:
        report_energy_text(text, size, value, value * share, format->unit);
        if (field->offset == ROW(energy_j)) {
            units_beside(text, size, share, true);
        }
        break;
    case REPORT_POWER:
        if (!row->brief) {
            snprintf(text, size, "%s", units_known_quantity(value, value * share, "W").text);
        }
        break;
    case REPORT_SECONDS:
        snprintf(text, size, "%s", report_elapsed_text(value).text);
        break;
    case REPORT_PERCENT: /* 100 % means that nothing is missing */
        snprintf(text, size, "%.1f %%", floor(value * 10 + 1e-6) / 10);
        break;
    case REPORT_MASS:
        if (value >= 0.005) {
            snprintf(text, size, value < 1000 ? "%.2f g" : "%.2f kg",
                     value < 1000 ? value : value / 1e3);
        }
        break;
    case REPORT_MONEY:
        if (value >= 0.00005) {
            snprintf(text, size, value < 1 ? "%.4f%s%.20s" : "%.2f%s%.20s", value,
                     *format->currency ? " " : "", format->currency);
        }
        break;
    default:
        snprintf(text, size, "%.0f", value);
    }
}

/* For people: "24.82 kJ"; "" if not known. */
static void report_field_text(const struct report_field *field, const struct report_row *row,
                              const struct report_format *format, char *text, size_t size)
{
    const char *string = report_field_string(field, row);
    struct tm date = {0};

    if (string) {
        snprintf(text, size, "%s", string);
    } else if (field->kind == REPORT_MOMENT) {
        time_t seconds = *(const int64_t *)member(field, row) / NS_PER_S;

        localtime_r(&seconds, &date);
        strftime(text, size, "%Y-%m-%dT%H:%M:%S", &date);
    } else if (field->kind == REPORT_FLAG) {
        snprintf(text, size, "%s", *(const bool *)member(field, row) ? "yes" : "no");
    } else if (isnan(report_field_number(field, row))) {
        *text = '\0';
    } else {
        row_fields_put_number(field, row, format, text, size);
    }
}

bool report_field_is_rough(const struct report_field *field)
{
    return field->kind == REPORT_PERCENT || field->offset == ROW(uncertainty_j);
}

struct table_cell report_field_cell(const struct report_field *field, const struct report_row *row,
                                    const struct report_format *format, char *text, size_t size)
{
    struct table_cell cell = {.text = text};

    report_field_text(field, row, format, text, size);
    if (row_fields_is_number(field)) {
        cell.value = report_field_number(field, row) /
                     (field->kind == REPORT_ENERGY ? units[format->unit].factor : 1);
    }
    return cell;
}

void report_field_key(const struct report_field *field, enum report_unit unit, char *key,
                      size_t size)
{
    static const char *const suffixes[] = {[REPORT_POWER] = "w",
                                           [REPORT_SECONDS] = "s",
                                           [REPORT_PERCENT] = "pct",
                                           [REPORT_MASS] = "g",
                                           [REPORT_FLAG] = NULL};
    const char *suffix = field->kind == REPORT_ENERGY ? units[unit].suffix : suffixes[field->kind];

    snprintf(key, size, "%s%s%s", field->name, suffix ? "_" : "", suffix ? suffix : "");
}
