/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to a BMC through FreeIPMI: over the network, or through the kernel's driver. */
#include "sources/ipmi/ipmi_bmc.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/interval.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/kernel_file.h"
#include "base/shared_library.h"
#include "base/text.h"

#define NS_PER_MS UINT64_C(1000000)

/* --- settings --------------------------------------------------------------------------------- */

#define TIMEOUT_NS (5 * NS_PER_S)
#define TIMEOUT_MIN_NS NS_PER_S
#define TIMEOUT_MAX_NS (60 * NS_PER_S)
/*
 * BMCs measure power once a second, a few more often. A request costs time of the BMC and, if the
 * kernel polls its port, of a core of the node.
 */
#define PERIOD_NS NS_PER_S
#define CIPHER_SUITE 3 /* supported by every IPMI 2.0 BMC: HMAC-SHA1 and AES */

/* A valid word and its meaning. */
struct meaning {
    const char *word;
    uint8_t value;
};

static const struct meaning privileges[] = {{"user", IPMI_PRIVILEGE_LEVEL_USER},
                                            {"operator", IPMI_PRIVILEGE_LEVEL_OPERATOR},
                                            {"admin", IPMI_PRIVILEGE_LEVEL_ADMIN},
                                            {NULL, 0}};
/* Not suite 0: it needs no password. */
static const struct meaning cipher_suites[] = {{"1", 1},   {"2", 2},   {"3", 3},   {"6", 6},
                                               {"7", 7},   {"8", 8},   {"11", 11}, {"12", 12},
                                               {"15", 15}, {"16", 16}, {"17", 17}, {NULL, 0}};

/* Set `value` to the meaning of the key's word; unchanged if it is not set. */
static int choose(const char *key, const struct meaning *meanings, uint8_t *value,
                  struct apapi_error *err)
{
    const char *word = source_setting("ipmi", key);
    char words[128] = "";

    if (!word) {
        return 0;
    }
    for (const struct meaning *meaning = meanings; meaning->word; meaning++) {
        if (strcmp(meaning->word, word) == 0) {
            *value = meaning->value;
            return 0;
        }
        text_append(words, sizeof words, ", ", "%s", meaning->word);
    }
    return apapi_fail(err, EINVAL, "%s is '%.40s', expected one of %s", key, word, words);
}

static int copy_text(const char *key, char *copy, size_t size, struct apapi_error *err)
{
    const char *text = source_setting("ipmi", key);

    if (text && strlen(text) >= size) {
        return apapi_fail(err, EINVAL, "%s is longer than %zu characters", key, size - 1);
    }
    strcpy(copy, text ? text : "");
    return 0;
}

static int read_duration(const char *key, uint64_t *duration_ns, uint64_t min_ns, uint64_t max_ns,
                         struct apapi_error *err)
{
    const char *text = source_setting("ipmi", key);
    uint64_t value_ns;

    if (!text) {
        return 0;
    }
    if (apapi_duration_parse(text, &value_ns, NULL) || value_ns < min_ns || value_ns > max_ns) {
        return apapi_fail(err, EINVAL, "%s is '%.40s', expected a time from %us to %us", key, text,
                          (unsigned)(min_ns / NS_PER_S), (unsigned)(max_ns / NS_PER_S));
    }
    *duration_ns = value_ns;
    return 0;
}

static int check_private(int fd, const char *path, struct apapi_error *err)
{
    struct stat info;

    if (fstat(fd, &info)) {
        return apapi_fail(err, errno, "password_file %.140s: %s", path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return apapi_fail(err, EINVAL, "password_file %.140s is not a file", path);
    }
    if (info.st_uid != geteuid() && info.st_uid != 0) {
        return apapi_fail(err, EACCES, "password_file %.140s belongs to another user", path);
    }
    if (info.st_mode & (S_IRWXG | S_IRWXO)) {
        return apapi_fail(err, EACCES,
                          "password_file %.120s can be read or written by others: chmod 600", path);
    }
    return 0;
}

static int read_line(int fd, const char *path, char password[IPMI_PASSWORD_SIZE],
                     struct apapi_error *err)
{
    char text[IPMI_PASSWORD_SIZE + 1];
    ssize_t got = read(fd, text, sizeof text);
    size_t length = 0;

    while (got > 0 && length < (size_t)got && !strchr("\r\n", text[length])) {
        length++;
    }
    if (got >= 0 && length < IPMI_PASSWORD_SIZE) {
        memcpy(password, text, length);
        password[length] = '\0';
    }
    explicit_bzero(text, sizeof text);
    if (got < 0) {
        return apapi_fail(err, errno, "password_file %.140s: %s", path, strerror(errno));
    }
    if (length >= IPMI_PASSWORD_SIZE) {
        return apapi_fail(err, EINVAL,
                          "password_file %.120s: the password is longer than %d characters", path,
                          IPMI_PASSWORD_SIZE - 1);
    }
    return 0;
}

int ipmi_password_read(const char *path, char password[IPMI_PASSWORD_SIZE], struct apapi_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int result, code;

    if (fd < 0) {
        return apapi_fail(err, errno == EACCES ? EACCES : EINVAL, "password_file %.140s: %s", path,
                          strerror(errno));
    }
    result = check_private(fd, path, err) || read_line(fd, path, password, err) ? -1 : 0;
    code = errno;
    close(fd);
    errno = code;
    return result;
}

int ipmi_settings_read(struct ipmi_settings *settings, struct apapi_error *err)
{
    const char *password_file = source_setting("ipmi", "password_file");

    *settings = (struct ipmi_settings){.privilege = IPMI_PRIVILEGE_LEVEL_USER,
                                       .cipher_suite = CIPHER_SUITE,
                                       .timeout_ns = TIMEOUT_NS,
                                       .period_ns = PERIOD_NS};
    if (choose("privilege", privileges, &settings->privilege, err) ||
        choose("cipher_suite", cipher_suites, &settings->cipher_suite, err) ||
        copy_text("host", settings->host, sizeof settings->host, err) ||
        copy_text("user", settings->user, sizeof settings->user, err) ||
        copy_text("system_power", settings->system_power, sizeof settings->system_power, err) ||
        read_duration("timeout", &settings->timeout_ns, TIMEOUT_MIN_NS, TIMEOUT_MAX_NS, err) ||
        read_duration("period", &settings->period_ns, 0, APAPI_INTERVAL_MAX_NS, err)) {
        return -1;
    }
    if (!*settings->host || !password_file) {
        return 0;
    }
    return ipmi_password_read(password_file, settings->password, err);
}

/* --- the power reading of DCMI 1.5, section 6.6.1 --------------------------------------------- */

#define DCMI_NET_FN 0x2c /* requests of a group extension */
#define DCMI_COMMAND 0x02
#define DCMI_GROUP 0xdc

/* Offsets of the response's fields of 16 and 32 bits, lowest byte first. */
#define AT_COMPLETION 1
#define AT_GROUP 2
#define AT_CURRENT_W 3
#define AT_MOST_W 7
#define AT_PERIOD_MS 15
#define AT_STATE 19

#define STATE_ACTIVE 0x40

/* Completion codes of the IPMI 2.0 specification, table 5-2. */
static int completion_error(uint8_t code)
{
    switch (code) {
    case 0x00:
        return 0;
    case 0xc0: /* node busy */
    case 0xc3: /* timeout */
    case 0xd2: /* the BMC is starting */
        return EBUSY;
    case 0xc1: /* invalid command */
    case 0xc2: /* invalid for this LUN */
    case 0xc9: /* parameter out of range */
    case 0xcc: /* invalid data field */
    case 0xd4: /* insufficient privilege */
        return ENOTSUP;
    case 0xcb: /* not present */
    case 0xd5: /* not supported in the present state */
        return ENODATA;
    default:
        return EIO;
    }
}

int dcmi_power_parse(const uint8_t *response, int size, struct dcmi_power *power)
{
    const uint8_t *current = response + AT_CURRENT_W, *period = response + AT_PERIOD_MS;
    int error;

    if (size <= AT_COMPLETION || response[0] != DCMI_COMMAND) {
        return EBADMSG;
    }
    error = completion_error(response[AT_COMPLETION]);
    if (error) {
        return error;
    }
    if (size < DCMI_RESPONSE_SIZE || response[AT_GROUP] != DCMI_GROUP) {
        return EBADMSG;
    }
    /* A machine that answers does not draw 0 W: its BMC has no reading but does not report that. */
    if (current[0] == 0 && current[1] == 0) {
        return ENODATA;
    }
    power->power_w = current[0] | (unsigned)current[1] << 8;
    power->most_w = response[AT_MOST_W] | (unsigned)response[AT_MOST_W + 1] << 8;
    power->period_ns = NS_PER_MS * (period[0] | (uint32_t)period[1] << 8 |
                                    (uint32_t)period[2] << 16 | (uint32_t)period[3] << 24);
    power->active = response[AT_STATE] & STATE_ACTIVE;
    return 0;
}

/* --- a session -------------------------------------------------------------------------------- */

#define RETRANSMISSIONS 4 /* within the timeout */

/* An error of FreeIPMI, its errno, and a text that helps the user. */
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
    {IPMI_ERR_CIPHER_SUITE_ID_UNAVAILABLE, EACCES, "the BMC does not have this cipher_suite"},
    {IPMI_ERR_IPMI_2_0_UNAVAILABLE, EINVAL, "the BMC has no IPMI 2.0"},
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

static const struct failure *find_failure(int error)
{
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        if (failures[i].error == error) {
            return &failures[i];
        }
    }
    return NULL;
}

static int refuse(const struct ipmi_session *session, struct apapi_error *err)
{
    const struct ipmi_settings *settings = session->settings;
    int error = session->library.ipmi_ctx_errnum(session->bmc);
    const struct failure *failure = find_failure(error);

    return apapi_fail(err, failure ? failure->code : EIO, "%.100s%s%s: %.90s", session->target,
                      *settings->user ? ", user " : "", settings->user,
                      failure ? failure->text : session->library.ipmi_ctx_strerror(error));
}

/* Set the target to the kernel's device, below the root of the tests if that is set. */
static int find_device(struct ipmi_session *session, struct apapi_error *err)
{
    kernel_file_path(session->target, sizeof session->target, "/dev/ipmi0");
    if (access(session->target, F_OK)) {
        return apapi_fail(err, ENODEV,
                          "no /dev/ipmi0: no BMC here, or modules ipmi_si and ipmi_devintf are not "
                          "loaded");
    }
    if (faccessat(AT_FDCWD, session->target, R_OK | W_OK, AT_EACCESS)) {
        return apapi_fail(err, EACCES, "no permission to read and write %.150s", session->target);
    }
    return 0;
}

/* Use the kernel's driver only: FreeIPMI's drivers probe I/O ports, which can hang the machine. */
static int connect_device(const struct ipmi_session *session, struct apapi_error *err)
{
    if (session->library.ipmi_ctx_open_inband(session->bmc, IPMI_DEVICE_OPENIPMI, 1, 0, 0,
                                              session->target, IPMI_WORKAROUND_FLAGS_DEFAULT,
                                              IPMI_FLAGS_DEFAULT)) {
        return refuse(session, err);
    }
    return 0;
}

int ipmi_session_prepare(struct ipmi_session *session, const struct ipmi_settings *settings,
                         struct apapi_error *err)
{
    static const struct library_symbol symbols[] = {
#define FUNCTION(name) LIBRARY_SYMBOL(#name, struct ipmi_library, name),
        IPMI_FUNCTIONS(FUNCTION)
#undef FUNCTION
            {NULL, 0}};
    struct apapi_error why;

    session->settings = settings;
    if (*settings->host) {
        strcpy(session->target, settings->host);
    } else if (find_device(session, err)) {
        return -1;
    }
    return shared_library_load(APAPI_FREEIPMI_LIBRARY, symbols, &session->library, &why)
               ? apapi_fail(err, ENOSYS, "no FreeIPMI: %.200s", why.text)
               : 0;
}

static int connect_lan(const struct ipmi_session *session, struct apapi_error *err)
{
    const struct ipmi_settings *settings = session->settings;
    unsigned timeout_ms = (unsigned)(settings->timeout_ns / NS_PER_MS);
    /* the privilege is requested when the session is opened, as some BMCs require */
    int result = session->library.ipmi_ctx_open_outofband_2_0(
        session->bmc, settings->host, settings->user, settings->password, NULL, 0,
        settings->privilege, settings->cipher_suite, timeout_ms, timeout_ms / RETRANSMISSIONS,
        IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_OPEN_SESSION_PRIVILEGE, IPMI_FLAGS_DEFAULT);

    return result ? refuse(session, err) : 0;
}

static int create_contexts(struct ipmi_session *session, struct apapi_error *err)
{
    session->bmc = session->library.ipmi_ctx_create();
    if (!session->bmc) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    return *session->settings->host ? connect_lan(session, err) : connect_device(session, err);
}

static int connect_bmc(struct ipmi_session *session, struct apapi_error *err)
{
    struct open_files before;
    int result;

    open_files_note(&before);
    result = create_contexts(session, err);
    open_files_close_new_on_exec(&before);
    if (result) {
        ipmi_session_disconnect(session);
        return -1;
    }
    session->sensors = session->library.ipmi_sensor_read_ctx_create(session->bmc);
    if (!session->sensors || session->library.ipmi_sensor_read_ctx_set_flags(
                                 session->sensors, IPMI_SENSOR_READ_FLAGS_BRIDGE_SENSORS)) {
        ipmi_session_disconnect(session);
        return apapi_fail(err, ENOMEM, "no memory");
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
int ipmi_session_connect(struct ipmi_session *session, struct apapi_error *err)
{
    if (session->bmc && *session->settings->host &&
        clock_monotonic_ns() - session->heard_ns > session->settings->timeout_ns / 2) {
        ipmi_session_disconnect(session);
    }
    return session->bmc ? 0 : connect_bmc(session, err);
}

/* @return the errno of a failed command. An unusable connection is closed. */
static int command_failed(struct ipmi_session *session)
{
    int error = session->library.ipmi_ctx_errnum(session->bmc);
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

/* Note that the BMC has answered, unless the error has closed the connection. @return `error` */
static int answered(struct ipmi_session *session, int error)
{
    if (session->bmc) {
        session->heard_ns = clock_monotonic_ns();
    }
    return error;
}

int ipmi_session_read_dcmi(struct ipmi_session *session, struct dcmi_power *power)
{
    /* command, group, mode (power of the whole system), attributes, reserved */
    static const uint8_t request[] = {DCMI_COMMAND, DCMI_GROUP, 0x01, 0, 0};
    uint8_t response[64];
    int size = session->library.ipmi_cmd_raw(session->bmc, 0, DCMI_NET_FN, request, sizeof request,
                                             response, sizeof response);

    return answered(session,
                    size < 0 ? command_failed(session) : dcmi_power_parse(response, size, power));
}

/* @return the errno of a sensor without a reading. The BMC may well have answered. */
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
        *value = *reading;
    } else {
        error = ENODATA;
    }
    free(reading);
    return answered(session, error);
}
