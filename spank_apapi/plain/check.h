/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_CHECK_H
#define SPANK_APAPI_CHECK_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"

/** What apapi-sampler is asked before anything is measured: it knows what the plugin does not. */
struct spank_apapi_question {
    const char *libexec_dir; /* absolute path of its folder */
    const char *words[3];    /* its option and the arguments, as its --help shows; NULL: no more */
    bool rules;              /* it sees the event settings of this process's environment */
};

/**
 * Run apapi-sampler with the rights of this process. Blocks for 2 s at most.
 * @param answer  result: what it has printed, one problem in each line; "": nothing
 * @param size    of `answer`; what does not fit is dropped
 * @return 0: yes; -1 with errno ENOENT: no, and `err` has the first line of the answer, or any
 * other errno if it could not be asked (`err` says why).
 */
int spank_apapi_check(const struct spank_apapi_question *question, char *answer, size_t size,
                      struct apapi_error *err);

#endif
