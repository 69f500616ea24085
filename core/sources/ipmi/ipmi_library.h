/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_IPMI_LIBRARY_H
#define APAPI_SOURCES_IPMI_LIBRARY_H
#include <freeipmi/freeipmi.h>

#include "apapi/error.h"

/* The functions used of FreeIPMI. It is loaded when a BMC is read, never linked. */
#define IPMI_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(ipmi_ctx_create)                                                                      \
    FUNCTION(ipmi_ctx_open_outofband)                                                              \
    FUNCTION(ipmi_ctx_open_outofband_2_0)                                                          \
    FUNCTION(ipmi_ctx_open_inband)                                                                 \
    FUNCTION(ipmi_ctx_errnum)                                                                      \
    FUNCTION(ipmi_ctx_strerror)                                                                    \
    FUNCTION(ipmi_ctx_close)                                                                       \
    FUNCTION(ipmi_ctx_destroy)                                                                     \
    FUNCTION(ipmi_cmd_raw)                                                                         \
    FUNCTION(ipmi_sdr_ctx_create)                                                                  \
    FUNCTION(ipmi_sdr_ctx_errormsg)                                                                \
    FUNCTION(ipmi_sdr_ctx_destroy)                                                                 \
    FUNCTION(ipmi_sdr_cache_create)                                                                \
    FUNCTION(ipmi_sdr_cache_open)                                                                  \
    FUNCTION(ipmi_sdr_cache_iterate)                                                               \
    FUNCTION(ipmi_sdr_parse_entity_id_instance_type)                                               \
    FUNCTION(ipmi_sdr_parse_event_reading_type_code)                                               \
    FUNCTION(ipmi_sdr_parse_sensor_units)                                                          \
    FUNCTION(ipmi_sensor_read_ctx_create)                                                          \
    FUNCTION(ipmi_sensor_read_ctx_set_flags)                                                       \
    FUNCTION(ipmi_sensor_read_ctx_errnum)                                                          \
    FUNCTION(ipmi_sensor_read_ctx_destroy)                                                         \
    FUNCTION(ipmi_sensor_read)

struct ipmi_library {
#define FUNCTION(name) __typeof__(name) *(name);
    IPMI_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/** Fill `library` with FreeIPMI's functions. 0; -1 with errno ENOSYS. Any thread. */
int ipmi_library_load(struct ipmi_library *library, struct apapi_error *err);

#endif
