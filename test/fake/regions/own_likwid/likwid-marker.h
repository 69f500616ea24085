/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OWN_LIKWID_MARKER_H
#define OWN_LIKWID_MARKER_H
/* What LIKWID's header declares, for a program that is compiled for LIKWID itself. */
void likwid_markerInit(void);
void likwid_markerThreadInit(void);
void likwid_markerNextGroup(void);
void likwid_markerClose(void);
int likwid_markerRegisterRegion(const char *tag);
int likwid_markerStartRegion(const char *tag);
int likwid_markerStopRegion(const char *tag);
int likwid_markerResetRegion(const char *tag);
void likwid_markerGetRegion(const char *tag, int *count, double *values, double *time, int *passes);
#define LIKWID_MARKER_INIT likwid_markerInit()
#define LIKWID_MARKER_THREADINIT likwid_markerThreadInit()
#define LIKWID_MARKER_SWITCH likwid_markerNextGroup()
#define LIKWID_MARKER_REGISTER(tag) likwid_markerRegisterRegion(tag)
#define LIKWID_MARKER_START(tag) likwid_markerStartRegion(tag)
#define LIKWID_MARKER_STOP(tag) likwid_markerStopRegion(tag)
#define LIKWID_MARKER_RESET(tag) likwid_markerResetRegion(tag)
#define LIKWID_MARKER_GET(tag, count, values, time, passes)                                        \
    likwid_markerGetRegion(tag, count, values, time, passes)
#define LIKWID_MARKER_CLOSE likwid_markerClose()
#endif
