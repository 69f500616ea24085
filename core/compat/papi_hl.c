/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libapapi_papi_hl.so: preloaded under a program that is linked to libpapi, it is found first, and
 * the regions that the program marks for PAPI's high-level interface are regions of APAPI.
 */
#include <string.h>

#include "apapi/papi_hl_compat.h"

#undef PAPI_hl_init
#undef PAPI_hl_set_events
#undef PAPI_hl_region_begin
#undef PAPI_hl_read
#undef PAPI_hl_region_end
#undef PAPI_hl_stop
#undef PAPI_hl_cleanup_thread
#undef PAPI_hl_print_output
#undef PAPI_hl_finalize
#include "compat/papi_hl.h"

#define NAME_SIZE 256 /* regions tell that many bytes apart */

#define CALL(name)                                                                                 \
    int PAPI_hl_##name(void)                                                                       \
    {                                                                                              \
        return apapi_hl_##name();                                                                  \
    }
/* NOLINTBEGIN(bugprone-macro-parentheses): a parameter cannot have any */
#define CALL_WITH(name, text)                                                                      \
    int PAPI_hl_##name(const char *text)                                                           \
    {                                                                                              \
        return apapi_hl_##name(text);                                                              \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

CALL(init)
CALL_WITH(set_events, events)
CALL_WITH(region_begin, region)
CALL_WITH(read, region)
CALL_WITH(region_end, region)
CALL(stop)
CALL(cleanup_thread)
CALL(finalize)

void PAPI_hl_print_output(void)
{
    apapi_hl_print_output();
}

/* Fortran. The names are of one type each, so that the others can be aliases of the first. */

static int papi_hl_call(int (*call)(const char *), const char *region, int length)
{
    char name[NAME_SIZE];
    size_t used = length < 0 ? 0 : (size_t)length;

    used = used < sizeof name ? used : sizeof name - 1;
    memcpy(name, region, used);
    while (used > 0 && name[used - 1] == ' ') {
        used--;
    }
    name[used] = '\0';
    return call(name);
}

void papif_hl_region_begin(const char *region, int *check, int length)
{
    *check = papi_hl_call(apapi_hl_region_begin, region, length);
}

void papif_hl_read(const char *region, int *check, int length)
{
    *check = papi_hl_call(apapi_hl_read, region, length);
}

void papif_hl_region_end(const char *region, int *check, int length)
{
    *check = papi_hl_call(apapi_hl_region_end, region, length);
}

void papif_hl_stop(int *check)
{
    *check = apapi_hl_stop();
}

#define SAME_AS(name) __attribute__((alias(name)))
#define SPELLINGS(lower, upper)                                                                    \
    void lower##_(const char *region, int *check, int length) SAME_AS(#lower);                     \
    void lower##__(const char *region, int *check, int length) SAME_AS(#lower);                    \
    void upper(const char *region, int *check, int length) SAME_AS(#lower)

SPELLINGS(papif_hl_region_begin, PAPIF_HL_REGION_BEGIN);
SPELLINGS(papif_hl_read, PAPIF_HL_READ);
SPELLINGS(papif_hl_region_end, PAPIF_HL_REGION_END);
void papif_hl_stop_(int *check) SAME_AS("papif_hl_stop");
void papif_hl_stop__(int *check) SAME_AS("papif_hl_stop");
void PAPIF_HL_STOP(int *check) SAME_AS("papif_hl_stop");
