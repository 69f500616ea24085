/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_ARGUMENTS_H
#define SPANK_APAPI_ARGUMENTS_H
#include <stdint.h>

/** What plugstack.conf says after the plugin's name. Texts live as long as the host's words. */
struct spank_apapi_arguments {
    const char *components;    /* default=: measured where the user says nothing; "": none */
    const char *interval;      /* "": the sampler's own */
    const char *acct_dir;      /* absolute path */
    const char *libexec_dir;   /* absolute path of apapi-sampler and apapi-collect */
    uint64_t start_timeout_ns; /* [ns] */
    uint64_t stop_timeout_ns;  /* [ns] */
};

/** Receives one line about one bad argument. */
typedef void (*spank_apapi_complain_f)(const char *text);

/**
 * Parse the words of plugstack.conf. A bad one is complained about and has no effect.
 * @param words      key=value, NULL allowed where count is 0
 * @param arguments  result: the defaults, and what was given
 * @param complain   NULL: nobody is to hear of it
 */
void spank_apapi_arguments_parse(int count, char *const words[],
                                 struct spank_apapi_arguments *arguments,
                                 spank_apapi_complain_f complain);

#endif
