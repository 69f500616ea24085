/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_IPMI_SETTINGS_H
#define APAPI_SOURCES_IPMI_SETTINGS_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"

#define IPMI_HOST_SIZE 256
#define IPMI_USER_SIZE 17     /* 16 characters, by the IPMI specification */
#define IPMI_PASSWORD_SIZE 21 /* 20 characters in IPMI 2.0 */
#define IPMI_NAME_SIZE 33     /* of a sensor */

enum ipmi_choice { IPMI_NO_SENSORS, IPMI_POWER_SENSORS, IPMI_ALL_SENSORS };

enum ipmi_privilege { IPMI_AS_USER, IPMI_AS_OPERATOR, IPMI_AS_ADMIN };

/** Section [ipmi]: which BMC, and how to access it. */
struct ipmi_settings {
    char host[IPMI_HOST_SIZE]; /* "address" or "address:port"; "": this machine's own BMC */
    char user[IPMI_USER_SIZE];
    char password[IPMI_PASSWORD_SIZE];
    bool lan_1_5; /* IPMI 1.5 instead of 2.0 */
    enum ipmi_privilege privilege;
    uint8_t cipher_suite;
    uint64_t timeout_ns;               /* for an answer of the BMC, at least 1 s */
    uint64_t period_ns;                /* minimum time between requests to the BMC */
    enum ipmi_choice sensors;          /* the DCMI reading is used in any case */
    char system_power[IPMI_NAME_SIZE]; /* "": DCMI, else a sensor with a known name; "dcmi"; a name
                                        */
};

/**
 * Read all settings, and the password from its file.
 * @return 0; -1 with errno EINVAL (names the key and what is valid) or EACCES (the file).
 */
int ipmi_settings_read(struct ipmi_settings *settings, struct apapi_error *err);

/** Read the first line of a file that only its owner, this user or root, can read. As above. */
int ipmi_password_read(const char *path, char password[IPMI_PASSWORD_SIZE],
                       struct apapi_error *err);

#endif
