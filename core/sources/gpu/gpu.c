/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/gpu/gpu.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

/* --- the library ------------------------------------------------------------------------------ */

static bool load_file(const struct gpu_driver *driver, const char *file, struct apapi_error *err)
{
    if (shared_library_load(file, driver->symbols, driver->functions, err)) {
        return false;
    }
    for (const struct library_symbol *symbol = driver->newer; symbol && symbol->name; symbol++) {
        const struct library_symbol alone[] = {*symbol, {NULL, 0}};

        shared_library_load(file, alone, driver->functions, NULL);
    }
    return true;
}

static int gpu_driver_load(const struct gpu_driver *driver, struct apapi_error *err)
{
    const char *chosen = source_setting(driver->component, "library");
    const char *const only[] = {chosen, NULL};
    struct apapi_error first = {""}, why;

    if (driver->available && driver->available(err)) {
        return -1;
    }
    for (const char *const *file = chosen ? only : driver->files; *file && !*driver->loaded;
         file++) {
        *driver->loaded = load_file(driver, *file, *first.text ? &why : &first);
    }
    return *driver->loaded ? 0 : apapi_fail(err, ENODEV, "%s: %.200s", driver->missing, first.text);
}

int gpu_status_error(const struct gpu_status *list, int code)
{
    while (list->error && list->code != code) {
        list++;
    }
    return code == 0 ? 0 : list->error ? list->error : EIO;
}

/* --- which GPUs ------------------------------------------------------------------------------- */

#define MIG_PREFIX "MIG-"
#define MIG_OLD_PREFIX "MIG-GPU-" /* MIG-GPU-<uuid of the GPU>/<instance>/<instance> */
#define WORD_SIZE 128

/* The words of a list, and the GPUs to look for. */
struct choice {
    const char *origin;
    bool of_slurm; /* numbers are Slurm's, which may know more GPUs than are visible here */
    struct gpu_device *devices;
    size_t count;
    gpu_find_part_f find_part;
};

static const char *find_list(const char **origin, bool *of_slurm)
{
    static const struct {
        const char *variable;
        const char *section, *key; /* NULL: only the variable */
    } lists[] = {{"APAPI_GPUS", NULL, NULL},
                 {"the step's GPUs", "slurm", "gpus"},
                 {"SLURM_STEP_GPUS", NULL, NULL},
                 {"SLURM_JOB_GPUS", NULL, NULL}};

    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const char *list = lists[i].section ? source_setting(lists[i].section, lists[i].key)
                                            : secure_getenv(lists[i].variable);

        if (list && *list) {
            *origin = lists[i].variable;
            *of_slurm = i > 0;
            return strcmp(list, "all") == 0 ? NULL : list;
        }
    }
    return NULL;
}

static int refuse_word(const struct choice *choice, const char *word, struct apapi_error *err)
{
    return apapi_fail(err, EINVAL,
                      "%s: '%s' names no GPU; valid: all, or 0, 0-3, GPU-..., MIG-... "
                      "separated by commas",
                      choice->origin, word);
}

static int not_here(const struct choice *choice, const char *word, struct apapi_error *err)
{
    return apapi_fail(err, ENODEV, "%s: there is no GPU '%s' among the %zu here", choice->origin,
                      word, choice->count);
}

static bool has_number(const struct gpu_device *device, unsigned long number)
{
    const char *order = source_setting("gpus", "order");

    return order && strcmp(order, "minor") == 0 && device->minor >= 0
               ? (unsigned long)device->minor == number
               : device->index == number;
}

/* "2" or "0-3". */
static bool parse_range(const char *word, unsigned long *first, unsigned long *last)
{
    char *end;

    errno = 0;
    *first = *last = strtoul(word, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1])) {
        *last = strtoul(end + 1, &end, 10);
    }
    return *end == '\0' && errno == 0 && *first <= *last;
}

static int choose_range(const struct choice *choice, const char *word, struct apapi_error *err)
{
    unsigned long first, last;

    if (!parse_range(word, &first, &last)) {
        return refuse_word(choice, word, err);
    }
    for (unsigned long number = first;; number++) {
        bool found = false;

        for (size_t i = 0; i < choice->count; i++) {
            if (has_number(&choice->devices[i], number)) {
                choice->devices[i].chosen = found = true;
            }
        }
        if (!found) {
            return not_here(choice, word, err);
        }
        if (number == last) {
            return 0;
        }
    }
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncasecmp(text, beginning, strlen(beginning)) == 0;
}

static bool has_name(const struct choice *choice, const struct gpu_device *device, const char *word,
                     struct gpu_part *part)
{
    char gpu[WORD_SIZE];

    if (begins_with(word, MIG_OLD_PREFIX)) {
        strcpy(gpu, word + strlen(MIG_PREFIX));
        gpu[strcspn(gpu, "/")] = '\0';
        return begins_with(device->uuid, gpu);
    }
    if (begins_with(word, MIG_PREFIX)) {
        return choice->find_part && choice->find_part(device, word, part);
    }
    return begins_with(device->uuid, word);
}

static int choose_name(const struct choice *choice, const char *word, struct apapi_error *err)
{
    struct gpu_device *found = NULL;
    struct gpu_part part = {0, 0};

    for (size_t i = 0; i < choice->count; i++) {
        struct gpu_device *device = &choice->devices[i];

        if (has_name(choice, device, word, &part)) {
            if (found) {
                return apapi_fail(err, EINVAL, "%s: '%s' fits more than one GPU", choice->origin,
                                  word);
            }
            found = device;
        }
    }
    if (!found) {
        return not_here(choice, word, err);
    }
    found->chosen = true;
    if (begins_with(word, MIG_PREFIX)) { /* the sum is known if each part's size is */
        bool known = part.slices > 0 && (found->slices > 0 || !found->by_part);

        found->slices = known ? found->slices + part.slices : 0;
        found->slices_all = known ? part.slices_all : 0;
        found->by_part = true;
    }
    return 0;
}

static int choose_word(const struct choice *choice, const char *word, struct apapi_error *err)
{
    if (isdigit((unsigned char)*word)) {
        return choose_range(choice, word, err);
    }
    if ((begins_with(word, "GPU-") || begins_with(word, MIG_PREFIX)) && strchr(word, '-')[1]) {
        return choose_name(choice, word, err);
    }
    return refuse_word(choice, word, err);
}

/* Take the next word of a list, trimmed, and cut if it is too long for any name. */
static void next_word(const char **rest, char word[WORD_SIZE])
{
    const char *start = *rest + strspn(*rest, " ");
    size_t length = strcspn(start, ", ");

    *rest = start + strcspn(start, ",");
    *rest += **rest == ',';
    length = length < WORD_SIZE ? length : WORD_SIZE - 1;
    memcpy(word, start, length);
    word[length] = '\0';
}

/* @return how many GPUs a list names by number; 0: it contains other words. */
static size_t count_numbers(const char *list)
{
    size_t count = 0;

    while (*list) {
        unsigned long first, last;
        char word[WORD_SIZE];

        next_word(&list, word);
        if (!isdigit((unsigned char)*word) || !parse_range(word, &first, &last)) {
            return 0;
        }
        count += last - first + 1;
    }
    return count;
}

int gpu_select(struct gpu_device *devices, size_t count, gpu_find_part_f find_part,
               struct apapi_error *err)
{
    struct choice choice = {.devices = devices, .count = count, .find_part = find_part};
    const char *list = find_list(&choice.origin, &choice.of_slurm);

    if (list && strcmp(list, "none") == 0) {
        return apapi_fail(err, ENODEV, choice.of_slurm ? "the step has no GPU" : "APAPI_GPUS=none");
    }
    /* If Slurm hides the GPUs of others, its numbers do not match the visible ones. */
    if (!list || (choice.of_slurm && count_numbers(list) == count)) {
        for (size_t i = 0; i < count; i++) {
            devices[i].chosen = true;
        }
        return 0;
    }
    while (*list) {
        char word[WORD_SIZE];

        next_word(&list, word);
        if (choose_word(&choice, word, err)) {
            return -1;
        }
    }
    return 0;
}

/* --- a reader --------------------------------------------------------------------------------- */

/* A query of one GPU, and the events for its values. */
struct gpu_slot {
    const struct gpu_query *query;
    const struct gpu_device *device;
    size_t events[GPU_VALUES_MAX]; /* NO_EVENT: not used */
};
#define NO_EVENT SIZE_MAX

struct gpu_reader {
    struct apapi_reader base;
    const struct gpu_driver *driver;
    struct gpu_device devices[GPU_DEVICES_MAX];
    size_t device_count;
    struct gpu_slot *slots;
    size_t slot_count;
    struct apapi_event *events;
    struct gpu_origin {
        const struct gpu_metric *metric;
        const struct gpu_device *device;
    } * origins; /* metric and GPU of each event */
    bool started;
};

/* Append a remark to the detail, as far as it fits: "NVML 12.535, whole GPU". */
static void gpu_remark(struct apapi_reader *base, const char *remark)
{
    size_t used = strlen(base->detail);

    snprintf(base->detail + used, sizeof base->detail - used, ", %s", remark);
}

/* Name an event as PAPI does: blanks in a GPU's name become underscores. */
static void name_event(const struct gpu_metric *metric, const struct gpu_device *device,
                       char name[APAPI_NAME_SIZE])
{
    size_t length = 0;

    for (const char *at = metric->name; *at && length < APAPI_NAME_SIZE - 1; at++) {
        char letter[2] = {*at, '\0'}, index[16];

        snprintf(index, sizeof index, "%u", device->index);
        snprintf(name + length, APAPI_NAME_SIZE - length, "%s",
                 *at == '#'   ? index
                 : *at == '@' ? device->name
                              : letter);
        for (; name[length]; length++) {
            name[length] = name[length] == ' ' ? '_' : name[length];
        }
    }
}

static size_t add_event(struct gpu_reader *reader, const struct gpu_metric *metric,
                        const struct gpu_device *device)
{
    size_t index = reader->base.count++;
    struct apapi_event *event = &reader->events[index];

    *event =
        (struct apapi_event){.kind = metric->kind,
                             .domain = metric->domain,
                             .type = metric->accumulates ? APAPI_TYPE_UINT64 : APAPI_TYPE_INT64,
                             .accumulates = metric->accumulates,
                             .scale = metric->scale,
                             .update_ns = metric->update_ns,
                             .slices = (uint8_t)device->slices,
                             .slices_all = (uint8_t)device->slices_all,
                             .most_w = (float)device->most_w};
    snprintf(event->unit, sizeof event->unit, "%s", metric->unit);
    name_event(metric, device, event->name);
    reader->origins[index] = (struct gpu_origin){metric, device};
    return index;
}

/* A value that fails now may work later. A value that the GPU does not support is not offered. */
static bool is_offered(int error, uint64_t value)
{
    return error == 0 ? value != GPU_ABSENT : error != ENOTSUP;
}

static bool is_of_first_die(const struct gpu_metric *metric, const struct gpu_device *device)
{
    return device->second_die &&
           (metric->kind == APAPI_KIND_ENERGY || metric->kind == APAPI_KIND_POWER);
}

static void add_query(struct gpu_reader *reader, const struct gpu_query *query,
                      const struct gpu_device *device, bool counters)
{
    struct gpu_slot *slot = &reader->slots[reader->slot_count];
    uint64_t values[GPU_VALUES_MAX] = {0};
    int error = query->get(device, values);
    bool used = false;

    *slot = (struct gpu_slot){.query = query, .device = device};
    for (size_t i = 0; i < GPU_VALUES_MAX; i++) {
        const struct gpu_metric *metric = &query->metrics[i];

        slot->events[i] = NO_EVENT;
        if (metric->name && is_offered(error, values[i]) && !is_of_first_die(metric, device) &&
            (counters || metric->kind != APAPI_KIND_ENERGY || !metric->accumulates)) {
            slot->events[i] = add_event(reader, metric, device);
            used = true;
        }
    }
    reader->slot_count += used;
}

static bool is_measured(const struct gpu_device *device)
{
    return device->chosen && device->error == 0;
}

/* @return whether the GPU offers an energy counter or a power gauge. */
static bool has_meter(const struct gpu_driver *driver, const struct gpu_device *device,
                      enum apapi_kind kind)
{
    for (size_t q = 0; q < driver->query_count; q++) {
        const struct gpu_query *query = &driver->queries[q];
        uint64_t values[GPU_VALUES_MAX] = {0};

        if (query->metrics[0].kind == kind && is_offered(query->get(device, values), values[0])) {
            return true;
        }
    }
    return false;
}

/* Energy counters of some GPUs and power of others cannot be added up: then all use power. */
static bool can_count(const struct gpu_reader *reader)
{
    for (size_t d = 0; d < reader->device_count; d++) {
        const struct gpu_device *device = &reader->devices[d];

        if (is_measured(device) && !has_meter(reader->driver, device, APAPI_KIND_ENERGY) &&
            has_meter(reader->driver, device, APAPI_KIND_POWER)) {
            return false;
        }
    }
    return true;
}

static void add_events(struct gpu_reader *reader, bool counters)
{
    const struct gpu_driver *driver = reader->driver;

    for (size_t d = 0; d < reader->device_count; d++) {
        for (size_t q = 0; is_measured(&reader->devices[d]) && q < driver->query_count; q++) {
            add_query(reader, &driver->queries[q], &reader->devices[d], counters);
        }
    }
}

/*
 * A GPU that should be measured and cannot be used gets the event of its meter, which always fails:
 * without it, the energy of the others would look like that of all.
 */
static void add_lost(struct gpu_reader *reader, bool counters)
{
    enum apapi_kind kind = counters ? APAPI_KIND_ENERGY : APAPI_KIND_POWER;
    const struct gpu_query *query = reader->driver->queries;

    while (query->metrics[0].kind != kind) {
        query++;
    }
    for (size_t d = 0; d < reader->device_count; d++) {
        const struct gpu_device *device = &reader->devices[d];

        if (device->chosen && device->error) {
            struct gpu_slot *slot = &reader->slots[reader->slot_count++];

            *slot = (struct gpu_slot){query, device, {NO_EVENT, NO_EVENT, NO_EVENT}};
            slot->events[0] = add_event(reader, query->metrics, device);
        }
    }
}

/* Add the remarks on the GPUs for the report. */
static void add_remarks(struct gpu_reader *reader, bool counters)
{
    size_t missed = 0;
    bool by_part = false, half_card = false;
    char text[40];

    for (size_t d = 0; d < reader->device_count; d++) {
        const struct gpu_device *device = &reader->devices[d];

        missed += device->chosen &&
                  (device->error || (!has_meter(reader->driver, device, APAPI_KIND_ENERGY) &&
                                     !has_meter(reader->driver, device, APAPI_KIND_POWER)));
        by_part |= device->by_part;
        half_card |= device->half_card;
    }
    if (!counters) {
        gpu_remark(&reader->base, "power integrated");
    }
    if (missed) {
        snprintf(text, sizeof text, "%zu GPU%s not measured", missed, missed > 1 ? "s" : "");
        gpu_remark(&reader->base, text);
    }
    if (by_part) {
        gpu_remark(&reader->base, "whole GPU (MIG)");
    }
    if (half_card) {
        gpu_remark(&reader->base, "whole card (2 dies)");
    }
}

/* Explain why there is no event: no GPU, or the first GPU's error. */
static int refuse_all(const struct gpu_reader *reader, struct apapi_error *err)
{
    for (size_t d = 0; d < reader->device_count; d++) {
        const struct gpu_device *device = &reader->devices[d];

        if (device->chosen && device->error) {
            return apapi_fail(err, device->error, "%s: GPU %u: %s", reader->base.detail,
                              device->index, strerror(device->error));
        }
    }
    return apapi_fail(err, ENODEV, "%s: %s", reader->base.detail,
                      reader->device_count ? "no GPU has anything to read" : "no GPU");
}

/* The first die of a card measures the second one, too; the second one alone is not measured. */
static void settle_dies(struct gpu_device *devices, size_t count)
{
    for (size_t d = 1; d < count; d++) {
        struct gpu_device *first = &devices[d - 1], *second = &devices[d];

        if (second->second_die) {
            first->half_card = first->chosen && !second->chosen;
            second->error = first->chosen ? 0 : ENODATA;
        }
    }
}

/* Find the GPUs to measure, without those that a container or a control group hides. */
static int choose_devices(struct gpu_reader *reader, struct apapi_error *err)
{
    size_t kept = 0;

    reader->device_count = reader->driver->find(reader->devices);
    for (size_t d = 0; d < reader->device_count; d++) {
        if (reader->devices[d].error != EACCES) {
            reader->devices[kept++] = reader->devices[d];
        }
    }
    reader->device_count = kept > 0 ? kept : reader->device_count;
    if (gpu_select(reader->devices, reader->device_count, reader->driver->find_part, err)) {
        return -1;
    }
    settle_dies(reader->devices, reader->device_count);
    return 0;
}

static int begin(struct gpu_reader *reader, struct apapi_error *err)
{
    const struct gpu_driver *driver = reader->driver;
    size_t slots;
    bool counters;

    if (gpu_driver_load(driver, err) || driver->start(err)) {
        return -1;
    }
    reader->started = true;
    driver->version(reader->base.detail, sizeof reader->base.detail);
    if (choose_devices(reader, err)) {
        return -1;
    }
    slots = reader->device_count * driver->query_count;
    reader->slots = calloc(slots + 1, sizeof *reader->slots);
    reader->events = calloc(slots * GPU_VALUES_MAX + 1, sizeof *reader->events);
    reader->origins = calloc(slots * GPU_VALUES_MAX + 1, sizeof *reader->origins);
    if (!reader->slots || !reader->events || !reader->origins) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    reader->base.events = reader->events;
    counters = can_count(reader);
    add_events(reader, counters);
    if (reader->base.count == 0) {
        return refuse_all(reader, err);
    }
    add_lost(reader, counters);
    add_remarks(reader, counters);
    return 0;
}

/* Libraries of drivers open files without O_CLOEXEC, which programs must not inherit. */
struct apapi_reader *gpu_open(const struct apapi_source *source, const struct gpu_driver *driver,
                              struct apapi_error *err)
{
    struct gpu_reader *reader = calloc(1, sizeof *reader);
    struct open_files before;
    int result;

    if (!reader) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    reader->base.source = source;
    reader->base.own_worker = true;
    reader->driver = driver;
    open_files_note(&before);
    result = begin(reader, err);
    open_files_close_new_on_exec(&before);
    if (result) {
        gpu_close(&reader->base);
        return NULL;
    }
    return &reader->base;
}

void gpu_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    const struct gpu_reader *reader = (const struct gpu_reader *)base;

    for (size_t p = 0; p < reader->slot_count; p++) {
        const struct gpu_slot *slot = &reader->slots[p];
        uint64_t values[GPU_VALUES_MAX] = {0};
        int error =
            slot->device->error ? slot->device->error : slot->query->get(slot->device, values);

        for (size_t i = 0; i < GPU_VALUES_MAX; i++) {
            if (slot->events[i] != NO_EVENT) {
                readings[slot->events[i]] = (struct apapi_reading){
                    .raw = values[i],
                    .error = error || values[i] != GPU_ABSENT ? error : ENODATA,
                };
            }
        }
    }
}

void gpu_describe(const struct apapi_reader *base, size_t index, char *text, size_t size)
{
    const struct gpu_origin *origin = &((const struct gpu_reader *)base)->origins[index];

    snprintf(text, size, "%s of GPU %u, %s%s%s", origin->metric->text, origin->device->index,
             origin->device->name, *origin->device->name ? ", " : "", origin->device->uuid);
}

void gpu_close(struct apapi_reader *base)
{
    struct gpu_reader *reader = (struct gpu_reader *)base;
    int saved = errno;

    if (!reader) {
        return;
    }
    if (reader->started && reader->driver->stop) {
        reader->driver->stop();
    }
    free(reader->slots);
    free(reader->events);
    free(reader->origins);
    free(reader);
    errno = saved;
}
