/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_UNITS_H
#define APAPI_BASE_UNITS_H
#include <stddef.h>
#include <stdint.h>

#define UNITS_SIZE 32 /* bytes that hold any text made here, for units of up to 15 bytes */

/** How to show a number: value / factor, with so many decimals, before prefix and unit. */
struct units_scale {
    double factor;
    const char *prefix; /* "", "k", "m", ...; static storage */
    int decimals;       /* below 0: so many digits before the point are rounded to 0 */
};

/** The scale at which `value` shows four significant digits (two from 0.10 to 0.99). */
struct units_scale units_scale(double value);

/**
 * Leave out the decimals that are not known: those far below the uncertainty, of which one digit
 * stays, two up to 35. One digit of the value stays in any case.
 * @param uncertainty  in the unit of `value`; NaN and 0: nothing is left out
 */
void units_keep_known(struct units_scale *scale, double value, double uncertainty);

/** Only the number of `value` in that scale: "24.82". */
void units_number(char *text, size_t size, double value, const struct units_scale *scale);

/** "24.82 kJ", "297.6 W", "0.42 J", "48.2 C"; "-" for NaN. Prefixes for J, W, Hz, V, A, B only. */
void units_quantity(char *text, size_t size, double value, const char *unit);

/** The same with no more digits than are known. @param uncertainty  as above */
void units_known_quantity(char *text, size_t size, double value, double uncertainty,
                          const char *unit);

/** A total: as units_quantity(), but whole numbers of other units in full: "1048576 packets". */
void units_total(char *text, size_t size, double value, const char *unit);

/** "3.002 s", "1 min 23.4 s", "2 h 03 min 05 s", "3 d 04 h 05 min"; "-" for NaN and below 0. */
void units_duration(char *text, size_t size, double seconds);

/** A short time: "12.3 us", "100.3 ms", from 1 s as units_duration(); "-" for NaN and below 0. */
void units_short(char *text, size_t size, double seconds);

/** An amount of memory: "512 B", "12.3 MiB". */
void units_bytes(char *text, size_t size, uint64_t bytes);

#endif
