/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_COUNT_OF_H
#define APAPI_BASE_COUNT_OF_H

/** Number of elements of an array; not of a pointer. */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
