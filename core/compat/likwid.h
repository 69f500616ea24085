/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMPAT_LIKWID_H
#define COMPAT_LIKWID_H
#include "apapi/error.h"

/* LIKWID's own names, for programs that are linked to liblikwid. */

APAPI_API void likwid_markerInit(void);
APAPI_API void likwid_markerThreadInit(void);
APAPI_API void likwid_markerNextGroup(void);
APAPI_API void likwid_markerClose(void);
APAPI_API int likwid_markerRegisterRegion(const char *tag);
APAPI_API int likwid_markerStartRegion(const char *tag);
APAPI_API int likwid_markerStopRegion(const char *tag);
APAPI_API int likwid_markerResetRegion(const char *tag);
APAPI_API void likwid_markerGetRegion(const char *tag, int *count, double *values, double *time,
                                      int *passes);
APAPI_API int likwid_markerWriteFile(const char *path);

#endif
