/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_IPMI_SESSION_H
#define APAPI_SOURCES_IPMI_SESSION_H
#include <stdint.h>

#include "sources/ipmi/ipmi_dcmi.h"
#include "sources/ipmi/ipmi_library.h"
#include "sources/ipmi/ipmi_sensors.h"
#include "sources/ipmi/ipmi_settings.h"

/** A connection to a BMC. */
struct ipmi_session {
    struct ipmi_library library;
    const struct ipmi_settings *settings;
    char target[IPMI_HOST_SIZE]; /* the host or the device file */
    ipmi_ctx_t bmc;              /* NULL: not connected */
    ipmi_sensor_read_ctx_t sensors;
    uint64_t heard_ns; /* time of the BMC's last answer */
};

/**
 * Set what to connect to, check the local device, and load FreeIPMI.
 * @param session   all zero
 * @param settings  borrowed until the session is disconnected
 * @return 0; -1 with errno ENODEV, EACCES, ENOSYS.
 */
int ipmi_session_prepare(struct ipmi_session *session, const struct ipmi_settings *settings,
                         struct apapi_error *err);

/**
 * Connect. Blocks for a small multiple of the timeout.
 * @return 0; -1 with errno ENODEV, EACCES, ETIMEDOUT, EINVAL, ENOMEM, EIO and the reason.
 */
int ipmi_session_connect(struct ipmi_session *session, struct apapi_error *err);

/** Connect if there is no connection, or the BMC may have dropped it. As ipmi_session_connect(). */
int ipmi_session_renew(struct ipmi_session *session, struct apapi_error *err);

void ipmi_session_disconnect(struct ipmi_session *session);

/*
 * Readings. 0 or the errno. If the BMC no longer answers, the connection is closed. FreeIPMI
 * allocates memory for each command.
 */
int ipmi_session_read_dcmi(struct ipmi_session *session, struct dcmi_power *power);
int ipmi_session_read_sensor(struct ipmi_session *session, const struct ipmi_sensor *sensor,
                             double *value);

#endif
