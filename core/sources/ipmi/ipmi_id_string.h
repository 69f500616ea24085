/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_IPMI_ID_STRING_H
#define APAPI_SOURCES_IPMI_ID_STRING_H
#include "sources/ipmi/ipmi_settings.h"

/**
 * The name in a full sensor record, whatever its encoding; FreeIPMI takes each for ASCII. Blanks at
 * its end are left out.
 */
void ipmi_id_string(const uint8_t *record, unsigned size, char name[IPMI_NAME_SIZE]);

#endif
