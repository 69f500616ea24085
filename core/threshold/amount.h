/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef THRESHOLD_AMOUNT_H
#define THRESHOLD_AMOUNT_H
#include "threshold/place.h"
#include "threshold/types.h"

/** A number with its unit. */
struct amount {
    double value; /* [J], [W], [C], [%], or plain */
    enum threshold_unit unit;
    const char *unit_at; /* where the unit is, or would be */
};

/**
 * Read "5kJ", "600 W", "80°C", "3".
 * @param wanted  the units that a message names; THRESHOLD_PLAIN: all
 * @return 0; -1 with errno EINVAL, ERANGE.
 */
int amount_parse(struct place *place, enum threshold_unit wanted, struct amount *amount);

/** @return the units that are valid for it: "J, kJ, MJ, Wh, kWh, MWh". Static storage. */
const char *amount_units(enum threshold_unit unit);

#endif
