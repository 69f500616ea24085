/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_RATES_H
#define APAPI_TOTALS_RATES_H
#include <stdint.h>

#include "apapi/error.h"
#include "config/config.h"

#define RATES_HOURS 24

/** What the site says in [report] of apapi.conf. Each hour of the local day has a value. */
struct rates {
    double co2_g_per_kwh[RATES_HOURS]; /* NaN: not said */
    double price_per_kwh[RATES_HOURS];
    double pue[RATES_HOURS]; /* 1 where it is not said */
    const char *currency;    /* "": not said; borrowed from the configuration */
};

/** Read [report]. A pue is at least 1. @return 0; -1 with errno EINVAL, `err` names file and line.
 */
int rates_read(const struct config *config, struct rates *rates, struct apapi_error *err);

/** Check one value of [report]. @return 0; -1 with errno EINVAL. */
int rates_check(const char *key, const char *value, struct apapi_error *err);

/**
 * A number, or a table of a day's hours as "0-6:250,6-22:400,22-24:250" that leaves none out
 * and says none twice.
 * @return 0; -1 with errno EINVAL.
 */
int rates_parse(const char *text, double hours[RATES_HOURS], struct apapi_error *err);

/**
 * What an energy comes to that was used evenly between two times, PUE included.
 * @param hours  per kWh
 * @return NaN: the energy or the rate is not known
 */
double rates_apply(const struct rates *rates, const double hours[RATES_HOURS], double energy_j,
                   int64_t from_ns, int64_t to_ns);

#endif
