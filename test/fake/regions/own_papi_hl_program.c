/* SPDX-License-Identifier: BSD-3-Clause */
/* papi_hl_program for the library that it was written for. */
#include "papi_hl_program.c"
