/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_CHECK_H
#define APAPI_CONFIG_CHECK_H
#include "config/config.h"

/**
 * Complain about values that the plugin takes and that can have no effect, or not the one that is
 * meant: components that nothing here knows, folders that no record can be written to, and the
 * values of all sections.
 */
void config_check(const struct config *config, const struct config_sink *sink);

#endif
