/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libapapi_likwid.so: preloaded under a program that is linked to liblikwid, it is found first, and
 * the regions that the program marks for LIKWID are regions of APAPI.
 */
#include "compat/likwid.h"

#define INIT(name)                                                                                 \
    void name(void)                                                                                \
    {                                                                                              \
        apapi_likwid_init();                                                                       \
    }
#define FOR_REGION(name, function)                                                                 \
    int name(const char *tag)                                                                      \
    {                                                                                              \
        return function(tag);                                                                      \
    }

INIT(likwid_markerInit)
INIT(likwid_markerThreadInit)
INIT(likwid_markerNextGroup)
FOR_REGION(likwid_markerRegisterRegion, apapi_likwid_register_region)
FOR_REGION(likwid_markerStartRegion, apapi_likwid_start_region)
FOR_REGION(likwid_markerStopRegion, apapi_likwid_stop_region)
FOR_REGION(likwid_markerResetRegion, apapi_likwid_reset_region)

void likwid_markerClose(void)
{
    apapi_likwid_close();
}

void likwid_markerGetRegion(const char *tag, int *count, double *values, double *time, int *passes)
{
    apapi_likwid_get_region(tag, count, values, time, passes);
}

int likwid_markerWriteFile(const char *path)
{
    return apapi_likwid_write_file(path);
}

int perfmon_getNumberOfGroups(void)
{
    return apapi_likwid_get_groups();
}
