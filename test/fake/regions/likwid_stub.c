/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for the liblikwid that a program was linked with. A call of it is reported and fatal. */
#include <stdio.h>
#include <stdlib.h>

#define STUB(name)                                                                                 \
    void name(void);                                                                               \
    void name(void)                                                                                \
    {                                                                                              \
        puts("liblikwid's own " #name);                                                            \
        exit(1);                                                                                   \
    }

STUB(likwid_markerInit)
STUB(likwid_markerThreadInit)
STUB(likwid_markerNextGroup)
STUB(likwid_markerClose)
STUB(likwid_markerRegisterRegion)
STUB(likwid_markerStartRegion)
STUB(likwid_markerStopRegion)
STUB(likwid_markerResetRegion)
STUB(likwid_markerGetRegion)
STUB(likwid_markerWriteFile)
STUB(perfmon_getNumberOfGroups)
