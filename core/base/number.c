/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/number.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>

static int number_finish(const char *text, const char *end)
{
    if (end == text) {
        errno = EINVAL;
    }
    return errno ? -1 : 0;
}

int whole_number_parse(const char *text, struct whole_number *number)
{
    struct whole_number result = {.negative = *text == '-'};
    char *end;

    errno = 0;
    if (result.negative) {
        long long value = strtoll(text, &end, 0);

        result.negative = value != 0;
    } else {
        result.value = strtoull(text, &end, 0);
    }
    if (number_finish(text, end)) {
        return -1;
    }
    result.rest = end;
    *number = result;
    return 0;
}

int real_number_parse(const char *text, struct real_number *number)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *end;
    double value;
    int result;

    if (!locale) {
        return -1;
    }
    errno = 0;
    value = strtod_l(text, &end, locale);
    result = number_finish(text, end);
    if (result == 0) {
        *number = (struct real_number){value, end};
    }
    freelocale(locale);
    return result;
}
