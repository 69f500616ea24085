/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OWN_LIKWID_MARKER_H
#define OWN_LIKWID_MARKER_H
/* Markers of LIKWID's own header, for a program that is compiled for LIKWID itself. */
#define LIKWID_PERFMON
#include "apapi/likwid_compat.h"

#undef likwid_markerInit
#undef likwid_markerThreadInit
#undef likwid_markerNextGroup
#undef likwid_markerClose
#undef likwid_markerRegisterRegion
#undef likwid_markerStartRegion
#undef likwid_markerStopRegion
#undef likwid_markerResetRegion
#undef likwid_markerGetRegion
#undef likwid_markerWriteFile
#undef perfmon_getNumberOfGroups

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
APAPI_API int perfmon_getNumberOfGroups(void);

#endif
