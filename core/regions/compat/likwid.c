/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libapapi_likwid.so: if it is preloaded into a program that is linked to liblikwid, its functions
 * are found first, and the regions that the program marks for LIKWID are regions of APAPI.
 */
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

#define CALL(type, name, parameters, call)                                                         \
    APAPI_API type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        return call;                                                                               \
    }

CALL(void, likwid_markerInit, (void), apapi_likwid_init())
CALL(void, likwid_markerThreadInit, (void), apapi_likwid_init())
CALL(void, likwid_markerNextGroup, (void), apapi_likwid_init())
CALL(void, likwid_markerClose, (void), apapi_likwid_close())
CALL(int, likwid_markerRegisterRegion, (const char *tag), apapi_likwid_register_region(tag))
CALL(int, likwid_markerStartRegion, (const char *tag), apapi_likwid_start_region(tag))
CALL(int, likwid_markerStopRegion, (const char *tag), apapi_likwid_stop_region(tag))
CALL(int, likwid_markerResetRegion, (const char *tag), apapi_likwid_reset_region(tag))
CALL(void, likwid_markerGetRegion,
     (const char *tag, int *count, double *values, double *time, int *passes),
     apapi_likwid_get_region(tag, count, values, time, passes))
CALL(int, likwid_markerWriteFile, (const char *path), apapi_likwid_write_file(path))
CALL(int, perfmon_getNumberOfGroups, (void), apapi_likwid_get_groups())
