/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/ipmi/ipmi_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/interval.h"
#include "base/duration.h"
#include "sources/sources.h"

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
struct choice {
    const char *word;
    uint8_t value;
};

static const struct choice drivers[] = {{"lan", true}, {"lan_2_0", false}, {NULL, 0}};
static const struct choice privileges[] = {
    {"user", IPMI_AS_USER}, {"operator", IPMI_AS_OPERATOR}, {"admin", IPMI_AS_ADMIN}, {NULL, 0}};
static const struct choice sensor_choices[] = {
    {"all", IPMI_ALL_SENSORS}, {"power", IPMI_POWER_SENSORS}, {"none", IPMI_NO_SENSORS}, {NULL, 0}};
/* Not suite 0: it needs no password. */
static const struct choice cipher_suites[] = {{"1", 1},   {"2", 2},   {"3", 3},   {"6", 6},
                                              {"7", 7},   {"8", 8},   {"11", 11}, {"12", 12},
                                              {"15", 15}, {"16", 16}, {"17", 17}, {NULL, 0}};

static void list_words(const struct choice *choices, char *text, size_t size)
{
    size_t used = 0;

    for (const struct choice *choice = choices; choice->word && used < size; choice++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", choice->word);
    }
}

/* @return the value of the key's choice; `otherwise` if it is not set; -1 if it is invalid. */
static int ipmi_settings_choose(const char *key, const struct choice *choices, uint8_t otherwise,
                                struct apapi_error *err)
{
    const char *word = source_setting("ipmi", key);
    char words[128];

    if (!word) {
        return otherwise;
    }
    for (const struct choice *choice = choices; choice->word; choice++) {
        if (strcmp(choice->word, word) == 0) {
            return choice->value;
        }
    }
    list_words(choices, words, sizeof words);
    return apapi_fail(err, EINVAL, "%s is '%.40s', expected one of %s", key, word, words);
}

static int ipmi_settings_choose_all(struct ipmi_settings *settings, struct apapi_error *err)
{
    int driver = ipmi_settings_choose("driver", drivers, false, err);
    int privilege =
        driver < 0 ? -1 : ipmi_settings_choose("privilege", privileges, IPMI_AS_USER, err);
    int suite =
        privilege < 0 ? -1 : ipmi_settings_choose("cipher_suite", cipher_suites, CIPHER_SUITE, err);
    int sensors =
        suite < 0 ? -1 : ipmi_settings_choose("sensors", sensor_choices, IPMI_ALL_SENSORS, err);

    if (sensors < 0) {
        return -1;
    }
    settings->lan_1_5 = driver;
    settings->privilege = (enum ipmi_privilege)privilege;
    settings->cipher_suite = (uint8_t)suite;
    settings->sensors = (enum ipmi_choice)sensors;
    return 0;
}

static int ipmi_settings_copy_text(const char *key, char *copy, size_t size,
                                   struct apapi_error *err)
{
    const char *text = source_setting("ipmi", key);

    if (text && strlen(text) >= size) {
        return apapi_fail(err, EINVAL, "%s is longer than %zu characters", key, size - 1);
    }
    strcpy(copy, text ? text : "");
    return 0;
}

static int ipmi_settings_read_duration(const char *key, uint64_t *duration_ns, uint64_t min_ns,
                                       uint64_t max_ns, struct apapi_error *err)
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

static int ipmi_settings_read_line(int fd, const char *path, char password[IPMI_PASSWORD_SIZE],
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
    result =
        check_private(fd, path, err) || ipmi_settings_read_line(fd, path, password, err) ? -1 : 0;
    code = errno;
    close(fd);
    errno = code;
    return result;
}

int ipmi_settings_read(struct ipmi_settings *settings, struct apapi_error *err)
{
    const char *password_file = source_setting("ipmi", "password_file");

    memset(settings, 0, sizeof *settings);
    settings->timeout_ns = TIMEOUT_NS;
    settings->period_ns = PERIOD_NS;
    if (ipmi_settings_choose_all(settings, err) ||
        ipmi_settings_copy_text("host", settings->host, sizeof settings->host, err) ||
        ipmi_settings_copy_text("user", settings->user, sizeof settings->user, err) ||
        ipmi_settings_copy_text("system_power", settings->system_power,
                                sizeof settings->system_power, err) ||
        ipmi_settings_read_duration("timeout", &settings->timeout_ns, TIMEOUT_MIN_NS,
                                    TIMEOUT_MAX_NS, err) ||
        ipmi_settings_read_duration("period", &settings->period_ns, 0, APAPI_INTERVAL_MAX_NS,
                                    err)) {
        return -1;
    }
    if (!*settings->host || !password_file) {
        return 0;
    }
    return ipmi_password_read(password_file, settings->password, err);
}
