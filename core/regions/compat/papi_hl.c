/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libapapi_papi_hl.so: if it is preloaded into a program that is linked to libpapi, its functions
 * are found first, and the regions that the program marks for PAPI's high-level interface are
 * regions of APAPI, too. PAPI's own function is called as well, and the program gets its result.
 */
#include <dlfcn.h>
#include <string.h>

#include "apapi/papi_hl_compat.h"

#undef PAPI_hl_region_begin
#undef PAPI_hl_region_end
#undef PAPI_hl_stop
#undef PAPI_hl_cleanup_thread
#undef PAPI_hl_print_output
#undef PAPI_hl_finalize

#define NAME_SIZE 256 /* bytes by which names of regions are told apart, with the NUL */

/* PAPI's own functions; NULL: the program loads libpapi later, and has only APAPI's regions. */
static struct {
    int (*region_begin)(const char *);
    int (*region_end)(const char *);
    int (*stop)(void);
    int (*cleanup_thread)(void);
    void (*print_output)(void);
    int (*finalize)(void);
} papi;

static void __attribute__((constructor)) find_papi(void)
{
#define FIND(name) *(void **)&papi.name = dlsym(RTLD_NEXT, "PAPI_hl_" #name)
    FIND(region_begin);
    FIND(region_end);
    FIND(stop);
    FIND(cleanup_thread);
    FIND(print_output);
    FIND(finalize);
}

/* APAPI's region lies between the calls of PAPI's functions: it does not include their time. */
APAPI_API int PAPI_hl_region_begin(const char *region);
int PAPI_hl_region_begin(const char *region)
{
    int result = papi.region_begin ? papi.region_begin(region) : PAPI_OK;

    apapi_hl_region_begin(region);
    return result;
}

APAPI_API int PAPI_hl_region_end(const char *region);
int PAPI_hl_region_end(const char *region)
{
    apapi_hl_region_end(region);
    return papi.region_end ? papi.region_end(region) : PAPI_OK;
}

APAPI_API int PAPI_hl_stop(void);
int PAPI_hl_stop(void)
{
    apapi_hl_stop();
    return papi.stop ? papi.stop() : PAPI_OK;
}

APAPI_API int PAPI_hl_cleanup_thread(void);
int PAPI_hl_cleanup_thread(void)
{
    apapi_hl_cleanup_thread();
    return papi.cleanup_thread ? papi.cleanup_thread() : PAPI_OK;
}

APAPI_API void PAPI_hl_print_output(void);
void PAPI_hl_print_output(void)
{
    apapi_hl_print_output();
    if (papi.print_output) {
        papi.print_output();
    }
}

APAPI_API int PAPI_hl_finalize(void);
int PAPI_hl_finalize(void)
{
    apapi_hl_finalize();
    return papi.finalize ? papi.finalize() : PAPI_OK;
}

/*
 * The functions for Fortran: each one has all names that compilers make of it. Texts of Fortran
 * have a length and no NUL.
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
    *check = papi_hl_call(PAPI_hl_region_begin, region, length);
}

FORTRAN(papif_hl_region_end, PAPIF_HL_REGION_END, (const char *region, int *check, int length))
{
    *check = papi_hl_call(PAPI_hl_region_end, region, length);
}

FORTRAN(papif_hl_stop, PAPIF_HL_STOP, (int *check))
{
    *check = PAPI_hl_stop();
}
