/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to a BMC through FreeIPMI: over the network, or through the kernel's driver. */
#include "sources/ipmi/ipmi_session.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/count_of.h"
#include "base/kernel_file.h"
#include "sources/sources.h"

#define NS_PER_MS UINT64_C(1000000)
#define RETRANSMISSIONS 4 /* within the timeout */

static const char *const devices[] = {"/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0"};

/* What a user can do about an error of FreeIPMI. */
static const struct failure {
    int error;
    int code;
    const char *text;
} failures[] = {
    {IPMI_ERR_USERNAME_INVALID, EACCES, "the BMC knows no such user"},
    {IPMI_ERR_PASSWORD_INVALID, EACCES, "the BMC refuses the password"},
    {IPMI_ERR_PASSWORD_VERIFICATION_TIMEOUT, EACCES, "the BMC refuses the password"},
    {IPMI_ERR_PRIVILEGE_LEVEL_INSUFFICIENT, EACCES, "the user may not do this"},
    {IPMI_ERR_PRIVILEGE_LEVEL_CANNOT_BE_OBTAINED, EACCES, "the user may not have this privilege"},
    {IPMI_ERR_AUTHENTICATION_TYPE_UNAVAILABLE, EACCES, "the BMC does not let MD5 passwords in"},
    {IPMI_ERR_CIPHER_SUITE_ID_UNAVAILABLE, EACCES, "the BMC does not have this cipher_suite"},
    {IPMI_ERR_IPMI_2_0_UNAVAILABLE, EINVAL, "the BMC has no IPMI 2.0, it needs driver=lan"},
    {IPMI_ERR_HOSTNAME_INVALID, EINVAL, "no such host"},
    {IPMI_ERR_PERMISSION, EACCES, "no permission"},
    {IPMI_ERR_OUT_OF_MEMORY, ENOMEM, "no memory"},
    {IPMI_ERR_CONNECTION_TIMEOUT, ETIMEDOUT, "no answer"},
    {IPMI_ERR_SESSION_TIMEOUT, ETIMEDOUT, "no answer"},
    {IPMI_ERR_DRIVER_TIMEOUT, ETIMEDOUT, "no answer"},
    {IPMI_ERR_MESSAGE_TIMEOUT, EBUSY, "the BMC is busy"},
    {IPMI_ERR_BMC_BUSY, EBUSY, "the BMC is busy"},
    {IPMI_ERR_DRIVER_BUSY, EBUSY, "the kernel's driver is busy"},
};

static int bmc_error(const struct ipmi_session *session)
{
    return session->library.ipmi_ctx_errnum(session->bmc);
}

static const struct failure *find_failure(int error)
{
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        if (failures[i].error == error) {
            return &failures[i];
        }
    }
    return NULL;
}

/* @return whether there is a device. Its path is below the root of the tests if that is set. */
static bool ipmi_session_find_device(char *path, size_t size)
{
    for (size_t i = 0; i < COUNT_OF(devices); i++) {
        kernel_file_path(path, size, devices[i]);
        if (access(path, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

static int ipmi_session_refuse(const struct ipmi_session *session, struct apapi_error *err)
{
    const struct ipmi_settings *settings = session->settings;
    int error = bmc_error(session);
    const struct failure *failure = find_failure(error);

    return apapi_fail(err, failure ? failure->code : EIO, "%.100s%s%s: %.90s", session->target,
                      *settings->user ? ", user " : "", settings->user,
                      failure ? failure->text : session->library.ipmi_ctx_strerror(error));
}

static int check_device(struct ipmi_session *session, struct apapi_error *err)
{
    if (!ipmi_session_find_device(session->target, sizeof session->target)) {
        return apapi_fail(err, ENODEV,
                          "no /dev/ipmi0: no BMC here, or modules ipmi_si and ipmi_devintf are not "
                          "loaded");
    }
    if (faccessat(AT_FDCWD, session->target, R_OK | W_OK, AT_EACCESS)) {
        return apapi_fail(err, EACCES, "no permission to read and write %.150s", session->target);
    }
    return 0;
}

/* Only the kernel's driver: FreeIPMI's own ones probe I/O ports, which can hang the machine. */
static int connect_device(const struct ipmi_session *session, struct apapi_error *err)
{
    if (session->library.ipmi_ctx_open_inband(session->bmc, IPMI_DEVICE_OPENIPMI, 1, 0, 0,
                                              session->target, IPMI_WORKAROUND_FLAGS_DEFAULT,
                                              IPMI_FLAGS_DEFAULT)) {
        return ipmi_session_refuse(session, err);
    }
    return 0;
}

int ipmi_session_prepare(struct ipmi_session *session, const struct ipmi_settings *settings,
                         struct apapi_error *err)
{
    session->settings = settings;
    if (*settings->host) {
        strcpy(session->target, settings->host);
    } else if (check_device(session, err)) {
        return -1;
    }
    return ipmi_library_load(&session->library, err);
}

static uint8_t privilege_level(enum ipmi_privilege privilege)
{
    static const uint8_t levels[] = {[IPMI_AS_USER] = IPMI_PRIVILEGE_LEVEL_USER,
                                     [IPMI_AS_OPERATOR] = IPMI_PRIVILEGE_LEVEL_OPERATOR,
                                     [IPMI_AS_ADMIN] = IPMI_PRIVILEGE_LEVEL_ADMIN};

    return levels[privilege];
}

static int connect_lan(const struct ipmi_session *session, struct apapi_error *err)
{
    const struct ipmi_settings *settings = session->settings;
    const struct ipmi_library *library = &session->library;
    unsigned timeout_ms = (unsigned)(settings->timeout_ns / NS_PER_MS);
    unsigned again_ms = timeout_ms / RETRANSMISSIONS;
    uint8_t level = privilege_level(settings->privilege);
    int result;

    if (settings->lan_1_5) {
        result = library->ipmi_ctx_open_outofband(
            session->bmc, settings->host, settings->user, settings->password,
            IPMI_AUTHENTICATION_TYPE_MD5, level, timeout_ms, again_ms,
            IPMI_WORKAROUND_FLAGS_DEFAULT, IPMI_FLAGS_DEFAULT);
    } else {
        /* the privilege is requested when the session is opened, as some BMCs require */
        result = library->ipmi_ctx_open_outofband_2_0(
            session->bmc, settings->host, settings->user, settings->password, NULL, 0, level,
            settings->cipher_suite, timeout_ms, again_ms,
            IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_OPEN_SESSION_PRIVILEGE, IPMI_FLAGS_DEFAULT);
    }
    return result ? ipmi_session_refuse(session, err) : 0;
}

static int create_contexts(struct ipmi_session *session, struct apapi_error *err)
{
    session->bmc = session->library.ipmi_ctx_create();
    if (!session->bmc) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    return *session->settings->host ? connect_lan(session, err) : connect_device(session, err);
}

static int create_sensor_context(struct ipmi_session *session, struct apapi_error *err)
{
    session->sensors = session->library.ipmi_sensor_read_ctx_create(session->bmc);
    if (!session->sensors || session->library.ipmi_sensor_read_ctx_set_flags(
                                 session->sensors, IPMI_SENSOR_READ_FLAGS_BRIDGE_SENSORS)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    return 0;
}

int ipmi_session_connect(struct ipmi_session *session, struct apapi_error *err)
{
    struct open_files before;
    int result;

    open_files_note(&before);
    result = create_contexts(session, err);
    open_files_close_new_on_exec(&before);
    if (result || create_sensor_context(session, err)) {
        ipmi_session_disconnect(session);
        return -1;
    }
    session->heard_ns = clock_monotonic_ns();
    return 0;
}

void ipmi_session_disconnect(struct ipmi_session *session)
{
    int saved = errno;

    if (session->sensors) {
        session->library.ipmi_sensor_read_ctx_destroy(session->sensors);
    }
    if (session->bmc) {
        session->library.ipmi_ctx_close(session->bmc);
        session->library.ipmi_ctx_destroy(session->bmc);
    }
    session->sensors = NULL;
    session->bmc = NULL;
    errno = saved;
}

/* FreeIPMI's timeout counts from the BMC's last answer, even if nothing was asked since. */
static bool is_stale(const struct ipmi_session *session)
{
    return *session->settings->host &&
           clock_monotonic_ns() - session->heard_ns > session->settings->timeout_ns / 2;
}

int ipmi_session_renew(struct ipmi_session *session, struct apapi_error *err)
{
    if (session->bmc && is_stale(session)) {
        ipmi_session_disconnect(session);
    }
    return session->bmc ? 0 : ipmi_session_connect(session, err);
}

/* After a failed command: its errno. An unusable connection is closed. */
static int command_failed(struct ipmi_session *session)
{
    int error = bmc_error(session);
    const struct failure *failure = find_failure(error);

    switch (error) {
    case IPMI_ERR_SUCCESS:
    case IPMI_ERR_BAD_COMPLETION_CODE:
    case IPMI_ERR_COMMAND_INVALID_OR_UNSUPPORTED:
    case IPMI_ERR_COMMAND_INVALID_FOR_SELECTED_INTERFACE:
    case IPMI_ERR_PRIVILEGE_LEVEL_INSUFFICIENT:
    case IPMI_ERR_MESSAGE_TIMEOUT:
    case IPMI_ERR_BMC_BUSY:
    case IPMI_ERR_DRIVER_BUSY:
        break;
    default:
        ipmi_session_disconnect(session);
    }
    return failure ? failure->code : EIO;
}

/* The BMC has answered, unless the error has closed the connection. */
static int answered(struct ipmi_session *session, int error)
{
    if (session->bmc) {
        session->heard_ns = clock_monotonic_ns();
    }
    return error;
}

int ipmi_session_read_dcmi(struct ipmi_session *session, struct dcmi_power *power)
{
    uint8_t response[64];
    int size = session->library.ipmi_cmd_raw(session->bmc, 0, DCMI_NET_FN, dcmi_power_request,
                                             DCMI_REQUEST_SIZE, response, sizeof response);

    return answered(session,
                    size < 0 ? command_failed(session) : dcmi_power_parse(response, size, power));
}

/* A sensor without a reading, though the BMC may well answer. */
static int reading_error(struct ipmi_session *session)
{
    switch (session->library.ipmi_sensor_read_ctx_errnum(session->sensors)) {
    case IPMI_SENSOR_READ_ERR_SENSOR_READING_UNAVAILABLE:
    case IPMI_SENSOR_READ_ERR_SENSOR_SCANNING_DISABLED:
        return ENODATA;
    case IPMI_SENSOR_READ_ERR_NODE_BUSY:
        return EBUSY;
    default:
        return command_failed(session);
    }
}

int ipmi_session_read_sensor(struct ipmi_session *session, const struct ipmi_sensor *sensor,
                             double *value)
{
    uint8_t raw;
    uint16_t states;
    double *reading = NULL;
    int error = 0;

    if (session->library.ipmi_sensor_read(session->sensors, sensor->record, sensor->record_size, 0,
                                          &raw, &reading, &states) < 0) {
        error = reading_error(session);
    } else if (reading && isfinite(*reading)) {
        *value = ipmi_reading_in_si(*reading, sensor->unit);
    } else {
        error = ENODATA;
    }
    free(reading);
    return answered(session, error);
}
