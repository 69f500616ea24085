/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_SETTINGS_H
#define SOURCES_SETTINGS_H

/**
 * What a site or a user sets for a source: the environment variable APAPI_<SECTION>_<KEY> in
 * capitals, else what apapi_source_set() was given, else NULL.
 * @param section, key  lower case, [a-z0-9_]: "ipmi", "host"
 * The text lives until the setting is set anew. For open() only, never while sampling.
 */
const char *source_setting(const char *section, const char *key);

#endif
