/* SPDX-License-Identifier: BSD-3-Clause */
/* A libms_common.so with all functions, none of which may be called: another library is preloaded.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fake/ms_common/libmeasure.h"

static void stub_fail(const char *function)
{
    fprintf(stderr, "%s of the stub was called\n", function);
    exit(99);
}

#define STUB(type, name, ...)                                                                      \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        stub_fail(#name);                                                                          \
        return 0;                                                                                  \
    }
#define STUB_VOID(name, ...)                                                                       \
    void name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        stub_fail(#name);                                                                          \
    }

#define UNUSED __attribute__((unused))

STUB(MS_SYSTEM *, ms_init, MS_VERSION *a UNUSED, int b UNUSED, uint64_t c UNUSED, uint64_t d UNUSED,
     int e UNUSED, int f UNUSED, int g UNUSED, int h UNUSED)
STUB_VOID(ms_init_fpga_force_idle, MS_SYSTEM *a UNUSED)
STUB_VOID(ms_fini, MS_SYSTEM *a UNUSED)
STUB(MS_LIST *, ms_alloc_measurement, MS_SYSTEM *a UNUSED)
STUB_VOID(ms_free_measurement, MS_LIST *a UNUSED)
STUB_VOID(ms_set_timer, MS_LIST *a UNUSED, int b UNUSED, uint64_t c UNUSED, uint64_t d UNUSED,
          uint32_t e UNUSED)
STUB_VOID(ms_init_measurement, MS_SYSTEM *a UNUSED, MS_LIST *b UNUSED, int c UNUSED)
STUB_VOID(ms_start_measurement, MS_SYSTEM *a UNUSED)
STUB_VOID(ms_stop_measurement, MS_SYSTEM *a UNUSED)
STUB_VOID(ms_join_measurement, MS_SYSTEM *a UNUSED)
STUB_VOID(ms_fini_measurement, MS_SYSTEM *a UNUSED)
STUB_VOID(ms_reg_sighandler_start, MS_SYSTEM *a UNUSED, void (*b)(int) UNUSED)
STUB_VOID(ms_reg_sighandler_stop, MS_SYSTEM *a UNUSED, void (*b)(int) UNUSED)
STUB_VOID(appendList, MS_LIST **a UNUSED, int b UNUSED)
STUB(void *, getMeasurement, MS_LIST **a UNUSED, int b UNUSED)
STUB_VOID(deleteList, MS_LIST **a UNUSED)

#define OF_LIST(type, name) STUB(type, name, MS_LIST *a UNUSED)
#define OF_CPU(type, name) STUB(type, name, MS_LIST *a UNUSED, int b UNUSED)
#define OF_CORE(type, name) STUB(type, name, MS_LIST *a UNUSED, int b UNUSED, int c UNUSED)
#include "fake/ms_common/accessors.def"
