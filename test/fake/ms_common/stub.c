/* SPDX-License-Identifier: BSD-3-Clause */
/* A libms_common.so with all functions, none of which may be called: another library is preloaded.
 */
#include <stdio.h>
#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* they have those of libmeasure elsewhere   \
                                                       */

#define STUB(name)                                                                                 \
    void name(void)                                                                                \
    {                                                                                              \
        fputs(#name " of the stub was called\n", stderr);                                          \
        exit(99);                                                                                  \
    }
#define OF_LIST(type, name) STUB(name)
#define OF_CPU(type, name) STUB(name)
#define OF_CORE(type, name) STUB(name)

/* clang-format off */
STUB(ms_init)
STUB(ms_init_fpga_force_idle)
STUB(ms_fini)
STUB(ms_alloc_measurement)
STUB(ms_free_measurement)
STUB(ms_set_timer)
STUB(ms_init_measurement)
STUB(ms_start_measurement)
STUB(ms_stop_measurement)
STUB(ms_join_measurement)
STUB(ms_fini_measurement)
STUB(ms_reg_sighandler_start)
STUB(ms_reg_sighandler_stop)
STUB(appendList)
STUB(getMeasurement)
STUB(deleteList)
#include "fake/ms_common/accessors.def"
