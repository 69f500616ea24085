/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_CHECK_H
#define SPANK_APAPI_CHECK_H
#include "apapi/error.h"
#include "channel/packet.h"

/**
 * Ask apapi-sampler whether it knows all components of a list. Blocks for 2 s at most.
 * @param libexec_dir  absolute path of its folder
 * @return 0; -1 with errno ENOENT (it does not: `err` has its words), or any other where it could
 *         not be asked (`err` says why).
 */
int spank_apapi_check_components(const char *libexec_dir, const char *components,
                                 struct apapi_error *err);

/**
 * Ask apapi-sampler whether records can be written to a folder, as a disk may not answer. As above.
 */
int spank_apapi_check_folder(const char *libexec_dir, const char *folder, struct apapi_error *err);

/**
 * Let apapi-sampler, with the user's rights, read the event files that the environment names, and
 * pack them up together with what else the environment says of events. Blocks for 2 s at most.
 * @param packet  result, "" if the environment says nothing; after ENOENT what is wrong with the
 *                files, line by line
 * @return 0; -1 with errno ENOENT (a file is bad), or any other where it could not be asked.
 */
int spank_apapi_check_rules(const char *libexec_dir, char packet[PACKET_MAX],
                            struct apapi_error *err);

#endif
