/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_DOMAIN_LIST_H
#define APAPI_RECORD_DOMAIN_LIST_H
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/event.h"
#include "base/json.h"

/* Sets of domains: bit 1 << enum apapi_domain. */

#define DOMAIN_LIST_SIZE 64 /* of a text with all names and its NUL */

/** The set of one domain. */
static inline uint32_t domain_bit(int domain)
{
    return UINT32_C(1) << domain;
}

/** The domains of the set that add up to the total. */
uint32_t domain_list_adding_up(uint32_t set);

/** Write the names, separated by `separator`; "": none. */
void domain_list_text(uint32_t set, const char *separator, char text[DOMAIN_LIST_SIZE]);

/** @return the set that domain_list_text() has written with ","; other names are left out. */
uint32_t domain_list_parse(const char *text);

/** @return the names as a JSON array; NULL: out of memory. */
json_t *domain_list_json(uint32_t set);

/** @return 0; -1: not an array of texts. Names that are not known are left out. */
int domain_list_read(const struct tree_node *array, uint32_t *set);

#endif
