/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H
/* What cmocka.h wants to be included before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
