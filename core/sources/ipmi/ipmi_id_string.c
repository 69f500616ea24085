/* SPDX-License-Identifier: BSD-3-Clause */
/* A sensor's name in its record, IPMI 2.0 specification, section 43.15. */
#include "sources/ipmi/ipmi_id_string.h"

#define AT_TYPE_LENGTH 47 /* in a full sensor record; the text follows */
#define TYPE_BCD_PLUS 1
#define TYPE_SIX_BITS 2

static unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Get a number of `count` bits from a text. Bits are counted from the lowest one of each byte. */
static unsigned bits_at(const uint8_t *text, unsigned first_bit, unsigned count)
{
    unsigned value = 0;

    for (unsigned i = 0; i < count; i++) {
        value |= (unsigned)(text[(first_bit + i) / 8] >> (first_bit + i) % 8 & 1) << i;
    }
    return value;
}

static char character(const uint8_t *text, unsigned type, unsigned index)
{
    switch (type) {
    case TYPE_BCD_PLUS:
        return "0123456789 -.:,_"[text[index / 2] >> (index % 2 ? 0 : 4) & 0xf];
    case TYPE_SIX_BITS:
        return (char)(' ' + bits_at(text, 6 * index, 6));
    default:
        return (char)text[index];
    }
}

static unsigned characters(unsigned type, unsigned bytes)
{
    switch (type) {
    case TYPE_BCD_PLUS:
        return 2 * bytes;
    case TYPE_SIX_BITS:
        return bytes * 8 / 6;
    default:
        return bytes;
    }
}

void ipmi_id_string(const uint8_t *record, unsigned size, char name[IPMI_NAME_SIZE])
{
    const uint8_t *text = record + AT_TYPE_LENGTH + 1;
    unsigned type, bytes, length, end = 0;

    name[0] = '\0';
    if (size <= AT_TYPE_LENGTH) {
        return;
    }
    type = record[AT_TYPE_LENGTH] >> 6;
    bytes = lesser(record[AT_TYPE_LENGTH] & 0x1f, size - AT_TYPE_LENGTH - 1);
    length = lesser(characters(type, bytes), IPMI_NAME_SIZE - 1);
    for (unsigned i = 0; i < length; i++) {
        name[i] = character(text, type, i);
        if (name[i] != ' ' && name[i] != '\0') {
            end = i + 1;
        }
    }
    name[end] = '\0';
}
