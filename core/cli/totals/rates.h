/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_RATES_H
#define APAPI_TOTALS_RATES_H
#include <stdint.h>

#include "apapi/error.h"
#include "config/config.h"

#define RATES_HOURS 24

/** The rates in section [report] of apapi.conf. Each hour of the local day has a value. */
struct rates {
    double co2_g_per_kwh[RATES_HOURS]; /* NaN: not set */
    double price_per_kwh[RATES_HOURS];
    double pue[RATES_HOURS]; /* 1 if not set */
    const char *currency;    /* "": not set; borrowed from the configuration */
};

/** Read [report]. pue is at least 1. @return 0; -1 with errno EINVAL, `err` names file and line. */
int rates_read(const struct config *config, struct rates *rates, struct apapi_error *err);

/** Check one value of [report]. @return 0; -1 with errno EINVAL. */
int rates_check(const char *key, const char *value, struct apapi_error *err);

/**
 * Parse a number, or a table "0-6:250,6-22:400,22-24:250" with each hour of the day exactly once.
 * @return 0; -1 with errno EINVAL.
 */
int rates_parse(const char *text, double hours[RATES_HOURS], struct apapi_error *err);

/**
 * Apply a rate to an energy that was used evenly between two times, including PUE.
 * @param hours  per kWh
 * @return NaN: the energy or the rate is not known
 */
double rates_apply(const struct rates *rates, const double hours[RATES_HOURS], double energy_j,
                   int64_t from_ns, int64_t to_ns);

#endif
