/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libapapi_likwid.so: preloaded under a program that is linked to liblikwid, it is found first, and
 * the regions that the program marks for LIKWID are regions of APAPI.
 */
#include "compat/likwid.h"

void likwid_markerInit(void)
{
    apapi_likwid_init();
}

void likwid_markerThreadInit(void)
{
    apapi_likwid_init();
}

void likwid_markerNextGroup(void)
{
    apapi_likwid_init();
}

void likwid_markerClose(void)
{
    apapi_likwid_close();
}

int likwid_markerRegisterRegion(const char *tag)
{
    return apapi_likwid_register_region(tag);
}

int likwid_markerStartRegion(const char *tag)
{
    return apapi_likwid_start_region(tag);
}

int likwid_markerStopRegion(const char *tag)
{
    return apapi_likwid_stop_region(tag);
}

int likwid_markerResetRegion(const char *tag)
{
    return apapi_likwid_reset_region(tag);
}

void likwid_markerGetRegion(const char *tag, int *count, double *values, double *time, int *passes)
{
    apapi_likwid_get_region(tag, count, values, time, passes);
}

int likwid_markerWriteFile(const char *path)
{
    return apapi_likwid_write_file(path);
}
