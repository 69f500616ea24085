/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_SETTINGS_H
#define SOURCES_SETTINGS_H

/**
 * A setting of a site or user for a source: the environment variable APAPI_<SECTION>_<KEY> in
 * capitals, or else the value given to apapi_source_set(), or NULL.
 * @param section, key  lower case, [a-z0-9_]: "ipmi", "host"
 * The text is valid until it is set again. For open() only, not while sampling.
 */
const char *source_setting(const char *section, const char *key);

#endif
