/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_MOMENT_H
#define MEASURE_MOMENT_H
#include <stdint.h>

/** Time of a reading [ns]: its value belongs to some instant from `begin_ns` to `end_ns`. */
struct apapi_moment {
    uint64_t begin_ns;
    uint64_t end_ns;
};

/** A reading without duration. */
static inline struct apapi_moment moment_at(uint64_t now_ns)
{
    return (struct apapi_moment){now_ns, now_ns};
}

#endif
