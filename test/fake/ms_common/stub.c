/* SPDX-License-Identifier: BSD-3-Clause */
/* A libms_common.so whose functions must not be called, because another library is preloaded.
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
#define MS_FIGURE(type, name, resource, member) STUB(name)
#define MS_FIGURE_OF_CPU(type, name, member) STUB(name)
#define MS_FIGURE_OF_RAIL(name, member, rail) STUB(name)
#define MS_FIGURE_OF_CORE(type, name, member) STUB(name)

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
#include "ms_common/figures.def"
