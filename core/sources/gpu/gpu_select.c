/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/gpu/gpu_select.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/count_of.h"
#include "sources/sources.h"

#define MIG_PREFIX "MIG-"
#define MIG_OLD_PREFIX "MIG-GPU-" /* MIG-GPU-<uuid of the GPU>/<instance>/<instance> */
#define WORD_SIZE 128

/* The words of a list, and the GPUs to look for. */
struct search {
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

const char *gpu_list(void)
{
    const char *origin;
    bool of_slurm;

    return find_list(&origin, &of_slurm);
}

static int refuse_word(const struct search *search, const char *word, struct apapi_error *err)
{
    return apapi_fail(err, EINVAL,
                      "%s: '%s' names no GPU; valid: all, or 0, 0-3, GPU-..., MIG-... "
                      "separated by commas",
                      search->origin, word);
}

static int not_here(const struct search *search, const char *word, struct apapi_error *err)
{
    return apapi_fail(err, ENODEV, "%s: there is no GPU '%s' among the %zu here", search->origin,
                      word, search->count);
}

static bool has_number(const struct gpu_device *device, unsigned long number)
{
    const char *order = source_setting("gpus", "order");

    return order && strcmp(order, "minor") == 0 && device->minor >= 0
               ? (unsigned long)device->minor == number
               : device->index == number;
}

static bool choose_number(const struct search *search, unsigned long number)
{
    bool found = false;

    for (size_t i = 0; i < search->count; i++) {
        if (has_number(&search->devices[i], number)) {
            search->devices[i].chosen = true;
            found = true;
        }
    }
    return found;
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

static int choose_range(const struct search *search, const char *word, struct apapi_error *err)
{
    unsigned long first, last;

    if (!parse_range(word, &first, &last)) {
        return refuse_word(search, word, err);
    }
    for (unsigned long number = first;; number++) {
        if (!choose_number(search, number)) {
            return not_here(search, word, err);
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

static bool gpu_select_has_name(const struct search *search, const struct gpu_device *device,
                                const char *word, struct gpu_part *part)
{
    char gpu[WORD_SIZE];

    if (begins_with(word, MIG_OLD_PREFIX)) {
        strcpy(gpu, word + strlen(MIG_PREFIX));
        gpu[strcspn(gpu, "/")] = '\0';
        return begins_with(device->uuid, gpu);
    }
    if (begins_with(word, MIG_PREFIX)) {
        return search->find_part && search->find_part(device, word, part);
    }
    return begins_with(device->uuid, word);
}

/* Without the size of one part, that of all of them is not known. */
static void gpu_select_add_part(struct gpu_device *device, const struct gpu_part *part)
{
    bool known = part->slices > 0 && (device->slices > 0 || !device->by_part);

    device->slices = known ? device->slices + part->slices : 0;
    device->slices_all = known ? part->slices_all : 0;
    device->by_part = true;
}

static int gpu_select_choose_name(const struct search *search, const char *word,
                                  struct apapi_error *err)
{
    struct gpu_device *found = NULL;
    struct gpu_part part = {0, 0};

    for (size_t i = 0; i < search->count; i++) {
        struct gpu_device *device = &search->devices[i];

        if (gpu_select_has_name(search, device, word, &part)) {
            if (found) {
                return apapi_fail(err, EINVAL, "%s: '%s' fits more than one GPU", search->origin,
                                  word);
            }
            found = device;
        }
    }
    if (!found) {
        return not_here(search, word, err);
    }
    found->chosen = true;
    if (begins_with(word, MIG_PREFIX)) {
        gpu_select_add_part(found, &part);
    }
    return 0;
}

static int choose_word(const struct search *search, const char *word, struct apapi_error *err)
{
    if (isdigit((unsigned char)*word)) {
        return choose_range(search, word, err);
    }
    if ((begins_with(word, "GPU-") || begins_with(word, MIG_PREFIX)) && strchr(word, '-')[1]) {
        return gpu_select_choose_name(search, word, err);
    }
    return refuse_word(search, word, err);
}

/* The next word of a list, trimmed, and cut if it is too long for any name. */
static void gpu_select_next_word(const char **rest, char word[WORD_SIZE])
{
    const char *start = *rest + strspn(*rest, " ");
    size_t length = strcspn(start, ", ");

    *rest = start + strcspn(start, ",");
    *rest += **rest == ',';
    length = length < WORD_SIZE ? length : WORD_SIZE - 1;
    memcpy(word, start, length);
    word[length] = '\0';
}

/* How many GPUs a list names by number; 0: it contains other words. */
static size_t count_numbers(const char *list)
{
    size_t count = 0;

    while (*list) {
        unsigned long first, last;
        char word[WORD_SIZE];

        gpu_select_next_word(&list, word);
        if (!isdigit((unsigned char)*word) || !parse_range(word, &first, &last)) {
            return 0;
        }
        count += last - first + 1;
    }
    return count;
}

static void gpu_select_choose_all(const struct search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        search->devices[i].chosen = true;
    }
}

int gpu_select(struct gpu_device *devices, size_t count, gpu_find_part_f find_part,
               struct apapi_error *err)
{
    struct search search = {.devices = devices, .count = count, .find_part = find_part};
    const char *list = find_list(&search.origin, &search.of_slurm);

    if (!list) {
        gpu_select_choose_all(&search);
        return 0;
    }
    if (strcmp(list, "none") == 0) {
        return apapi_fail(err, ENODEV, search.of_slurm ? "the step has no GPU" : "APAPI_GPUS=none");
    }
    /* If Slurm hides the GPUs of others, its numbers do not match the visible ones. */
    if (search.of_slurm && count_numbers(list) == count) {
        gpu_select_choose_all(&search);
        return 0;
    }
    while (*list) {
        char word[WORD_SIZE];

        gpu_select_next_word(&list, word);
        if (choose_word(&search, word, err)) {
            return -1;
        }
    }
    return 0;
}
