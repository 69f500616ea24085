/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_LIKWID_LIKWID_H
#define APAPI_LIKWID_LIKWID_H
/* For programs that include <likwid.h>: -I PREFIX/include/apapi/likwid */
#include "../likwid_compat.h"
#endif
