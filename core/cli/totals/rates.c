/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/totals/totals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECTION "report"

static int read_rate(struct rates *rates, const char *key, const char *text,
                     struct apapi_error *err)
{
    double *rate = strcmp(key, "co2_g_per_kwh") == 0   ? &rates->co2_g_per_kwh
                   : strcmp(key, "price_per_kwh") == 0 ? &rates->price_per_kwh
                   : strcmp(key, "pue") == 0           ? &rates->pue
                                                       : NULL;
    double value;
    char *end;

    if (!rate) {
        return 0;
    }
    value = strtod(text, &end);
    if (*text < '0' || *text > '9' || *end || !isfinite(value)) {
        return apapi_fail(err, EINVAL, "'%.40s' is not a number from 0 on", text);
    }
    if (rate == &rates->pue && value < 1) { /* the energy of a site includes that of its machines */
        return apapi_fail(err, EINVAL, "%g is below 1", value);
    }
    *rate = value;
    return 0;
}

int rates_check(const char *key, const char *value, struct apapi_error *err)
{
    struct rates rates;

    return read_rate(&rates, key, value, err);
}

int rates_read(const struct config *config, struct rates *rates, struct apapi_error *err)
{
    *rates = (struct rates){NAN, NAN, 1, ""};
    for (size_t i = 0; i < config->setting_count; i++) {
        const struct config_setting *setting = &config->settings[i];
        struct apapi_error why;

        if (strcmp(setting->section, SECTION) != 0) {
            continue;
        }
        if (strcmp(setting->key, "currency") == 0) {
            rates->currency = setting->value;
        } else if (read_rate(rates, setting->key, setting->value, &why)) {
            return apapi_fail(err, EINVAL, "%.80s:%zu: %s: %.100s", config->path, setting->line,
                              setting->key, why.text);
        }
    }
    return 0;
}
