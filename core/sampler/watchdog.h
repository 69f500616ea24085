/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_WATCHDOG_H
#define SAMPLER_WATCHDOG_H

/**
 * End this process after a time, whatever it is doing then. A later call replaces the time. Nothing
 * else ends a sampler that hangs after it was told to stop. The calling thread must not block
 * SIGALRM afterwards.
 */
void watchdog_set(unsigned seconds);

#endif
