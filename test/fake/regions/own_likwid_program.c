/* SPDX-License-Identifier: BSD-3-Clause */
/* likwid_program for the library that it was written for. */
#include "likwid_program.c"
