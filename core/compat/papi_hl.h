/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMPAT_PAPI_HL_H
#define COMPAT_PAPI_HL_H
#include "apapi/error.h"

/*
 * PAPI's own names, for programs that are linked to libpapi: C's, and those of its interface for
 * Fortran in the spellings of compilers. Fortran's texts have a length and no NUL.
 */

APAPI_API int PAPI_hl_init(void);
APAPI_API int PAPI_hl_set_events(const char *events);
APAPI_API int PAPI_hl_region_begin(const char *region);
APAPI_API int PAPI_hl_read(const char *region);
APAPI_API int PAPI_hl_region_end(const char *region);
APAPI_API int PAPI_hl_stop(void);
APAPI_API int PAPI_hl_cleanup_thread(void);
APAPI_API void PAPI_hl_print_output(void);
APAPI_API int PAPI_hl_finalize(void);

#define COMPAT_FORTRAN_TEXT(lower, upper)                                                          \
    APAPI_API void lower(const char *region, int *check, int length);                              \
    APAPI_API void lower##_(const char *region, int *check, int length);                           \
    APAPI_API void lower##__(const char *region, int *check, int length);                          \
    APAPI_API void upper(const char *region, int *check, int length)
#define COMPAT_FORTRAN(lower, upper)                                                               \
    APAPI_API void lower(int *check);                                                              \
    APAPI_API void lower##_(int *check);                                                           \
    APAPI_API void lower##__(int *check);                                                          \
    APAPI_API void upper(int *check)

COMPAT_FORTRAN_TEXT(papif_hl_region_begin, PAPIF_HL_REGION_BEGIN);
COMPAT_FORTRAN_TEXT(papif_hl_read, PAPIF_HL_READ);
COMPAT_FORTRAN_TEXT(papif_hl_region_end, PAPIF_HL_REGION_END);
COMPAT_FORTRAN(papif_hl_stop, PAPIF_HL_STOP);

#endif
