/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OWN_LIKWID_MARKER_H
#define OWN_LIKWID_MARKER_H
/* The markers of LIKWID's header, for a program that is compiled for LIKWID itself. */
#define LIKWID_PERFMON
#include "compat/likwid.h"
#endif
