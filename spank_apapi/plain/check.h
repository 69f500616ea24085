/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_CHECK_H
#define SPANK_APAPI_CHECK_H
#include "apapi/error.h"
#include "channel/packet.h"

/**
 * Ask apapi-sampler whether it knows all components of a list. Blocks for 2 s at most.
 * @param libexec_dir  absolute path of its folder
 * @return 0; -1 with errno ENOENT (unknown component, `err` has the sampler's message), or any
 * other errno if it could not be asked (`err` says why).
 */
int spank_apapi_check_components(const char *libexec_dir, const char *components,
                                 struct apapi_error *err);

/** Ask apapi-sampler whether records can be written to a folder: a disk may hang. As above. */
int spank_apapi_check_folder(const char *libexec_dir, const char *folder, struct apapi_error *err);

/**
 * Ask apapi-sampler whether a budget is valid and within the site's limits. As above.
 * @param config  path of apapi.conf; "": none
 */
int spank_apapi_check_budget(const char *libexec_dir, const char *budget, const char *config,
                             struct apapi_error *err);

/**
 * Run apapi-sampler with the user's rights to read the event files that the environment names, and
 * to pack them with the other event settings. Blocks for 2 s at most.
 * @param packet  result, "" if there are no settings; after ENOENT the problems of the files, one
 * in each line
 * @return 0; -1 with errno ENOENT (a file is bad), or any other errno if it could not be asked.
 */
int spank_apapi_check_rules(const char *libexec_dir, char packet[PACKET_MAX],
                            struct apapi_error *err);

#define SPANK_APAPI_CHECK_SIZE 1024

/**
 * Ask apapi-sampler whether thresholds are valid. Blocks for 2 s at most.
 * @param lines  one in each line
 * @param text   result: after ENOENT what is wrong, in several lines
 * @return as spank_apapi_check_rules()
 */
int spank_apapi_check_thresholds(const char *libexec_dir, const char *lines,
                                 char text[SPANK_APAPI_CHECK_SIZE], struct apapi_error *err);

#endif
