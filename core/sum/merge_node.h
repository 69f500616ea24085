/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_MERGE_NODE_H
#define APAPI_SUM_MERGE_NODE_H
#include <stdbool.h>
#include <stdint.h>

enum merge_state { MERGE_RECORDED, MERGE_ABSENT, MERGE_AWAITED };

/** What a node has drawn in a domain. */
struct merge_node_domain {
    float uncertainty_j; /* NaN: not known */
    float covered;       /* share of the time, 0..1; 0, NaN: not known */
    uint8_t domain;
    double energy_j;
};

/** A node of the step. */
struct merge_node {
    enum merge_state state;
    uint32_t index; /* within the step; APAPI_UNKNOWN: not known, or no record */
    double total_j; /* NaN: not known */
    double covered; /* share of the time, 0..1; NaN: not known */
    bool incomplete;
    uint8_t domain_count;
    uint32_t unknown_domains;          /* as in struct apapi_measurement */
    struct merge_node_domain *domains; /* those whose energy is known, by number; owned */
    const char *reason; /* why there is no record, or an incomplete one; NULL: not known */
    char name[];
};

/** Compare by state, index and name: < 0, 0, > 0. */
int merge_node_order(const struct merge_node *left, const struct merge_node *right);

/** A hash of a text. It ignores everything after APAPI_TEXT_SIZE. */
uint32_t merge_hash(const char *text);

#endif
