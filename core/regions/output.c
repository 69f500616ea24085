/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/output.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "apapi/event.h"
#include "base/clock.h"
#include "base/files.h"
#include "regions/program.h"
#include "regions/stack.h"

#define OUTPUT_NAME "papi_hl_output"
#define OUTPUT_PATH_SIZE 4096
#define OUTPUT_FILE_SIZE (OUTPUT_PATH_SIZE + 32)
#define OUTPUT_RUN_SIZE 128
#define OUTPUT_RUN "\"run\": \"" /* within a file's first bytes; the run and a quote follow */

/* Of all ranks of this run, and no other run: no quotes. */
static char output_run[OUTPUT_RUN_SIZE];

/* --- energy --------------------------------------------------------------------------------- */

/* The domains as events of component "apapi"; by enum apapi_domain. */
static const char *const energy_events[PAGE_DOMAINS] = {
    [APAPI_DOMAIN_PACKAGE] = "apapi:::PACKAGE_ENERGY_UJ",
    [APAPI_DOMAIN_CORE] = "apapi:::CORE_ENERGY_UJ",
    [APAPI_DOMAIN_UNCORE] = "apapi:::UNCORE_ENERGY_UJ",
    [APAPI_DOMAIN_DRAM] = "apapi:::DRAM_ENERGY_UJ",
    [APAPI_DOMAIN_PSYS] = "apapi:::PSYS_ENERGY_UJ",
    [APAPI_DOMAIN_GPU] = "apapi:::GPU_ENERGY_UJ",
    [APAPI_DOMAIN_NODE] = "apapi:::NODE_ENERGY_UJ",
};

/* The time and energy of a thread in each node, with the nodes in it. */
struct output_thread {
    uint32_t slot;
    double time_ns[PAGE_NODES];
    double energy_uj[PAGE_DOMAINS][PAGE_NODES]; /* NaN: not known */
};

struct output {
    FILE *out;
    double tick_ns;
    bool has_energy[PAGE_DOMAINS];
    struct page_result results[PAGE_NODES];
    struct output_thread thread;
};

static void output_find_results(struct output *output)
{
    const struct page_results *results = program_results();

    for (uint32_t node = 0; node < PAGE_NODES; node++) {
        struct page_result *row = &output->results[node];
        bool known = results && page_result_read(&results->nodes[node], row);

        for (int d = 0; d < PAGE_DOMAINS; d++) {
            row->power_w[d] = known && energy_events[d] ? row->power_w[d] : NAN;
            output->has_energy[d] = output->has_energy[d] || (node > 0 && !isnan(row->power_w[d]));
        }
    }
}

static void output_own(struct output *output, uint32_t node, uint64_t ticks)
{
    struct output_thread *thread = &output->thread;

    thread->time_ns[node] = (double)ticks * output->tick_ns;
    for (int d = 0; d < PAGE_DOMAINS; d++) {
        thread->energy_uj[d][node] =
            ticks > 0 ? thread->time_ns[node] * 1e-3 * output->results[node].power_w[d] : 0;
    }
}

/* Fill in `thread`. Nodes come after those that they are in. */
static void output_sum_up(struct output *output, uint32_t slot, const struct page_slot_copy *copy)
{
    struct output_thread *thread = &output->thread;
    uint32_t nodes = page_node_count(program.page);

    thread->slot = slot;
    for (uint32_t node = 0; node < nodes; node++) {
        output_own(output, node, copy->own[node]);
    }
    output_own(output, PAGE_REST, copy->own[PAGE_REST]);
    for (uint32_t node = nodes; node-- > 1;) {
        uint32_t parent = program.page->nodes[node].parent;

        thread->time_ns[parent] += thread->time_ns[node];
        for (int d = 0; d < PAGE_DOMAINS; d++) {
            thread->energy_uj[d][parent] += thread->energy_uj[d][node];
        }
    }
}

/* --- the text ------------------------------------------------------------------------------- */

/* A name is clean already. */
static void output_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', out);
        }
        fputc((unsigned char)*text < ' ' ? '?' : *text, out);
    }
    fputc('"', out);
}

static void output_number(FILE *out, const char *name, double value)
{
    fputs(",\n          ", out);
    output_quoted(out, name);
    fprintf(out, ": \"%.0f\"", value);
}

static void output_region(struct output *output, uint32_t node, uint64_t passes)
{
    const struct output_thread *thread = &output->thread;
    struct page_node_copy copy;
    FILE *out = output->out;

    if (node == PAGE_REST || !page_node(program.page, node, &copy)) {
        copy = (struct page_node_copy){.name = "(other regions)"};
    }
    fprintf(out, "        \"%u\": {\n          \"name\": ", node - 1);
    output_quoted(out, copy.name);
    output_number(out, "parent_region_id", (double)copy.parent - 1);
    output_number(out, "region_count", (double)passes);
    output_number(out, "cycles", thread->time_ns[node] / output->tick_ns);
    output_number(out, "real_time_nsec", thread->time_ns[node]);
    for (int d = 0; d < PAGE_DOMAINS; d++) {
        if (energy_events[d] && output->has_energy[d] && !isnan(thread->energy_uj[d][node])) {
            output_number(out, energy_events[d], thread->energy_uj[d][node]);
        }
    }
    fputs("\n        }", out);
}

static void output_thread(struct output *output)
{
    const char *before = "\n";
    uint32_t slot = output->thread.slot;

    fprintf(output->out, "    \"%u\": {\n      \"regions\": {", slot);
    for (uint32_t node = 1; node < PAGE_NODES; node++) {
        bool known = node < page_node_count(program.page) || node == PAGE_REST;
        uint64_t passes = known ? page_slot_count(program.page, slot, node) : 0;

        if (passes > 0) {
            fputs(before, output->out);
            output_region(output, node, passes);
            before = ",\n";
        }
    }
    fputs("\n      }\n    }", output->out);
}

static void output_threads(struct output *output)
{
    uint64_t now = ticks_now(program.clock);
    struct page_slot_copy copy;
    const char *before = "\n";

    for (uint32_t slot = 0; slot < page_thread_count(program.page); slot++) {
        if (page_slot(program.page, slot, page_node_count(program.page), now, &copy)) {
            output_sum_up(output, slot, &copy);
            fputs(before, output->out);
            output_thread(output);
            before = ",\n";
        }
    }
}

static void output_foms(FILE *out)
{
    struct apapi_fom fom;
    char value[32];
    size_t count = 0;

    for (; foms_copy(count, &fom); count++) {
        snprintf(value, sizeof value, "%.15g", fom.value);
        for (char *point = value; *point; point++) { /* whatever the program's locale has */
            *point = strchr("0123456789+-e", *point) ? *point : '.';
        }
        fputs(count > 0 ? ",\n    {\"name\": " : "  \"foms\": [\n    {\"name\": ", out);
        output_quoted(out, fom.name);
        fputs(", \"value\": ", out);
        output_quoted(out, value);
        if (*fom.unit) {
            fputs(", \"unit\": ", out);
            output_quoted(out, fom.unit);
        }
        fputc('}', out);
    }
    fputs(count > 0 ? "\n  ],\n" : "", out);
}

static void output_definitions(const struct output *output)
{
    const char *before = "\n";

    fputs("  \"event_definitions\": {", output->out);
    for (int d = 0; d < PAGE_DOMAINS; d++) {
        if (energy_events[d] && output->has_energy[d]) {
            fprintf(output->out, "%s    \"%s\": {\"component\": \"apapi\", \"type\": \"delta\"}",
                    before, energy_events[d]);
            before = ",\n";
        }
    }
    fputs("\n  },\n", output->out);
}

/*
 * Write the regions of this process as JSON, in the layout of PAPI's high-level API. With
 * `output_lock`.
 */
static void output_text(FILE *out)
{
    struct ticks_moment now = ticks_moment_now(program.clock);
    static struct output output; /* too large for the stacks of some threads */

    memset(&output, 0, sizeof output);
    output.out = out;
    output.tick_ns = ticks_length_ns(program.clock, program.start, now);
    output_find_results(&output);
    fprintf(out, "{\n  \"papi_version\": \"APAPI %s\",\n  " OUTPUT_RUN "%s\",\n", APAPI_VERSION,
            output_run);
    output_definitions(&output);
    output_foms(out);
    fputs("  \"threads\": {", out);
    output_threads(&output);
    fputs("\n  }\n}\n", out);
}

/* --- the folder ----------------------------------------------------------------------------- */

static void output_find_run(void)
{
    const char *space = secure_getenv("PMIX_NAMESPACE");
    const char *job = secure_getenv("SLURM_JOB_ID"), *step = secure_getenv("SLURM_STEP_ID");

    if (space) {
        snprintf(output_run, OUTPUT_RUN_SIZE, "pmix %.100s", space);
    } else if (job && step) {
        snprintf(output_run, OUTPUT_RUN_SIZE, "slurm %.50s.%.50s", job, step);
    } else {
        snprintf(output_run, OUTPUT_RUN_SIZE, "process %d %llu", (int)getpid(),
                 (unsigned long long)clock_monotonic_ns());
    }
    for (char *byte = output_run; *byte; byte++) {
        *byte = isalnum((unsigned char)*byte) || strchr(" .-@", *byte) ? *byte : '_';
    }
}

static int output_folder_make_parents(const char *path)
{
    char part[OUTPUT_PATH_SIZE];

    for (const char *end = path; *end; end++) {
        if (end > path && (end[0] == '/' || end[1] == '\0')) {
            snprintf(part, sizeof part, "%.*s", (int)(end - path + (end[0] != '/')), path);
            if (mkdir(part, 0777) && errno != EEXIST) {
                return -1;
            }
        }
    }
    return 0;
}

/* @return false: it has no text yet, as another rank is about to write it. */
static bool output_folder_read_run(int folder, const char *name, char run[OUTPUT_RUN_SIZE])
{
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    char text[512];
    ssize_t size = file >= 0 ? read(file, text, sizeof text - 1) : 0;

    text[size > 0 ? size : 0] = '\0';
    if (size > 0) { /* it may say nothing of its run */
        const char *begin = strstr(text, OUTPUT_RUN);

        begin = begin ? begin + strlen(OUTPUT_RUN) : "";
        snprintf(run, OUTPUT_RUN_SIZE, "%.*s", (int)strcspn(begin, "\""), begin);
    }
    if (file >= 0) {
        close(file);
    }
    return size > 0;
}

/* A folder without a text is of any run: another rank has just made it. Takes `folder`. */
static bool output_folder_is_ours(int folder)
{
    DIR *list = fdopendir(folder);
    const struct dirent *entry;
    char found[OUTPUT_RUN_SIZE];

    if (!list) {
        close(folder);
        return false;
    }
    snprintf(found, sizeof found, "%s", output_run);
    while ((entry = readdir(list))) {
        if (strncmp(entry->d_name, "rank_", 5) == 0 &&
            output_folder_read_run(dirfd(list), entry->d_name, found)) {
            break;
        }
    }
    closedir(list);
    return strcmp(found, output_run) == 0;
}

/*
 * The names of two runs in one second differ by nothing: the later one waits for its own.
 * @param above  folder that it is in
 * @return 0: there is none any more; -1
 */
static int output_folder_move_away(int above)
{
    const struct timespec tenth = {.tv_nsec = 100000000};
    char name[64];

    for (int i = 0; i < 20; i++) {
        time_t now = time(NULL);
        struct tm local;

        if (!localtime_r(&now, &local)) {
            return -1;
        }
        snprintf(name, sizeof name, OUTPUT_NAME "-%04d%02d%02d-%02d%02d%02d", local.tm_year + 1900,
                 local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
        if (renameat2(above, OUTPUT_NAME, above, name, RENAME_NOREPLACE) == 0 || errno == ENOENT) {
            return 0;
        }
        if (errno != EEXIST) {
            return -1;
        }
        nanosleep(&tenth, NULL);
    }
    return -1;
}

/* Two ranks at a time would move each other's folder away. One that gets no lock goes on. */
static int output_folder_take(int above)
{
    const struct timespec wait = {.tv_nsec = 10000000};
    int folder;

    for (int i = 0; i < 100 && flock(above, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK; i++) {
        nanosleep(&wait, NULL);
    }
    folder = openat(above, OUTPUT_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && output_folder_is_ours(folder)) {
        return 0;
    }
    return folder >= 0 && output_folder_move_away(above) ? -1 : mkdirat(above, OUTPUT_NAME, 0777);
}

/*
 * Make papi_hl_output in PAPI_OUTPUT_DIRECTORY, which is made with its parents, or in the current
 * folder. One of another run is renamed to papi_hl_output-YYYYMMDD-HHMMSS: the ranks of a run know
 * each other by PMIx or by Slurm's step.
 * @param folder  result, absolute or as the environment has it
 */
static int output_folder_make(char folder[OUTPUT_PATH_SIZE])
{
    const char *path = secure_getenv("PAPI_OUTPUT_DIRECTORY");
    int above, result;

    if (getauxval(AT_SECURE)) { /* the folder that the caller is in is no better */
        errno = EPERM;
        return -1;
    }
    path = path && *path ? path : ".";
    if (strlen(path) + sizeof "/" OUTPUT_NAME > OUTPUT_PATH_SIZE) {
        errno = ENAMETOOLONG;
        return -1;
    }
    above = output_folder_make_parents(path) ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0) {
        return -1;
    }
    result = output_folder_take(above);
    close(above);
    snprintf(folder, OUTPUT_PATH_SIZE, "%s/" OUTPUT_NAME, path);
    return result;
}

/* --- the file ------------------------------------------------------------------------------- */

#define UNKNOWN_RANKS 1000000 /* a number of six digits stands for a rank that is not known */

static bool output_wanted;
static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t output_owner; /* of `output_path`, which a child of a fork has not */
static char output_path[OUTPUT_FILE_SIZE];

/* The lock may have been held. */
void output_forget(void)
{
    pthread_mutex_init(&output_lock, NULL);
}

static void output_want_once(void)
{
    output_find_run();
    program_want();
    __atomic_store_n(&output_wanted, true, __ATOMIC_RELEASE);
}

void output_want(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, output_want_once);
}

bool output_is_wanted(void)
{
    return __atomic_load_n(&output_wanted, __ATOMIC_ACQUIRE);
}

void output_want_if_asked(void)
{
    if (!output_is_wanted() &&
        (secure_getenv("PAPI_OUTPUT_DIRECTORY") || secure_getenv("PAPI_REPORT"))) {
        output_want();
    }
}

static int output_save(const char *path, int flags, const char *text, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0666);
    int result;

    if (file < 0) {
        return -1;
    }
    result = write_all(file, text, size);
    return close(file) || result ? -1 : 0;
}

/*
 * A second program of a rank, or the child of a fork, must not replace the first one's file: it
 * takes a number that no other process of the folder has.
 */
static int output_save_first(const char *text, size_t size)
{
    uint32_t rank = program.page->head.rank;
    char folder[OUTPUT_PATH_SIZE];
    int result = -1;

    if (output_folder_make(folder)) {
        return -1;
    }
    output_owner = getpid();
    for (int i = rank == PAGE_NO_RANK ? 0 : -1; i < 100; i++) {
        uint32_t number = i < 0 ? rank : (uint32_t)(getpid() + i) % UNKNOWN_RANKS;

        snprintf(output_path, sizeof output_path, "%s/rank_%06u.json", folder, number);
        result = output_save(output_path, O_EXCL, text, size);
        if (result == 0 || errno != EEXIST) {
            break;
        }
    }
    return result;
}

int output_write(bool last)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream;
    struct rlimit limit;
    int result = -1;

    if (!output_is_wanted() || !program.page ||
        (page_node_count(program.page) == 1 && program.page->head.names_lost == 0)) {
        return 0; /* no region has begun */
    }
    pthread_mutex_lock(&output_lock);
    stream = open_memstream(&text, &size);
    if (stream) {
        output_text(stream);
    }
    if (stream && fclose(stream) == 0) {
        if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < size) {
            errno = EFBIG; /* which would be a signal to the program */
        } else {
            result = output_owner == getpid() ? output_save(output_path, O_TRUNC, text, size)
                                              : output_save_first(text, size);
        }
        if (last && secure_getenv("PAPI_REPORT")) {
            fputs(text, stdout);
        }
    }
    free(text);
    pthread_mutex_unlock(&output_lock);
    return result;
}
