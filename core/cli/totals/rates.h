/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_RATES_H
#define APAPI_TOTALS_RATES_H
#include "apapi/error.h"
#include "config/config.h"

/** The rates in section [report] of apapi.conf. */
struct rates {
    double co2_g_per_kwh; /* NaN: not set */
    double price_per_kwh;
    double pue;           /* 1 if not set */
    const char *currency; /* "": not set; borrowed from the configuration */
};

/** Read [report]. pue is at least 1. @return 0; -1 with errno EINVAL, `err` names file and line. */
int rates_read(const struct config *config, struct rates *rates, struct apapi_error *err);

/** Check one value of [report]. @return 0; -1 with errno EINVAL. */
int rates_check(const char *key, const char *value, struct apapi_error *err);

#endif
