/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domain_list.h"

#include <stdio.h>
#include <string.h>

static uint32_t domain_list_of(const char *name)
{
    enum apapi_domain domain = apapi_domain_find(name);

    return domain == APAPI_DOMAIN_NONE ? 0 : domain_bit(domain);
}

uint32_t domain_list_adding_up(uint32_t set)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (!apapi_domain_adds_up(d)) {
            set &= ~domain_bit(d);
        }
    }
    return set;
}

void domain_list_text(uint32_t set, const char *separator, char text[DOMAIN_LIST_SIZE])
{
    size_t length = 0;

    *text = '\0';
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (set & domain_bit(d)) {
            length += (size_t)snprintf(text + length, DOMAIN_LIST_SIZE - length, "%s%s",
                                       length ? separator : "", apapi_domain_name(d));
        }
    }
}

uint32_t domain_list_parse(const char *text)
{
    uint32_t set = 0;

    while (*text) {
        char name[DOMAIN_LIST_SIZE];
        size_t size = strcspn(text, ",");

        snprintf(name, sizeof(name), "%.*s", (int)size, text);
        set |= domain_list_of(name);
        text += size + (text[size] == ',');
    }
    return set;
}

json_t *domain_list_json(uint32_t set)
{
    json_t *array = json_array();

    for (int d = 0; d < APAPI_DOMAINS && array; d++) {
        if (set & domain_bit(d) &&
            json_array_append_new(array, json_string(apapi_domain_name(d))) < 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

int domain_list_read(const struct tree_node *array, uint32_t *set)
{
    const struct tree_node *name;

    if (!tree_is(array, TREE_ARRAY)) {
        return -1;
    }
    *set = 0;
    name = array->size > 0 ? tree_first(array) : NULL;
    for (uint32_t i = 0; i < array->size; i++, name = tree_next(name)) {
        if (!tree_is(name, TREE_TEXT)) {
            return -1;
        }
        *set |= domain_list_of(name->text);
    }
    return 0;
}
