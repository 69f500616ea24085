/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/duration.h"

/* With an absolute time: FUTEX_WAIT has none. */
void futex_wait(const uint32_t *word, uint32_t value, uint64_t deadline_ns)
{
    const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                                      .tv_nsec = (long)(deadline_ns % NS_PER_S)};

    syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake(const uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
