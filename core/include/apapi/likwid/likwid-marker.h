/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_LIKWID_LIKWID_MARKER_H
#define APAPI_LIKWID_LIKWID_MARKER_H
/* For programs that include <likwid-marker.h>: -I PREFIX/include/apapi/likwid */
#include "../likwid_compat.h"
#endif
