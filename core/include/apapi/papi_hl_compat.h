/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_PAPI_HL_COMPAT_H
#define APAPI_PAPI_HL_COMPAT_H
#include "apapi/error.h"

APAPI_BEGIN_C

/*
 * PAPI's high-level interface as regions of APAPI, for programs that are compiled with this header
 * instead of papi.h, or with both in any order: PAPI_hl_region_begin() and the others below become
 * apapi_hl_region_begin() and so on, and the program needs libapapi instead of libpapi. Programs
 * that are compiled already are run with libapapi_papi_hl.so preloaded: PAPI then counts and writes
 * as without it, and its regions are also regions of APAPI.
 *
 * In a measured step, the step's record has time and energy of each region. Events are not counted,
 * and nothing is written. Outside a measured step all calls do nothing.
 *
 * Results are PAPI's: PAPI_OK, or one of its errors below 0. Threads: as in apapi/region.h.
 */

/* The same definitions as in papi.h, which may be included after this header. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#ifndef PAPI_OK
#define PAPI_OK 0
#endif
#ifndef PAPI_EINVAL
#define PAPI_EINVAL -1
#endif
/* NOLINTEND(bugprone-macro-parentheses) */

#define PAPI_hl_init apapi_hl_init
#define PAPI_hl_set_events apapi_hl_set_events
#define PAPI_hl_region_begin apapi_hl_region_begin
#define PAPI_hl_read apapi_hl_read
#define PAPI_hl_region_end apapi_hl_region_end
#define PAPI_hl_stop apapi_hl_stop
#define PAPI_hl_cleanup_thread apapi_hl_cleanup_thread
#define PAPI_hl_print_output apapi_hl_print_output
#define PAPI_hl_finalize apapi_hl_finalize

/** These two do nothing. @return PAPI_OK */
APAPI_API int apapi_hl_init(void);
APAPI_API int apapi_hl_set_events(const char *events);

/** Begin a region in this thread. @return PAPI_OK; PAPI_EINVAL: see apapi_region_begin() */
APAPI_API int apapi_hl_region_begin(const char *region);

/** Does nothing. @return PAPI_OK; PAPI_EINVAL: the region is not open in this thread */
APAPI_API int apapi_hl_read(const char *region);

/** End a region of this thread. @return PAPI_OK; PAPI_EINVAL: it is not open in the thread */
APAPI_API int apapi_hl_region_end(const char *region);

/** These four end the regions of this thread. @return PAPI_OK */
APAPI_API int apapi_hl_stop(void);
APAPI_API int apapi_hl_cleanup_thread(void);
APAPI_API void apapi_hl_print_output(void);
APAPI_API int apapi_hl_finalize(void);

APAPI_END_C
#endif
