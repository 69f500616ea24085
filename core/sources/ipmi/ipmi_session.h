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
    char target[IPMI_HOST_SIZE]; /* what it is connected to: the host, or the device's file */
    ipmi_ctx_t bmc;              /* NULL: not connected */
    ipmi_sensor_read_ctx_t sensors;
    uint64_t heard_ns; /* when the BMC has answered for the last time */
};

/**
 * Say what is to be connected to, see whether the local device is there, and load FreeIPMI.
 * @param session   all zero
 * @param settings  borrowed until the session is disconnected
 * @return 0; -1 with errno ENODEV, EACCES, ENOSYS.
 */
int ipmi_session_prepare(struct ipmi_session *session, const struct ipmi_settings *settings,
                         struct apapi_error *err);

/**
 * Connect. Blocks for a few times the timeout.
 * @return 0; -1 with errno ENODEV, EACCES, ETIMEDOUT, EINVAL, ENOMEM, EIO and the reason.
 */
int ipmi_session_connect(struct ipmi_session *session, struct apapi_error *err);

/** Connect anew what is not connected, or may have been forgotten by the BMC. As connect(). */
int ipmi_session_renew(struct ipmi_session *session, struct apapi_error *err);

void ipmi_session_disconnect(struct ipmi_session *session);

/*
 * Readings. 0, or the errno; one that says that the BMC no longer answers has ended the
 * connection. FreeIPMI allocates for each command.
 */
int ipmi_session_read_dcmi(struct ipmi_session *session, struct dcmi_power *power);
int ipmi_session_read_sensor(struct ipmi_session *session, const struct ipmi_sensor *sensor,
                             double *value);

#endif
