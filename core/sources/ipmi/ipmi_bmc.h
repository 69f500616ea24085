/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_IPMI_BMC_H
#define SOURCES_IPMI_BMC_H
#include <freeipmi/freeipmi.h>

#include "sources/sources.h"

/* --- settings and access (ipmi_bmc.c) --------------------------------------------------------- */

#define IPMI_HOST_SIZE 256
#define IPMI_USER_SIZE 17     /* 16 characters, by the IPMI specification */
#define IPMI_PASSWORD_SIZE 21 /* 20 characters in IPMI 2.0 */
#define IPMI_NAME_SIZE 33     /* the name of a sensor, with the NUL */

/** Section [ipmi]: which BMC, and how to access it. */
struct ipmi_settings {
    char host[IPMI_HOST_SIZE]; /* "address" or "address:port"; "": this machine's own BMC */
    char user[IPMI_USER_SIZE];
    char password[IPMI_PASSWORD_SIZE];
    uint8_t privilege; /* IPMI_PRIVILEGE_LEVEL_... */
    uint8_t cipher_suite;
    uint64_t timeout_ns;               /* for an answer of the BMC, at least 1 s */
    uint64_t period_ns;                /* minimum time between requests to the BMC */
    char system_power[IPMI_NAME_SIZE]; /* "": DCMI, else a known name; "dcmi"; a sensor's name */
};

/**
 * Read all settings, and the password from its file.
 * @return 0; -1 with errno EINVAL (names the key and what is valid) or EACCES (the file).
 */
int ipmi_settings_read(struct ipmi_settings *settings, struct apapi_error *err);

/** Read a file's first line. Only its owner, this user or root, may read it. @return as above. */
int ipmi_password_read(const char *path, char password[IPMI_PASSWORD_SIZE],
                       struct apapi_error *err);

/* The functions used of FreeIPMI. It is loaded when a BMC is read, never linked. */
#define IPMI_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(ipmi_ctx_create)                                                                      \
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

#define DCMI_RESPONSE_SIZE 20

/** The power of the whole machine. */
struct dcmi_power {
    double power_w;     /* current power, > 0 */
    double most_w;      /* the highest power in `period_ns` */
    uint64_t period_ns; /* period of the BMC's statistics [ns]; 0: not reported */
    bool active; /* whether the BMC says that it measures; OpenBMC said no although it measured */
};

/**
 * Parse the answer of a BMC.
 * @param response  begins with the command and the completion code
 * @param power     set on success only
 * @return 0, ENOTSUP (no such command, or not with this privilege), ENODATA (no reading now),
 * EBUSY, EBADMSG (not an answer to this request), EIO.
 */
int dcmi_power_parse(const uint8_t *response, int size, struct dcmi_power *power);

/** A sensor of power or temperature, from the BMC's sensor data records (SDR). */
struct ipmi_sensor {
    uint8_t record[IPMI_SDR_MAX_RECORD_LENGTH]; /* as the BMC gave it */
    unsigned record_size;
    char name[IPMI_NAME_SIZE]; /* the BMC's name for it: "Inlet Temp" */
    enum apapi_kind kind;      /* APAPI_KIND_POWER or APAPI_KIND_TEMPERATURE */
    uint8_t entity, instance;  /* the entity that it belongs to */
    char event[APAPI_NAME_SIZE];
};

struct ipmi_sensors {
    struct ipmi_sensor *list;
    size_t count, room;
};

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
 * Connect if there is no connection, or the BMC may have dropped it. Blocks for a small multiple of
 * the timeout.
 * @return 0; -1 with errno ENODEV, EACCES, ETIMEDOUT, EINVAL, ENOMEM, EIO and the reason.
 */
int ipmi_session_connect(struct ipmi_session *session, struct apapi_error *err);

void ipmi_session_disconnect(struct ipmi_session *session);

/*
 * Read one value. @return 0 or the errno. If the BMC no longer answers, the connection is closed.
 * FreeIPMI allocates memory for each command.
 */
int ipmi_session_read_dcmi(struct ipmi_session *session, struct dcmi_power *power);
int ipmi_session_read_sensor(struct ipmi_session *session, const struct ipmi_sensor *sensor,
                             double *value);

/* --- sensors (ipmi_sensors.c) ----------------------------------------------------------------- */

/**
 * Read the BMC's records. Leaves no file behind and trusts none.
 * @param sensors  all zero; call ipmi_sensors_clear() in any case
 * @return 0; -1 with errno EIO, ENOMEM.
 */
int ipmi_sensors_find(const struct ipmi_library *library, ipmi_ctx_t bmc,
                      struct ipmi_sensors *sensors, struct apapi_error *err);

void ipmi_sensors_clear(struct ipmi_sensors *sensors);

/** @return whether the sensor, by its name, measures the whole machine. */
bool ipmi_sensor_is_whole(const struct ipmi_sensor *sensor);

/**
 * Name the events of the sensors: SYSTEM_POWER at most once, the board's own power BOARD_POWER, the
 * board's first temperature SYSTEM_TEMP, others POWER:<name> and TEMP:<name>; no name twice. These
 * other sensors stay only if an event list names them: each costs a request.
 * @param wanted  name of the sensor of the whole system; "": one with a known name; NULL: none
 * @return 0; -1 with errno EINVAL: no sensor of power has the wanted name.
 */
int ipmi_sensors_name_events(struct ipmi_sensors *sensors, const char *wanted,
                             struct apapi_error *err);

/** Decode the name in a full sensor record; FreeIPMI assumes ASCII. Trailing blanks are removed. */
void ipmi_id_string(const uint8_t *record, unsigned size, char name[IPMI_NAME_SIZE]);

#endif
