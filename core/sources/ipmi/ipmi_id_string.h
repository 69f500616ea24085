/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_IPMI_ID_STRING_H
#define APAPI_SOURCES_IPMI_ID_STRING_H
#include "sources/ipmi/ipmi_settings.h"

/** Decode the name in a full sensor record; FreeIPMI assumes ASCII. Trailing blanks are removed. */
void ipmi_id_string(const uint8_t *record, unsigned size, char name[IPMI_NAME_SIZE]);

#endif
