/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/scan_head.h"

#include <string.h>

static bool take_byte(struct head *head, char byte)
{
    if (head->at < head->end && *head->at == byte) {
        head->at++;
        return true;
    }
    return false;
}

bool head_begin(struct head *head, const char *line, size_t size)
{
    static const char begin[] = "{\"apapi\":1,";

    *head = (struct head){line, line + size};
    if (size < sizeof begin || memcmp(line, begin, sizeof begin - 1) != 0) {
        return false;
    }
    head->at += sizeof begin - 2; /* at the comma, as between two pairs */
    return true;
}

/* A text after its first quote. */
static bool take_text(struct head *head, const char **text, size_t *size)
{
    const char *at = head->at;

    while (at < head->end && *at != '"') {
        at += *at == '\\' ? 2 : 1;
    }
    if (at >= head->end) {
        return false;
    }
    *text = head->at;
    *size = (size_t)(at - head->at);
    head->at = at + 1;
    return true;
}

/* A number, true or false. */
static bool scan_head_take_word(struct head *head, const char **word, size_t *size)
{
    const char *at = head->at;

    while (at < head->end && ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                              *at == '.' || *at == '-' || *at == '+')) {
        at++;
    }
    *word = head->at;
    *size = (size_t)(at - head->at);
    head->at = at;
    return *size > 0 && at < head->end && (*at == ',' || *at == '}');
}

bool head_next(struct head *head, struct head_pair *pair)
{
    if (!take_byte(head, ',') || !take_byte(head, '"') ||
        !take_text(head, &pair->key, &pair->key_size) || !take_byte(head, ':')) {
        return false;
    }
    pair->text = take_byte(head, '"');
    return pair->text ? take_text(head, &pair->value, &pair->value_size)
                      : scan_head_take_word(head, &pair->value, &pair->value_size);
}

bool head_is(const char *text, size_t size, const char *wanted)
{
    return strlen(wanted) == size && memcmp(text, wanted, size) == 0;
}
