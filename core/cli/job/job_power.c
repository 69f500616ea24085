/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

struct span {
    int64_t begin_ns, end_ns;
};

/* A step on a node. */
struct power_run {
    const struct apapi_record *record;
    struct span ran, recorded;
};

/* Runs of a node, and what must be known of it while one of them lasts. */
struct node {
    const struct power_run *runs;
    size_t count;
    unsigned domains; /* bits */
};

struct power {
    struct power_run *runs;
    struct node *nodes;
    size_t node_count;
    struct span *busy; /* when any of the nodes ran, sorted */
    size_t busy_count;
};

/* --- what ran ------------------------------------------------------------------------------- */

/* report_input_read() only passes records whose end fits into 64 bits. */
static struct span recorded_of(const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;

    return (struct span){m->start_unix_ns, m->start_unix_ns + (int64_t)m->elapsed_ns};
}

static void make_runs(const struct show *show, size_t first, size_t count, struct power_run *runs)
{
    for (size_t i = 0; i < count; i++) {
        const struct apapi_record *record = &show->records[first + i];
        struct power_run *run = &runs[i];

        run->record = record;
        run->ran = run->recorded = recorded_of(record);
        if (__builtin_sub_overflow(run->recorded.begin_ns, record->measurement.late_ns,
                                   &run->ran.begin_ns)) {
            run->ran.begin_ns = INT64_MIN;
        }
        if (!record->complete) {
            run->ran.end_ns = show->ends_ns[first + i];
        }
    }
}

static unsigned domains_of(const struct apapi_record *record)
{
    unsigned domains = 0;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_domain_result *result = &record->measurement.domains[d];

        if (apapi_domain_adds_up(d) && result->measured &&
            (!isnan(result->energy_j) || result->timeline.count > 0)) {
            domains |= 1U << d;
        }
    }
    return domains;
}

static void make_nodes(struct power *power, size_t count, unsigned wanted)
{
    for (size_t i = 0; i < count; i++) {
        const struct power_run *run = &power->runs[i];
        struct node *node;

        if (i == 0 || strcmp(run->record->id.node, run[-1].record->id.node) != 0) {
            power->nodes[power->node_count++] = (struct node){.runs = run};
        }
        node = &power->nodes[power->node_count - 1];
        node->count++;
        node->domains |= domains_of(run->record) & wanted;
    }
}

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    return a->begin_ns == b->begin_ns ? 0 : a->begin_ns < b->begin_ns ? -1 : 1;
}

static void make_busy(struct power *power)
{
    size_t count = 0;

    for (size_t n = 0; n < power->node_count; n++) {
        const struct node *node = &power->nodes[n];

        for (size_t i = 0; node->domains && i < node->count; i++) {
            power->busy[count++] = node->runs[i].ran;
        }
    }
    qsort(power->busy, count, sizeof *power->busy, compare_spans);
    for (size_t i = 0; i < count; i++) {
        struct span *last = power->busy_count ? &power->busy[power->busy_count - 1] : NULL;

        if (!last || last->end_ns < power->busy[i].begin_ns) {
            power->busy[power->busy_count++] = power->busy[i];
        } else if (last->end_ns < power->busy[i].end_ns) {
            last->end_ns = power->busy[i].end_ns;
        }
    }
}

/* --- what is known of it -------------------------------------------------------------------- */

struct known {
    double energy_j;
    uint64_t known_ns;
    int64_t ran_ns;
};

static bool holds(const struct span *whole, const struct span *part)
{
    return whole->begin_ns <= part->begin_ns && whole->end_ns >= part->end_ns;
}

static int64_t job_power_overlap_ns(const struct span *a, const struct span *b)
{
    int64_t begin_ns = a->begin_ns > b->begin_ns ? a->begin_ns : b->begin_ns;
    int64_t end_ns = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static int64_t next_edge(const struct node *node, const struct span *span)
{
    int64_t next_ns = span->end_ns;

    for (size_t i = 0; i < node->count; i++) {
        const struct power_run *run = &node->runs[i];
        const int64_t edges_ns[] = {run->ran.begin_ns, run->recorded.begin_ns, run->recorded.end_ns,
                                    run->ran.end_ns};

        for (int e = 0; e < 4; e++) {
            next_ns = edges_ns[e] > span->begin_ns && edges_ns[e] < next_ns ? edges_ns[e] : next_ns;
        }
    }
    return next_ns;
}

/* As apapi_timeline_between_j(), but scaled to the domain's energy: written bins are rounded. */
static double show_between_j(const struct apapi_domain_result *domain, uint64_t from_ns,
                             uint64_t to_ns, uint64_t *known_ns)
{
    double whole_j = apapi_timeline_energy_j(&domain->timeline);
    double energy_j = apapi_timeline_between_j(&domain->timeline, from_ns, to_ns, known_ns);

    return whole_j > 0 && domain->energy_j > 0 ? energy_j * (domain->energy_j / whole_j) : energy_j;
}

/* Add an interval in which no run begins or ends, from the record that knows most of it. */
static void add_piece(const struct node *node, int domain, const struct span *piece,
                      struct known *sum)
{
    double best_j = 0;
    uint64_t best_ns = 0;
    bool ran = false;

    for (size_t i = 0; i < node->count; i++) {
        const struct power_run *run = &node->runs[i];
        const struct apapi_domain_result *result = &run->record->measurement.domains[domain];
        int64_t start_ns = run->recorded.begin_ns;
        uint64_t known_ns;
        double energy_j;

        ran |= holds(&run->ran, piece);
        if (!result->measured || result->timeline.count == 0 || !holds(&run->recorded, piece)) {
            continue;
        }
        energy_j = show_between_j(result, (uint64_t)(piece->begin_ns - start_ns),
                                  (uint64_t)(piece->end_ns - start_ns), &known_ns);
        if (known_ns > best_ns) {
            best_j = energy_j;
            best_ns = known_ns;
        }
    }
    sum->energy_j += best_j;
    sum->known_ns += best_ns;
    sum->ran_ns += ran ? piece->end_ns - piece->begin_ns : 0;
}

static struct known job_power_known_of(const struct node *node, int domain, struct span span)
{
    struct known sum = {0};

    while (span.begin_ns < span.end_ns) {
        int64_t edge_ns = next_edge(node, &span);

        add_piece(node, domain, &(struct span){span.begin_ns, edge_ns}, &sum);
        span.begin_ns = edge_ns;
    }
    return sum;
}

/* A node that ran in a part of the column counts for that part of the time with any node. */
static double column_power(const struct power *power, struct span column)
{
    double sum_w = NAN;
    int64_t busy_ns = 0;

    for (size_t i = 0; i < power->busy_count; i++) {
        busy_ns += job_power_overlap_ns(&power->busy[i], &column);
    }
    for (size_t n = 0; n < power->node_count; n++) {
        for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
            struct known known = {0};

            if (power->nodes[n].domains & 1U << d) {
                known = job_power_known_of(&power->nodes[n], d, column);
            }
            if (known.ran_ns > 0 && known.known_ns == 0) {
                return NAN;
            }
            if (known.ran_ns > 0) {
                sum_w = (isnan(sum_w) ? 0 : sum_w) + known.energy_j * NS_PER_S /
                                                         (double)known.known_ns *
                                                         (double)known.ran_ns / (double)busy_ns;
            }
        }
    }
    return sum_w;
}

/* --- all of it ------------------------------------------------------------------------------ */

/* Records are sorted by node. */
static size_t first_of(const struct show *show, const char *node)
{
    size_t low = 0, high = show->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strverscmp(show->records[middle].id.node, node) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static size_t count_of(const struct show *show, const char *node, size_t first)
{
    size_t end = first;

    while (end < show->count && strcmp(show->records[end].id.node, node) == 0) {
        end++;
    }
    return end - first;
}

int show_power(const struct show *show, const char *node, int domain, double *power_w,
               size_t columns)
{
    size_t first = node ? first_of(show, node) : 0;
    size_t count = node ? count_of(show, node, first) : show->count;
    struct power power = {.runs = calloc(count + 1, sizeof *power.runs),
                          .nodes = calloc(count + 1, sizeof *power.nodes),
                          .busy = calloc(count + 1, sizeof *power.busy)};
    int result = power.runs && power.nodes && power.busy ? 0 : -1;

    if (result == 0) {
        double length_ns = (double)(show->total.end_unix_ns - show->total.start_unix_ns);

        make_runs(show, first, count, power.runs);
        make_nodes(&power, count, domain == APAPI_DOMAIN_NONE ? ~0U : 1U << domain);
        make_busy(&power);
        for (size_t i = 0; i < columns; i++) {
            struct span column = {show->total.start_unix_ns +
                                      (int64_t)(length_ns * (double)i / (double)columns),
                                  show->total.start_unix_ns +
                                      (int64_t)(length_ns * (double)(i + 1) / (double)columns)};

            power_w[i] = column_power(&power, column);
        }
    }
    free(power.runs);
    free(power.nodes);
    free(power.busy);
    return result;
}
