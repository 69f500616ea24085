/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_LIKWID_COMPAT_H
#define APAPI_LIKWID_COMPAT_H
#include "error.h"

APAPI_BEGIN_C

/*
 * LIKWID's markers as regions of APAPI. Programs that include <likwid-marker.h> or <likwid.h> are
 * compiled unchanged with -DLIKWID_PERFMON -I PREFIX/include/apapi/likwid, and need libapapi
 * instead of liblikwid. Programs that are compiled already are run with libapapi_likwid.so
 * preloaded. Without LIKWID_PERFMON the macros are empty, as LIKWID's are.
 *
 * A region belongs to the thread that starts it. Regions may overlap: the step's record counts a
 * region that outlasts its outer one once more. There is no likwid-perfctr, no group to switch to
 * and no output file. Markers of GPUs (NVMON_, ROCMON_) are empty.
 */

/** Values of apapi_likwid_get_region(). */
enum apapi_likwid_value {
    APAPI_LIKWID_TOTAL_J, /* of the domains that add up: package, dram, gpu */
    APAPI_LIKWID_PACKAGE_J,
    APAPI_LIKWID_DRAM_J,
    APAPI_LIKWID_GPU_J,
    APAPI_LIKWID_VALUES
};

#define likwid_markerInit apapi_likwid_init
#define likwid_markerThreadInit apapi_likwid_init
#define likwid_markerNextGroup apapi_likwid_init
#define likwid_markerClose apapi_likwid_close
#define likwid_markerRegisterRegion apapi_likwid_register_region
#define likwid_markerStartRegion apapi_likwid_start_region
#define likwid_markerStopRegion apapi_likwid_stop_region
#define likwid_markerResetRegion apapi_likwid_reset_region
#define likwid_markerGetRegion apapi_likwid_get_region
#define likwid_markerWriteFile apapi_likwid_write_file
#define likwid_pinProcess apapi_likwid_pin_process
#define likwid_pinThread apapi_likwid_pin_thread
#define likwid_getProcessorId apapi_likwid_get_processor
#define perfmon_getNumberOfGroups apapi_likwid_get_groups

/** Keep the regions of this process outside a measured step, too. */
APAPI_API void apapi_likwid_init(void);

/** End the regions of this thread and write the output of the process, if it has one. */
APAPI_API void apapi_likwid_close(void);

/** Make a region known to this thread. @return 0 */
APAPI_API int apapi_likwid_register_region(const char *tag);

/**
 * Begin a region in this thread. A region that is open begins again, and its unfinished pass does
 * not count for apapi_likwid_get_region(). @return 0; a negative errno of apapi_region_begin()
 */
APAPI_API int apapi_likwid_start_region(const char *tag);

/**
 * End a region of this thread; regions that were begun in it go on.
 * @return 0; -EFAULT: it is not open; -EEXIST: this thread has neither begun nor registered it
 */
APAPI_API int apapi_likwid_stop_region(const char *tag);

/**
 * Let apapi_likwid_get_region() count from zero again; the record of the step keeps all passes.
 * @return 0; -EFAULT: region open, or never ended; -EEXIST: as for apapi_likwid_stop_region()
 */
APAPI_API int apapi_likwid_reset_region(const char *tag);

/**
 * Time and energy of this thread in a region, inner regions included, in all passes that ended.
 * @param count   in: length of `values`; out: values that are set, at most APAPI_LIKWID_VALUES
 * @param values  by enum apapi_likwid_value [J]; NaN: not known, or not yet
 * @param time    [s]
 * @param passes  number of passes that ended
 */
APAPI_API void apapi_likwid_get_region(const char *tag, int *count, double *values, double *time,
                                       int *passes);

/** @return 1: programs measure once for each of LIKWID's groups. */
APAPI_API int apapi_likwid_get_groups(void);

/** Does nothing. @return 0 */
APAPI_API int apapi_likwid_write_file(const char *path);

/** Pin the process or the calling thread to a processor. @return 1; 0: that is not possible */
APAPI_API int apapi_likwid_pin_process(int processor);
APAPI_API int apapi_likwid_pin_thread(int processor);

/** @return the processor that runs the calling thread. */
APAPI_API int apapi_likwid_get_processor(void);

#ifdef LIKWID_PERFMON
#define LIKWID_MARKER_INIT likwid_markerInit()
#define LIKWID_MARKER_THREADINIT likwid_markerThreadInit()
#define LIKWID_MARKER_SWITCH likwid_markerNextGroup()
#define LIKWID_MARKER_REGISTER(tag) likwid_markerRegisterRegion(tag)
#define LIKWID_MARKER_START(tag) likwid_markerStartRegion(tag)
#define LIKWID_MARKER_STOP(tag) likwid_markerStopRegion(tag)
#define LIKWID_MARKER_RESET(tag) likwid_markerResetRegion(tag)
#define LIKWID_MARKER_GET(tag, count, values, time, passes)                                        \
    likwid_markerGetRegion(tag, count, values, time, passes)
#define LIKWID_MARKER_WRITE_FILE(path) likwid_markerWriteFile(path)
#define LIKWID_MARKER_CLOSE likwid_markerClose()
#else
#define LIKWID_MARKER_INIT
#define LIKWID_MARKER_THREADINIT
#define LIKWID_MARKER_SWITCH
#define LIKWID_MARKER_REGISTER(tag)
#define LIKWID_MARKER_START(tag)
#define LIKWID_MARKER_STOP(tag)
#define LIKWID_MARKER_RESET(tag)
#define LIKWID_MARKER_GET(tag, count, values, time, passes)
#define LIKWID_MARKER_WRITE_FILE(path)
#define LIKWID_MARKER_CLOSE
#endif

#define NVMON_MARKER_INIT
#define NVMON_MARKER_THREADINIT
#define NVMON_MARKER_SWITCH
#define NVMON_MARKER_REGISTER(tag)
#define NVMON_MARKER_START(tag)
#define NVMON_MARKER_STOP(tag)
#define NVMON_MARKER_RESET(tag)
#define NVMON_MARKER_GET(tag, gpus, count, values, time, passes)
#define NVMON_MARKER_WRITE_FILE(path)
#define NVMON_MARKER_CLOSE
#define ROCMON_MARKER_INIT
#define ROCMON_MARKER_THREADINIT
#define ROCMON_MARKER_SWITCH
#define ROCMON_MARKER_REGISTER(tag)
#define ROCMON_MARKER_START(tag)
#define ROCMON_MARKER_STOP(tag)
#define ROCMON_MARKER_RESET(tag)
#define ROCMON_MARKER_GET(tag, gpus, count, values, time, passes)
#define ROCMON_MARKER_WRITE_FILE(path)
#define ROCMON_MARKER_CLOSE

APAPI_END_C
#endif
