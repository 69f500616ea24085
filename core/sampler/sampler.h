/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

/** Measure a step for the plugin behind APAPI_CHANNEL_FD. @return the program's exit status. */
int sampler_run(void);

#endif
