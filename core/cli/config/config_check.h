/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_CHECK_H
#define APAPI_CONFIG_CHECK_H
#include "config/config.h"

/**
 * Report values that the plugin accepts but that have no effect or not the intended one: unknown
 * components, folders without permission to write records, and bad values in all sections.
 */
void config_check(const struct config *config, const struct config_sink *sink);

#endif
