/* SPDX-License-Identifier: BSD-3-Clause */
/* The command apapi show, see apapi-show(1). */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/records/input.h"
#include "cli/show/forms.h"
#include "config/config.h"
#include "record/members.h"
#include "record/record.h"
#include "render/regions.h"
#include "render/step_report.h"
#include "render/table.h"
#include "sum/members.h"
#include "sum/sum.h"

#define COMMAND "show"
#define CURVE_ROWS 6
#define EIGHTHS 8
#define LABEL_COLUMNS 9
#define NODES_LISTED 5
#define UNUSUAL_LISTED 20

/* --- the curve -------------------------------------------------------------------------------- */

/* @return whether a node ran in this column of the curve */
static bool curve_ran(const struct show *show, int column)
{
    int64_t start_ns = show->total.start_unix_ns;
    double length_ns = (double)(show->total.end_unix_ns - start_ns) / SHOW_CURVE;
    bool ran = false;

    for (size_t i = 0; i < show->entries.count && !ran; i++) {
        const struct sum_entry *entry = &show->entries.list[i];

        ran = (double)(entry->start_ns - start_ns) < (column + 1) * length_ns &&
              (double)(entry->until_ns - start_ns) > column * length_ns;
    }
    return ran;
}

static void put_curve_row(const struct show *show, double greatest_w, int row)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

    printf("  %*s |", LABEL_COLUMNS,
           row == CURVE_ROWS - 1 ? units_quantity(greatest_w, "W").text
           : row == 0            ? "0 W"
                                 : "");
    for (int i = 0; i < SHOW_CURVE; i++) {
        double power_w = show->curve_w[i];
        double all = greatest_w > 0 ? round(power_w / greatest_w * CURVE_ROWS * EIGHTHS) : 0;
        int eighths = (int)fmin(fmax(all - row * EIGHTHS, 0), EIGHTHS);

        if (isnan(power_w)) {
            putchar(row == 0 && curve_ran(show, i) ? '?' : ' ');
        } else if (text_locale_is_utf8()) {
            fputs(blocks[eighths], stdout);
        } else {
            putchar(eighths > EIGHTHS / 2 ? '#' : eighths > 0 ? '.' : ' ');
        }
    }
    puts("|");
}

static void print_curve(const struct show *show)
{
    double greatest_w = NAN;

    for (int i = 0; i < SHOW_CURVE; i++) {
        greatest_w = fmax(greatest_w, show->curve_w[i]);
    }
    if (isnan(greatest_w)) {
        return;
    }
    if (show->total.job_nodes > show->node_count) {
        printf("power of %zu of %zu nodes, each moment once\n", show->node_count,
               show->total.job_nodes);
    } else {
        puts("power of all nodes, each moment once");
    }
    for (int row = CURVE_ROWS - 1; row >= 0; row--) {
        put_curve_row(show, greatest_w, row);
    }
    printf("  %*s  0 s%*s\n", LABEL_COLUMNS, "", SHOW_CURVE - 3,
           units_duration((double)(show->total.end_unix_ns - show->total.start_unix_ns) / NS_PER_S)
               .text);
}

/* --- identity --------------------------------------------------------------------------------- */

static void put_named(const char *name, const char *text)
{
    char clean[APAPI_TEXT_SIZE];

    if (*text) {
        text_clean(clean, sizeof clean, text);
        printf("  %-10s %s\n", name, clean);
    }
}

/* Print the identity of the most reliable record: one verified by Slurm, else the first one. */
static void full_put_identity(const struct show *show, const struct sacct_job *slurm)
{
    char state[80];
    const struct apapi_identity *id;
    size_t chosen = 0;

    while (chosen < show->entries.count && !show_record_at(show, chosen)->id.verified) {
        chosen++;
    }
    id = &show_record_at(show, chosen < show->entries.count ? chosen : 0)->id;
    put_named("job name", id->job_name);
    put_named("cluster", id->cluster);
    put_named("user", id->user);
    put_named("account", id->account);
    put_named("partition", id->partition);
    put_named("qos", id->qos);
    snprintf(state, sizeof state, "%s: the figures are of its steps that have ended", slurm->state);
    put_named("state", sacct_goes_on(slurm) ? state : "");
    put_named("start", units_local_time(show->total.start_unix_ns, "%Y-%m-%d %H:%M:%S %Z").text);
    put_named("end", units_local_time(show->total.end_unix_ns, "%Y-%m-%d %H:%M:%S %Z").text);
}

/* --- steps and nodes -------------------------------------------------------------------------- */

static struct table_cell energy_cell(const struct apapi_job_total *used)
{
    return (struct table_cell){.value = used->energy_j, .uncertainty = used->uncertainty_j};
}

static struct table_cell power_cell(const struct apapi_job_total *used)
{
    return (struct table_cell){
        .value = used->busy_ns < used->window_ns ? (double)NAN : used->mean_w,
        .uncertainty = used->mean_w * (used->uncertainty_j / used->energy_j)};
}

static int full_put_steps(const struct show *show)
{
    static const struct table_column columns[] = {
        {.title = "step"},
        {.title = "nodes", .form = TABLE_COUNT},
        {.title = "tasks", .form = TABLE_COUNT},
        {.title = "begins", .form = TABLE_DURATION},
        {.title = "elapsed", .form = TABLE_DURATION},
        {.title = "energy", .form = TABLE_ENERGY},
        {.title = "mean", .form = TABLE_KNOWN, .unit = "W"},
        {.title = "exit", .form = TABLE_RIGHT},
        {.title = "program"}};
    struct table table = table_begin(columns, COUNT_OF(columns), TABLE_FOR_PEOPLE, true, stdout);

    for (size_t i = 0; i < show->step_count; i++) {
        const struct show_part *step = &show->steps[i];
        char ending[32];

        /* as in sacct: the greatest status and the greatest signal */
        snprintf(ending, sizeof ending,
                 step->ending.code == APAPI_UNKNOWN ? "-" : "%" PRIu32 ":%" PRIu32,
                 step->ending.code, step->ending.signal == APAPI_UNKNOWN ? 0 : step->ending.signal);
        table_put(&table, (struct table_cell[]){
                              CELL_TEXT(step->name),
                              CELL((double)step->used.nodes),
                              CELL(step->tasks == APAPI_UNKNOWN ? (double)NAN : step->tasks),
                              CELL((double)(step->used.start_unix_ns - show->total.start_unix_ns) /
                                   NS_PER_S),
                              CELL((double)step->used.elapsed_ns / NS_PER_S),
                              energy_cell(&step->used),
                              power_cell(&step->used),
                              CELL_TEXT(ending),
                              CELL_TEXT(step->program),
                          });
    }
    return table_end(&table, "steps");
}

static void full_put_spread(const struct show_part *nodes, size_t count)
{
    const struct show_part *slowest = nodes;
    double least_w = NAN, greatest_w = NAN;
    char first[APAPI_TEXT_SIZE], last[APAPI_TEXT_SIZE];

    for (size_t i = 0; i < count; i++) {
        slowest = nodes[i].used.end_unix_ns > slowest->used.end_unix_ns ? &nodes[i] : slowest;
        least_w = fmin(least_w, nodes[i].used.mean_w);
        greatest_w = fmax(greatest_w, nodes[i].used.mean_w);
    }
    text_clean(first, sizeof first, nodes->name);
    text_clean(last, sizeof last, slowest->name);
    printf("  %zu nodes, from %s to %s; highest energy %s, last to end %s\n", count,
           units_quantity(least_w, "W").text, units_quantity(greatest_w, "W").text, first, last);
}

static int full_put_nodes(const struct show *show)
{
    static const struct table_column columns[] = {
        {.title = "node"},
        {.title = "energy", .form = TABLE_ENERGY},
        {.title = "mean", .form = TABLE_KNOWN, .unit = "W"},
        {.title = "measured", .form = TABLE_DURATION}};
    struct show_part *nodes = show_order_nodes(show);
    size_t count = show->node_count;
    struct table table;
    int result;

    if (!nodes) {
        return -1;
    }
    table = table_begin(columns, COUNT_OF(columns), TABLE_FOR_PEOPLE, true, stdout);
    for (size_t i = 0; i < count && i < NODES_LISTED; i++) {
        const struct show_part *node = &nodes[i];

        table_put(&table, (struct table_cell[]){
                              CELL_TEXT(node->name),
                              energy_cell(&node->used),
                              power_cell(&node->used),
                              CELL((double)node->used.covered_ns / NS_PER_S),
                          });
    }
    result =
        table_end(&table, count > NODES_LISTED ? "nodes, those of the highest energy" : "nodes");
    if (result == 0 && count > 1) {
        full_put_spread(nodes, count);
    }
    free(nodes);
    return result;
}

/* --- regions ---------------------------------------------------------------------------------- */

static int full_put_regions(const struct show *show)
{
    int result = 0;

    for (size_t i = 0; i < show->step_count && result == 0; i++) {
        const struct show_part *step = &show->steps[i];
        char clean[sizeof((struct apapi_identity *)0)->step];
        struct apapi_regions regions;

        if (show_regions(show, step->name, APAPI_REGIONS_MAX, &regions)) {
            return -1;
        }
        if (regions_exist(&regions)) {
            text_clean(clean, sizeof clean, step->name);
            printf("regions of step %s\n", clean);
            result = table_put_regions(&regions, step->used.energy_j, NULL, stdout);
        }
        apapi_regions_clear(&regions);
    }
    return result;
}

/* --- all -------------------------------------------------------------------------------------- */

static void print_remarks(const char *title, struct remarks *remarks)
{
    puts(title);
    for (size_t i = 0; i < remarks->texts.count; i++) {
        fputs("  ", stdout);
        terminal_put(stdout, remarks->texts.names[i], 4, terminal_width());
    }
    if (remarks->count > remarks->texts.count) {
        printf("  and %zu more; -v shows them\n", remarks->count - remarks->texts.count);
    }
    namelist_free(&remarks->texts);
}

/* @return 0; -1 with errno ENOMEM. */
static int full_print(const struct show *show, const struct sacct_job *slurm, bool verbose)
{
    struct remarks trust = {.most = 0}, unusual = {.most = verbose ? 0 : UNUSUAL_LISTED};
    char *text = NULL;

    if (show_table(show, &text)) {
        return -1;
    }
    fputs(text, stdout);
    free(text);
    full_put_identity(show, slurm);
    if (full_put_steps(show) || full_put_nodes(show) || full_put_regions(show)) {
        return -1;
    }
    print_curve(show);
    show_say_trust(show, &trust);
    print_remarks("trust", &trust);
    show_find_unusual(show, &unusual);
    print_remarks(unusual.count > 0 ? "unusual" : "nothing unusual", &unusual);
    return 0;
}

/* --- one step of files, as srun prints it ----------------------------------------------------- */

struct merging {
    const struct query *query;
    struct apapi_identity first; /* identity of the first record, whose step is printed */
    char several[200];           /* if of several steps: which, and how to select one; "" */
    struct namelist lines;       /* records of the step */
    struct sum_store store;      /* times of the records; a piece is marked if its record counts */
    struct apapi_merge *merge;
};

static int step_take(const struct apapi_record *record, const char *line, size_t size,
                     void *context)
{
    struct merging *merging = context;
    const struct apapi_identity *id = &record->id;
    struct apapi_identity *first = &merging->first;
    size_t room = *merging->several ? 0 : sizeof merging->several;

    if (merging->lines.count == 0) {
        *first = *id;
    } else if (id->job != first->job || strcmp(id->step, first->step) != 0) {
        char one[64], other[64];

        step_id_text(first, one, sizeof one);
        step_id_text(id, other, sizeof other);
        snprintf(merging->several, room, "steps: %s, %s; select one with -j", one, other);
        return 0;
    } else if (*first->cluster && *id->cluster && strcmp(id->cluster, first->cluster) != 0) {
        snprintf(merging->several, room, "clusters: %s, %s; select one with -M", first->cluster,
                 id->cluster);
    }
    if (!*first->name) {
        memcpy(first->name, id->name, sizeof first->name);
    }
    if (!*first->cluster) { /* some nodes may not know the cluster */
        memcpy(first->cluster, id->cluster, sizeof first->cluster);
    }
    if (namelist_add_part(&merging->lines, line, size) || sum_add(&merging->store, record, NULL)) {
        return -1;
    }
    merging->store.pieces[merging->store.piece_count - 1].digest = record_digest(line, size);
    return 0;
}

/* Choose each node's latest record of the last run, by any clock; of equal starts the longest. */
static int choose_latest(struct merging *merging, struct sum_entries *entries)
{
    struct apapi_job_total total;
    uint32_t run = 0;
    size_t kept = 0;

    if (sum_gather(&merging->store, NULL, merging->store.piece_count, entries) ||
        sum_total(&merging->store, entries, &total)) {
        return -1;
    }
    for (size_t i = 0; i < entries->count; i++) {
        run = entries->list[i].restarts > run ? entries->list[i].restarts : run;
    }
    for (size_t i = 0; i < entries->count; i++) {
        struct sum_entry *list = entries->list;

        if (list[i].restarts < run) {
            continue;
        }
        if (kept > 0 && list[kept - 1].piece->node == list[i].piece->node) {
            list[kept - 1] = list[i].start_ns > list[kept - 1].start_ns ? list[i] : list[kept - 1];
        } else {
            list[kept++] = list[i];
        }
    }
    entries->count = kept;
    for (size_t i = 0; i < kept; i++) {
        merging->store.pieces[entries->list[i].piece - merging->store.pieces].mark = true;
    }
    return 0;
}

/* Expect these nodes, too: without a list of nodes, the list in the records is used. */
static int expect_missing(const struct sum_gap *gap, void *merge)
{
    int result = 0;

    for (size_t i = 0; i < gap->missing.count && result == 0; i++) {
        result = apapi_merge_expect(merge, gap->missing.names[i]);
    }
    return result;
}

/* Add up the records that count, in the order in which they were read. */
static int merge_latest(struct merging *merging)
{
    const struct query *query = merging->query;
    struct sum_entries entries = {NULL, 0};
    int result = choose_latest(merging, &entries);

    for (size_t i = 0; i < merging->lines.count && result == 0; i++) {
        if (merging->store.pieces[i].mark) {
            result = step_report_add(merging->merge, merging->lines.names[i]);
        }
    }
    if (result == 0) {
        result = query->wanted.nodes ? apapi_merge_expect(merging->merge, query->wanted.nodes)
                                     : sum_each_gap(&merging->store, &entries, true, expect_missing,
                                                    merging->merge);
    }
    free(entries.list);
    namelist_free(&merging->lines);
    return result ? -1 : 0;
}

static int step_print(struct merging *merging, enum config_format format)
{
    const struct query *query = merging->query;
    const struct units_text step = units_part(merging->first.job != APAPI_UNKNOWN, "%u.%s",
                                              merging->first.job, merging->first.step);
    bool nameless = format == CONFIG_TABLE && !*step.text;
    const struct apapi_table_head head = {.step = nameless ? NULL : step.text,
                                          .name = merging->first.name,
                                          .user_s = NAN,
                                          .system_s = NAN,
                                          .elapsed_s = NAN,
                                          .verbose = query->verbose};

    if (*merging->several) {
        return command_fail(query->command, "records of several %s", merging->several);
    }
    if (merging->lines.count == 0) {
        return command_fail(query->command, query->jobs ? "no record of this job in the files"
                                                        : "no record in the files");
    }
    return command_end(query->command,
                       merge_latest(merging) ||
                           apapi_merge_give_up(merging->merge, "no record in the files") ||
                           step_report_write(merging->merge, format, &head, stdout));
}

/* Print the step in query->files as srun does. query->wanted.nodes lists all nodes of the step. */
static int show_step(struct query *query, enum config_format format)
{
    struct merging merging = {
        .query = query, .store = {.lists = true, .curveless = true}, .merge = apapi_merge_create()};
    int status = merging.merge ? records_read(query, step_take, &merging)
                               : command_fail(query->command, "no memory");

    status = status ? status : step_print(&merging, format);
    namelist_free(&merging.lines);
    sum_free(&merging.store);
    apapi_merge_destroy(merging.merge);
    return status;
}

/* --- the command ------------------------------------------------------------------------------ */

static const struct option_row rows[] = {
    {'j', "jobs", "=JOB[.STEP]", "the job; then all arguments are FILEs",
     TO_WORDS(struct show_options, query.jobs)},
    {OPTION_ROWS_OF(struct show_options, query, query_filter_rows)},
    {'f', "format", "=FORM",
     "one step of FILEs as srun prints it: table (default\nwithout JOB), json, csv or merged; -N "
     "has its nodes",
     TO_CHOICE(struct show_options, format, "table, json, csv and merged")},
    {0, "brief", NULL, "in a few lines, as seff", TO_FLAG(struct show_options, brief)},
    {0, "wait", "=DURATION", "with --brief: wait so long for the energy of the job",
     TO_TEXT(struct show_options, wait)},
    {OPTION_ROWS_OF(struct show_options, query, query_source_rows)},
    {0}};

static const struct option_table table = {
    .program = "apapi show",
    .head = "usage: apapi show [OPTION]... JOB[.STEP] [FILE]...\n"
            "       apapi show [OPTION]... FILE...\n"
            "Show one job in full: domains, steps, nodes, power over time, how far it can be\n"
            "trusted, and anything unusual; from the accounting folder, FILEs of records (-: a\n"
            "pipe) or --db. JOB is 17, 17_3 of an array, 17+1 of a heterogeneous job, or 17 for\n"
            "all of its components. With FILEs alone: the nodes' records of one step as one\n"
            "report, as srun prints it; then FILE may be an accounting folder.\n",
    .foot = "Exit status: 0 done, 1 no record found, or failure, 2 wrong usage.\n",
    .column = 25,
    .rows = rows};

/* --- one job in full -------------------------------------------------------------------------- */

/* A job goes on unless its script has ended and nothing began later, as it does after a requeue. */
static bool may_go_on(const struct show *show)
{
    int64_t begun_ns = 0, ended_ns = 0;

    for (size_t i = 0; i < show->entries.count; i++) {
        const struct sum_entry *entry = &show->entries.list[i];
        bool script = step_is(entry->step, "batch") && entry->piece->reason == POOL_NONE;

        begun_ns = entry->start_ns > begun_ns ? entry->start_ns : begun_ns;
        ended_ns = script && entry->end_ns > ended_ns ? entry->end_ns : ended_ns;
    }
    return begun_ns >= ended_ns;
}

static int show_full(struct show_options *options)
{
    struct show *show = &options->show;
    const struct query *query = &options->query;
    struct sacct_job slurm = SACCT_JOB_UNKNOWN;
    char why[SACCT_WHY_SIZE];
    int status;

    show->job = query->job_list.jobs[0];
    status = records_read(&options->query, show_add, show);
    if (show->count == 0 && (status == 0 || query->own)) { /* else the records could not be read */
        sacct_ask(query, show, &slurm, why);
        if (sacct_goes_on(&slurm)) {
            return show_fail_going(query->command, &slurm);
        }
    }
    status = status ? status : show_choose(show, query);
    if (status) {
        return status;
    }
    if (may_go_on(show)) {
        sacct_ask(query, show, &slurm, why);
    }
    return command_end(query->command, full_print(show, &slurm, query->verbose));
}

/* --- which of them ---------------------------------------------------------------------------- */

static int show_check(struct show_options *options)
{
    const struct query *query = &options->query;
    struct apapi_error err;

    if (options->format != CONFIG_NONE &&
        (options->brief || query->db || query->wanted.user || query->wanted.account ||
         query->wanted.partition || query->job_names || query->from || query->to || query->dir)) {
        return command_refuse(query->command,
                              "one step of FILEs, as -f prints it, has only -j, -M, "
                              "-N, -v and --strict: for the others name a JOB, "
                              "without -f");
    }
    if (options->format == CONFIG_NONE ? !query->jobs : query->file_count == 0) {
        return command_refuse(query->command,
                              options->format == CONFIG_NONE
                                  ? "which JOB? See 'apapi help %s'"
                                  : "which files? 'apapi help %s' shows how",
                              query->command);
    }
    if (options->format != CONFIG_NONE && job_is_named(*query->files) &&
        access(*query->files, F_OK) != 0) {
        return command_refuse(query->command, "-f takes FILEs: name the step as -j %s",
                              *query->files);
    }
    if (options->wait && apapi_duration_parse(options->wait, &options->wait_ns, &err)) {
        return command_refuse(query->command, "%s", err.text);
    }
    if (!options->brief && options->wait) {
        return command_refuse(query->command, "--wait is of --brief");
    }
    return 0;
}

/* @param argv  argv[0] may be an old name; scripts get no advice about that */
int show_command(int argc, char **argv)
{
    bool merges = strcmp(argv[0], "merge") == 0, is_brief = strcmp(argv[0], "summary") == 0;
    struct show_options options = {
        .query.command = COMMAND, .brief = is_brief, .format = merges ? CONFIG_TABLE : CONFIG_NONE};
    struct query *query = &options.query;
    char **words;
    size_t count;
    bool step, files;
    int status;

    if ((merges || is_brief) && isatty(STDERR_FILENO)) {
        fprintf(stderr, "apapi %s: an old word; it is 'apapi show %s' now\n", argv[0],
                merges ? "FILE..." : "--brief JOB");
    }
    status = option_table_read(&table, argc, argv, &options);
    if (status >= 0) {
        return status;
    }
    words = argv + optind;
    count = (size_t)(argc - optind);
    /* the job is given by -j or the first word; without it, words that are files are of one step */
    step = options.format != CONFIG_NONE;
    files = step || (count > 0 && !options.brief && !job_is_named(words[0]) &&
                     (strcmp(words[0], "-") == 0 || access(words[0], F_OK) == 0));
    if (!query->jobs && files && !step) {
        options.format = CONFIG_TABLE;
    }
    query_words(query, words, count, !files);
    status = show_check(&options);
    if (status) {
        return status;
    }
    status = records_begin(query);
    if (status == 0) {
        status = options.format != CONFIG_NONE ? show_step(query, options.format)
                 : options.brief               ? show_brief(&options)
                                               : show_full(&options);
    }
    show_free(&options.show);
    return records_end(query, status);
}
