/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_NUMBER_H
#define MS_COMMON_NUMBER_H
#include <stdint.h>

/* Numbers of measurements. The program reads them at any time, so none is stored by halves. */

static inline void number_put_double(double *member, double value)
{
    __atomic_store(member, &value, __ATOMIC_RELAXED);
}

static inline double number_get_double(const double *member)
{
    double value;

    __atomic_load(member, &value, __ATOMIC_RELAXED);
    return value;
}

static inline uint32_t number_get_u32(const uint32_t *member)
{
    return __atomic_load_n(member, __ATOMIC_RELAXED);
}

static inline uint64_t number_get_u64(const uint64_t *member)
{
    return __atomic_load_n(member, __ATOMIC_RELAXED);
}

#define number_get(member)                                                                         \
    _Generic((member), double                                                                      \
             : number_get_double, uint32_t                                                         \
             : number_get_u32, uint64_t                                                            \
             : number_get_u64)(&(member))

/** The whole part; what is out of range becomes the nearest number. */
static inline void number_put_u64(uint64_t *member, double value)
{
    uint64_t whole = value >= 0x1p64 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;

    __atomic_store_n(member, whole, __ATOMIC_RELAXED);
}

static inline void number_put_u32(uint32_t *member, double value)
{
    uint32_t whole = value >= 0x1p32 ? UINT32_MAX : value > 0 ? (uint32_t)value : 0;

    __atomic_store_n(member, whole, __ATOMIC_RELAXED);
}

#endif
