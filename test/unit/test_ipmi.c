/* SPDX-License-Identifier: BSD-3-Clause */
/* IPMI without a BMC: settings, DCMI responses, names of sensors. */
#include "sources/ipmi/ipmi_bmc.h"
#include "unit/temporary.h"

#define NOBODY 65534

TEST(wrong_values)
{
    static const struct {
        const char *name, *value, *message;
    } cases[] = {
        {"APAPI_IPMI_PRIVILEGE", "root",
         "privilege is 'root', expected one of user, operator, admin"},
        {"APAPI_IPMI_CIPHER_SUITE", "0",
         "cipher_suite is '0', expected one of 1, 2, 3, 6, 7, 8, 11, 12, 15, 16, 17"},
        {"APAPI_IPMI_TIMEOUT", "999ms", "timeout is '999ms', expected a time from 1s to 60s"},
        {"APAPI_IPMI_PERIOD", "2h", "period is '2h', expected a time from 0s to 3600s"},
        {"APAPI_IPMI_USER", "seventeen letters", "user is longer than 16 characters"},
        {"APAPI_IPMI_SYSTEM_POWER", "a name that no sensor can have at all",
         "system_power is longer than 32 characters"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ipmi_settings settings;

        setenv(cases[i].name, cases[i].value, 1);
        assert_fails_saying(EINVAL, cases[i].message, ipmi_settings_read(&settings, &why));
        unsetenv(cases[i].name);
    }
}

static char path[128];

static void write_file(const char *text, mode_t mode)
{
    write_string(path, text);
    assert_int_equal(chmod(path, mode), 0);
}

static void make_folder(void)
{
    make_base();
    snprintf(path, sizeof path, "%s/password", base);
}

#define PREPARED(name) TEST_WITH(name, make_folder, remove_base)

PREPARED(password)
{
    static const struct {
        const char *text, *password;
    } cases[] = {
        {"secret\n", "secret"},
        {"secret\r\nmore\n", "secret"},
        {" with blanks \n", " with blanks "},
        {"", ""},
        {"twenty characters..!", "twenty characters..!"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char password[IPMI_PASSWORD_SIZE];

        write_file(cases[i].text, 0600);
        assert_int_equal(ipmi_password_read(path, password, NULL), 0);
        assert_string_equal(password, cases[i].password);
    }
}

static void assert_refused(int code, const char *message)
{
    char password[IPMI_PASSWORD_SIZE] = "untouched";

    assert_fails_with(code, path, ipmi_password_read(path, password, &why));
    assert_contains(why.text, message);
    assert_string_equal(password, "untouched");
}

PREPARED(password_refused)
{
    static const mode_t open_to_others[] = {0640, 0604, 0620, 0601};

    for (size_t i = 0; i < COUNT_OF(open_to_others); i++) {
        write_file("secret\n", open_to_others[i]);
        assert_refused(EACCES, "by others: chmod 600");
    }
    write_file("twenty-one characters\n", 0600);
    assert_refused(EINVAL, "longer than 20 characters");
    unlink(path);
    assert_refused(EINVAL, "No such file");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(EINVAL, "is not a file");
    unlink(path);
    if (geteuid() == 0) {
        write_file("secret\n", 0600);
        assert_int_equal(chown(path, NOBODY, NOBODY), 0);
        assert_refused(EACCES, "belongs to another user");
    }
}

/* 360 W now; least 1 W, most 9999 W, mean 2 W; 1000 ms; active. */
static const uint8_t reading[DCMI_RESPONSE_SIZE] = {0x02, 0x00, 0xdc, 0x68, 0x01, 0x01, 0x00,
                                                    0x0f, 0x27, 0x02, 0x00, 0x44, 0x33, 0x22,
                                                    0x11, 0xe8, 0x03, 0x00, 0x00, 0x40};

TEST(dcmi_refused)
{
    static const struct {
        int place;
        uint8_t byte;
        int size, error;
    } cases[] = {
        {1, 0xc1, 2, ENOTSUP}, {1, 0xd4, 2, ENOTSUP},  {1, 0xcc, 20, ENOTSUP},
        {1, 0xc0, 2, EBUSY},   {1, 0xc3, 20, EBUSY},   {1, 0xcb, 2, ENODATA},
        {1, 0xff, 2, EIO},     {0, 0x03, 20, EBADMSG}, {2, 0xdd, 20, EBADMSG},
        {0, 0x02, 0, EBADMSG}, {0, 0x02, 1, EBADMSG},  {0, 0x02, 19, EBADMSG},
    };
    uint8_t answer[DCMI_RESPONSE_SIZE];
    struct dcmi_power power = {.power_w = -1};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        memcpy(answer, reading, sizeof answer);
        answer[cases[i].place] = cases[i].byte;
        assert_int_equal(dcmi_power_parse(answer, cases[i].size, &power), cases[i].error);
    }
    memcpy(answer, reading, sizeof answer);
    assert_int_equal(dcmi_power_parse(answer, sizeof answer, &power), 0);
    assert_true(power.power_w == 360 && power.most_w == 9999);
    power.power_w = -1;
    answer[3] = answer[4] = 0;
    assert_int_equal(dcmi_power_parse(answer, sizeof answer, &power), ENODATA);
    assert_true(power.power_w == -1);
}

/* Each text begins at byte 48 of its record. type_length is its type, and its length [bytes]. */
TEST(id_strings)
{
    static const struct {
        uint8_t type_length;
        const char *text;
        unsigned cut;
        const char *name;
    } cases[] = {
        {0xca, "Inlet Temp", 0, "Inlet Temp"},
        {0xcb, "Power  \0\0\0\0", 0, "Power"},
        {0xca, "Inlet Temp", 5, "Inlet"},
        {0xc0, "ignored", 0, ""},
        {0x83, "\x29\xdc\xa6", 0, "IPMI"}, /* example in the specification */
        {0x42, "\x12\xca", 0, "12."},
        {0x42, "\x3b\x4f", 0, "3-4_"},
        {0xdf, "thirty-one bytes, the longest .", 0, "thirty-one bytes, the longest ."},
        {0x9f,
         "\x29\xdc\xa6\x29\xdc\xa6\x29\xdc\xa6\x29\xdc\xa6\x29\xdc\xa6\x29\xdc\xa6"
         "\x29\xdc\xa6\x29\xdc\xa6\x29\xdc\xa6\x29\xdc\xa6\x29",
         0, "IPMIIPMIIPMIIPMIIPMIIPMIIPMIIPMI"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unsigned bytes = cases[i].cut ? cases[i].cut : cases[i].type_length & 0x1f;
        uint8_t record[48 + 31] = {0};
        char name[IPMI_NAME_SIZE];

        record[47] = cases[i].type_length;
        memcpy(record + 48, cases[i].text, bytes);
        ipmi_id_string(record, 48 + bytes, name);
        assert_string_equal(name, cases[i].name);
        ipmi_id_string(record, 47, name);
        assert_string_equal(name, "");
    }
}

TEST(whole_names)
{
    static const struct {
        const char *name;
        bool whole;
    } cases[] = {
        {"Pwr Consumption", true}, {"Sys Power", true},      {"Total_Power", true},
        {"SYS_POWER", true},       {"PW Consumption", true}, {"Power Meter", true},
        {"System Level", true},    {"CPU_Power", false},     {"PSU1 Input Power", false},
        {"Memory Power", false},   {"Power", false},         {"", false},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ipmi_sensor sensor = {.kind = APAPI_KIND_POWER};

        strcpy(sensor.name, cases[i].name);
        assert_int_equal(ipmi_sensor_is_whole(&sensor), cases[i].whole);
    }
}

TEST(wanted_sensor_is_not_there)
{
    struct ipmi_sensor list[] = {{.name = "Inlet Temp", .kind = APAPI_KIND_TEMPERATURE},
                                 {.name = "PS1 In,W", .kind = APAPI_KIND_POWER},
                                 {.name = "Pwr Consumption", .kind = APAPI_KIND_POWER}};
    struct ipmi_sensors sensors = {.list = list, .count = COUNT_OF(list)};

    assert_fails_saying(EINVAL,
                        "system_power is 'Inlet Temp', expected dcmi or a power sensor of this "
                        "BMC: 'PS1 In,W', 'Pwr Consumption'",
                        ipmi_sensors_name_events(&sensors, "Inlet Temp", &why));
    sensors.count = 0;
    assert_fails_with(EINVAL, "BMC: it has none", ipmi_sensors_name_events(&sensors, "X", &why));
    assert_int_equal(ipmi_sensors_name_events(&sensors, "", NULL), 0);
}
