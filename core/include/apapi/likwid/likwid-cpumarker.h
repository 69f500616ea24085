/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_LIKWID_LIKWID_CPUMARKER_H
#define APAPI_LIKWID_LIKWID_CPUMARKER_H
/* For programs that include <likwid-cpumarker.h>: -I PREFIX/include/apapi/likwid */
#include "../likwid_compat.h"
#endif
