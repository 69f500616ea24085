/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/merge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/copy.h"

struct apapi_merge {
    struct merge_node **nodes; /* sorted by name */
    size_t count;
    size_t capacity;
};

struct apapi_merge *apapi_merge_create(void)
{
    return calloc(1, sizeof(struct apapi_merge));
}

static void node_destroy(struct merge_node *node)
{
    if (!node) {
        return;
    }
    apapi_record_clear(&node->record);
    free(node);
}

void apapi_merge_destroy(struct apapi_merge *merge)
{
    int saved_errno = errno;

    if (!merge) {
        return;
    }
    for (size_t i = 0; i < merge->count; i++) {
        node_destroy(merge->nodes[i]);
    }
    free(merge->nodes);
    free(merge);
    errno = saved_errno;
}

static int compare_names(const char *a, const char *b)
{
    return strncmp(a, b, APAPI_TEXT_SIZE - 1); /* longer ones are cut in a record */
}

static bool find(const struct apapi_merge *merge, const char *name, size_t *place)
{
    size_t first = 0;
    size_t end = merge->count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = compare_names(name, merge->nodes[middle]->record.id.node);

        if (order == 0) {
            *place = middle;
            return true;
        }
        if (order < 0) {
            end = middle;
        } else {
            first = middle + 1;
        }
    }
    *place = first;
    return false;
}

static int reserve(struct apapi_merge *merge)
{
    size_t capacity = merge->capacity ? merge->capacity * 2 : 8;
    struct merge_node **nodes;

    if (merge->count < merge->capacity) {
        return 0;
    }
    nodes = reallocarray(merge->nodes, capacity, sizeof(struct merge_node *));
    if (!nodes) {
        return -1;
    }
    merge->nodes = nodes;
    merge->capacity = capacity;
    return 0;
}

/* Make room for a node called `name`: NULL with EEXIST, ENOMEM. */
static struct merge_node *insert(struct apapi_merge *merge, const char *name)
{
    struct merge_node *node;
    size_t place;

    if (find(merge, name, &place)) {
        errno = EEXIST;
        return NULL;
    }
    node = calloc(1, sizeof(*node));
    if (!node || reserve(merge) < 0) {
        free(node);
        errno = ENOMEM;
        return NULL;
    }
    memmove(&merge->nodes[place + 1], &merge->nodes[place],
            (merge->count - place) * sizeof(struct merge_node *));
    merge->nodes[place] = node;
    merge->count++;
    return node;
}

int apapi_merge_add(struct apapi_merge *merge, const struct apapi_record *record)
{
    struct apapi_record copy;
    struct merge_node *node;

    if (record_copy(&copy, record) < 0) {
        return -1;
    }
    node = insert(merge, record->id.node);
    if (!node) {
        apapi_record_clear(&copy);
        return -1;
    }
    node->record = copy;
    return 0;
}

static void copy_name(char copy[APAPI_TEXT_SIZE], const char *text)
{
    size_t length = strnlen(text, APAPI_TEXT_SIZE - 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
}

int apapi_merge_absent(struct apapi_merge *merge, const char *name, const char *reason)
{
    struct merge_node *node = insert(merge, name);

    if (!node) {
        return -1;
    }
    node->absent = true;
    copy_name(node->record.id.node, name);
    copy_name(node->record.reason, reason ? reason : "");
    return 0;
}

bool apapi_merge_has(const struct apapi_merge *merge, const char *node)
{
    size_t place;

    return find(merge, node, &place);
}

size_t apapi_merge_count(const struct apapi_merge *merge)
{
    return merge->count;
}

static int by_index(const void *a, const void *b)
{
    const struct merge_node *left = *(const struct merge_node *const *)a;
    const struct merge_node *right = *(const struct merge_node *const *)b;

    if (left->absent != right->absent) {
        return left->absent ? 1 : -1;
    }
    if (!left->absent && left->record.id.node_index != right->record.id.node_index) {
        return left->record.id.node_index < right->record.id.node_index ? -1 : 1;
    }
    return strverscmp(left->record.id.node, right->record.id.node);
}

ssize_t merge_nodes(const struct apapi_merge *merge, const struct merge_node ***nodes)
{
    const struct merge_node **ordered = calloc(merge->count + 1, sizeof(struct merge_node *));
    ssize_t recorded = 0;

    if (!ordered) {
        return -1;
    }
    for (size_t i = 0; i < merge->count; i++) {
        ordered[i] = merge->nodes[i];
        recorded += !ordered[i]->absent;
    }
    qsort(ordered, merge->count, sizeof(struct merge_node *), by_index);
    *nodes = ordered;
    return recorded;
}

static bool is_known(const struct apapi_domain_result *domain)
{
    return domain->measured && !(isnan(domain->energy_j) && isnan(domain->power_w.mean));
}

void merge_domain(const struct merge_node *const *nodes, size_t count, enum apapi_domain domain,
                  struct merge_domain *result)
{
    struct merge_domain sum = {0};

    for (size_t i = 0; i < count; i++) {
        const struct apapi_domain_result *one = &nodes[i]->record.measurement.domains[domain];

        if (!is_known(one)) {
            continue;
        }
        sum.nodes++;
        sum.energy_j += one->energy_j;
        sum.uncertainty_j += one->uncertainty_j;
        sum.power_w.min += one->power_w.min;
        sum.power_w.max += one->power_w.max;
        sum.power_w.mean += one->power_w.mean;
        sum.power_w.p95 = sum.nodes == 1 ? one->power_w.p95 : NAN;
    }
    if (sum.nodes == 0) {
        sum = (struct merge_domain){0, NAN, {NAN, NAN, NAN, NAN}, NAN};
    }
    *result = sum;
}
