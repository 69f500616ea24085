/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_EXTREMES_H
#define MEASURE_EXTREMES_H

/*
 * The extremes of a stream of values that are not NaN. Start with NaN. Written so that each is one
 * instruction.
 */

static inline double lesser(double least, double value)
{
    return least < value ? least : value;
}

static inline double greater(double greatest, double value)
{
    return greatest > value ? greatest : value;
}

#endif
