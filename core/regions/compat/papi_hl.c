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

#define NAME_SIZE 256 /* regions tell that many bytes apart */

#define CALL(type, name, parameters, arguments)                                                    \
    APAPI_API type PAPI_hl_##name parameters;                                                      \
    type PAPI_hl_##name parameters                                                                 \
    {                                                                                              \
        return apapi_hl_##name arguments;                                                          \
    }

CALL(int, init, (void), ())
CALL(int, set_events, (const char *events), (events))
CALL(int, region_begin, (const char *region), (region))
CALL(int, read, (const char *region), (region))
CALL(int, region_end, (const char *region), (region))
CALL(int, stop, (void), ())
CALL(int, cleanup_thread, (void), ())
CALL(void, print_output, (void), ())
CALL(int, finalize, (void), ())

/*
 * Fortran, in the spellings of compilers: one function has each of these names. Its texts have a
 * length and no NUL.
 */
#define FORTRAN(lower, upper, parameters)                                                          \
    APAPI_API void lower parameters;                                                               \
    APAPI_API void lower##_ parameters __attribute__((alias(#lower)));                             \
    APAPI_API void lower##__ parameters __attribute__((alias(#lower)));                            \
    APAPI_API void upper parameters __attribute__((alias(#lower)));                                \
    void lower parameters

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

FORTRAN(papif_hl_region_begin, PAPIF_HL_REGION_BEGIN, (const char *region, int *check, int length))
{
    *check = papi_hl_call(apapi_hl_region_begin, region, length);
}

FORTRAN(papif_hl_read, PAPIF_HL_READ, (const char *region, int *check, int length))
{
    *check = papi_hl_call(apapi_hl_read, region, length);
}

FORTRAN(papif_hl_region_end, PAPIF_HL_REGION_END, (const char *region, int *check, int length))
{
    *check = papi_hl_call(apapi_hl_region_end, region, length);
}

FORTRAN(papif_hl_stop, PAPIF_HL_STOP, (int *check))
{
    *check = apapi_hl_stop();
}
