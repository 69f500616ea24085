/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_UNITS_H
#define APAPI_BASE_UNITS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNITS_SIZE 80 /* enough for any text made here, with units of up to 15 bytes */

/** A text that is returned by value: printf("%s", units_quantity(power_w, "W").text). */
struct units_text {
    char text[UNITS_SIZE];
};

/** @return a short text, formatted as printf(3) does; "" if `is_there` is false. */
struct units_text units_part(bool is_there, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** How to show a number: value / factor with these decimals, then prefix and unit. */
struct units_scale {
    double factor;
    const char *prefix; /* "", "k", "m", ...; static storage */
    int decimals;       /* below 0: digits before the point that are rounded to 0 */
};

/** @return the scale that shows four significant digits of `value` (two from 0.10 to 0.99). */
struct units_scale units_scale(double value);

/**
 * Remove decimals far below the uncertainty: one digit of the uncertainty remains, two if they are
 * at most 35. At least one digit of the value remains.
 * @param uncertainty  in the unit of `value`; NaN and 0: nothing is removed
 */
void units_keep_known(struct units_scale *scale, double value, double uncertainty);

/** Write only the number of `value` in this scale: "24.82". */
struct units_text units_number(double value, const struct units_scale *scale);

/** Like units_number(), but in full, however long it is: never "1.234e+06". */
struct units_text units_number_full(double value, const struct units_scale *scale);

/** "24.82 kJ", "297.6 W", "0.42 J", "48.2 C"; "-" for NaN. Prefixes for J, W, Hz, V, A, B only. */
struct units_text units_quantity(double value, const char *unit);

/** units_quantity() without the digits that are not known: see units_keep_known(). */
struct units_text units_known_quantity(double value, double uncertainty, const char *unit);

/** An energy [J] with its uncertainty beside it, as units_beside(). */
struct units_text units_energy(double energy_j, double uncertainty_j, bool column);

/**
 * The uncertainty that stands beside a number, with two digits: "±0.12 %", "±2.1 %"; "" if it is 0.
 * See text_plus_minus().
 * @param share  of the number; NaN: not known
 */
struct units_text units_share(double share);

/**
 * Append units_share() to the number in `text`: "412.3 J ±2.1 %".
 * @param column  for a column: pad the share, so that the numbers before it are aligned, too
 */
void units_beside(char *text, size_t size, double share, bool column);

/** A total: as units_quantity(), but whole numbers of other units in full: "1048576 packets". */
struct units_text units_total(double value, const char *unit);

/** "3.002 s", "1 min 23.4 s", "2 h 03 min 05 s", "3 d 04 h 05 min"; "-" for NaN and below 0. */
struct units_text units_duration(double seconds);

/** A short time: "12.3 us", "100.3 ms", from 1 s on as units_duration(); "-" for NaN, below 0. */
struct units_text units_short(double seconds);

/** A time since 1970 in the local time zone, formatted as by strftime(3), in up to 79 bytes. */
struct units_text units_local_time(int64_t unix_ns, const char *format)
    __attribute__((format(strftime, 2, 0)));

/** An amount of memory: "512 B", "12.3 MiB". */
struct units_text units_bytes(uint64_t bytes);

#endif
