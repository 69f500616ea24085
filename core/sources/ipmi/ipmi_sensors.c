/* SPDX-License-Identifier: BSD-3-Clause */
/* A BMC's sensors: found in its sensor data records, and the names of their events. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "sources/ipmi/ipmi_bmc.h"

/* --- a sensor's name in its record, IPMI 2.0, section 43.15 ----------------------------------- */

#define AT_TYPE_LENGTH 47 /* in a full sensor record; the text follows */
#define TYPE_BCD_PLUS 1
#define TYPE_SIX_BITS 2

/* Get a number of `count` bits from a text. Bits are counted from the lowest one of each byte. */
static unsigned bits_at(const uint8_t *text, unsigned first_bit, unsigned count)
{
    unsigned value = 0;

    for (unsigned i = 0; i < count; i++) {
        value |= (unsigned)(text[(first_bit + i) / 8] >> (first_bit + i) % 8 & 1) << i;
    }
    return value;
}

static char character(const uint8_t *text, unsigned type, unsigned index)
{
    switch (type) {
    case TYPE_BCD_PLUS:
        return "0123456789 -.:,_"[text[index / 2] >> (index % 2 ? 0 : 4) & 0xf];
    case TYPE_SIX_BITS:
        return (char)(' ' + bits_at(text, 6 * index, 6));
    default:
        return (char)text[index];
    }
}

void ipmi_id_string(const uint8_t *record, unsigned size, char name[IPMI_NAME_SIZE])
{
    const uint8_t *text = record + AT_TYPE_LENGTH + 1;
    unsigned type, bytes, length, end = 0;

    name[0] = '\0';
    if (size <= AT_TYPE_LENGTH) {
        return;
    }
    type = record[AT_TYPE_LENGTH] >> 6;
    bytes = record[AT_TYPE_LENGTH] & 0x1f;
    bytes = bytes < size - AT_TYPE_LENGTH - 1 ? bytes : size - AT_TYPE_LENGTH - 1;
    length = type == TYPE_BCD_PLUS ? 2 * bytes : type == TYPE_SIX_BITS ? bytes * 8 / 6 : bytes;
    for (unsigned i = 0; i < length && i < IPMI_NAME_SIZE - 1; i++) {
        name[i] = character(text, type, i);
        if (name[i] != ' ' && name[i] != '\0') {
            end = i + 1;
        }
    }
    name[end] = '\0';
}

/* --- records ---------------------------------------------------------------------------------- */

#define ANALOG 0x01 /* event/reading type code of sensors with a threshold: they have a value */

/* The search and its result. */
struct finding {
    const struct ipmi_library *library;
    struct ipmi_sensors *sensors;
};

/* @return whether sensors of this unit are used. */
static bool kind_of_unit(uint8_t unit, enum apapi_kind *kind)
{
    switch (unit) {
    case IPMI_SENSOR_UNIT_WATTS:
        *kind = APAPI_KIND_POWER;
        return true;
    case IPMI_SENSOR_UNIT_DEGREES_C:
        *kind = APAPI_KIND_TEMPERATURE;
        return true;
    default:
        return false;
    }
}

static bool parse_units(const struct ipmi_library *library, ipmi_sdr_ctx_t sdr,
                        struct ipmi_sensor *sensor)
{
    uint8_t percentage, modifier, rate, unit, modifier_unit, type;

    return library->ipmi_sdr_parse_event_reading_type_code(sdr, sensor->record, sensor->record_size,
                                                           &type) == 0 &&
           type == ANALOG &&
           library->ipmi_sdr_parse_sensor_units(sdr, sensor->record, sensor->record_size,
                                                &percentage, &modifier, &rate, &unit,
                                                &modifier_unit) == 0 &&
           percentage == IPMI_SDR_PERCENTAGE_NO && modifier == IPMI_SDR_MODIFIER_UNIT_NONE &&
           rate == IPMI_SENSOR_RATE_UNIT_NONE && kind_of_unit(unit, &sensor->kind);
}

/* Only full records describe how to compute the value. */
static int add_record(ipmi_sdr_ctx_t sdr, uint8_t type, const void *record, unsigned size,
                      void *context)
{
    const struct finding *finding = context;
    struct ipmi_sensors *sensors = finding->sensors;
    struct ipmi_sensor sensor = {.record_size = size};
    uint8_t instance_type;

    if (type != IPMI_SDR_FORMAT_FULL_SENSOR_RECORD || size > sizeof sensor.record) {
        return 0;
    }
    memcpy(sensor.record, record, size);
    if (!parse_units(finding->library, sdr, &sensor) ||
        finding->library->ipmi_sdr_parse_entity_id_instance_type(
            sdr, sensor.record, size, &sensor.entity, &sensor.instance, &instance_type)) {
        return 0;
    }
    ipmi_id_string(sensor.record, size, sensor.name);
    if (array_add(&sensors->list, sensors->count, &sensors->room, sizeof *sensors->list)) {
        return -1;
    }
    sensors->list[sensors->count++] = sensor;
    return 0;
}

static int read_records(ipmi_ctx_t bmc, ipmi_sdr_ctx_t sdr, struct finding *finding)
{
    const struct ipmi_library *library = finding->library;
    /* FreeIPMI needs a file for the records. A file without a name cannot be planted. */
    int file = memfd_create("apapi-sdr", MFD_CLOEXEC);
    char path[64];
    int result = -1;

    if (file < 0) {
        return -1;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (library->ipmi_sdr_cache_create(sdr, bmc, path,
                                       IPMI_SDR_CACHE_CREATE_FLAGS_OVERWRITE |
                                           IPMI_SDR_CACHE_CREATE_FLAGS_ASSUME_MAX_SDR_RECORD_COUNT,
                                       NULL, NULL) == 0 &&
        library->ipmi_sdr_cache_open(sdr, NULL, path) == 0 &&
        library->ipmi_sdr_cache_iterate(sdr, add_record, finding) == 0) {
        result = 0;
    }
    close(file);
    return result;
}

int ipmi_sensors_find(const struct ipmi_library *library, ipmi_ctx_t bmc,
                      struct ipmi_sensors *sensors, struct apapi_error *err)
{
    struct finding finding = {library, sensors};
    ipmi_sdr_ctx_t sdr = library->ipmi_sdr_ctx_create();
    struct open_files before;
    const char *failure = NULL;

    if (!sdr) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    open_files_note(&before);
    if (read_records(bmc, sdr, &finding)) {
        failure = library->ipmi_sdr_ctx_errormsg(sdr);
    }
    library->ipmi_sdr_ctx_destroy(sdr);
    open_files_close_new_on_exec(&before);
    return failure ? apapi_fail(err, EIO, "the BMC's sensor data records: %s", failure) : 0;
}

void ipmi_sensors_clear(struct ipmi_sensors *sensors)
{
    free(sensors->list);
    *sensors = (struct ipmi_sensors){NULL, 0, 0};
}

/* --- events ----------------------------------------------------------------------------------- */

/* Letters and digits of the manufacturers' names for the sensor of the whole machine. */
static const char *const whole_names[] = {
    "systempower",   "syspower",       "systempwr",        "syspwr",        "totalpower",
    "totalpwr",      "systotalpower",  "totsyspower",      "powermeter",    "powerconsumption",
    "pwconsumption", "pwrconsumption", "systemlevel",      "nodepower",     "nodepwr",
    "serverpower",   "sysinputpower",  "systeminputpower", "syspwrmonitor", "syspowermonitor"};

bool ipmi_sensor_is_whole(const struct ipmi_sensor *sensor)
{
    char folded[IPMI_NAME_SIZE];
    size_t length = 0;

    for (const char *letter = sensor->name; *letter; letter++) {
        if (isalnum((unsigned char)*letter)) {
            folded[length++] = (char)tolower((unsigned char)*letter);
        }
    }
    folded[length] = '\0';
    for (size_t i = 0; i < COUNT_OF(whole_names); i++) {
        if (strcmp(folded, whole_names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static struct ipmi_sensor *find_system_power(const struct ipmi_sensors *sensors, const char *wanted)
{
    for (struct ipmi_sensor *sensor = sensors->list; sensor < sensors->list + sensors->count;
         sensor++) {
        if (sensor->kind == APAPI_KIND_POWER &&
            (*wanted ? strcasecmp(sensor->name, wanted) == 0 : ipmi_sensor_is_whole(sensor))) {
            return sensor;
        }
    }
    return NULL;
}

static int refuse_wanted(const struct ipmi_sensors *sensors, const char *wanted,
                         struct apapi_error *err)
{
    char names[128] = "";

    for (size_t i = 0; i < sensors->count; i++) {
        if (sensors->list[i].kind == APAPI_KIND_POWER) {
            text_append(names, sizeof names, ", ", "'%s'", sensors->list[i].name);
        }
    }
    return apapi_fail(err, EINVAL,
                      "system_power is '%s', expected dcmi or a power sensor of this BMC: %s",
                      wanted, *names ? names : "it has none");
}

static bool is_taken(const struct ipmi_sensors *sensors, const char *event)
{
    for (size_t i = 0; i < sensors->count; i++) {
        if (strcmp(sensors->list[i].event, event) == 0) {
            return true;
        }
    }
    return false;
}

/* Name an event by its sensor. Letters with a meaning in event lists become '_'. */
static void name_by_sensor(const struct ipmi_sensors *sensors, struct ipmi_sensor *sensor)
{
    char event[APAPI_NAME_SIZE];
    size_t prefix = (size_t)snprintf(
        event, sizeof event, "ipmi:::%s:", sensor->kind == APAPI_KIND_POWER ? "POWER" : "TEMP");
    size_t length;

    snprintf(event + prefix, sizeof event - prefix, "%s", sensor->name);
    for (char *letter = event + prefix; *letter; letter++) {
        bool plain = isalnum((unsigned char)*letter) || strchr("_-+./", *letter);

        *letter = plain ? *letter : '_';
    }
    length = strlen(event);
    for (unsigned number = 2; is_taken(sensors, event); number++) {
        snprintf(event + length, sizeof event - length, "_%u", number);
    }
    strcpy(sensor->event, event);
}

/* Give this name to the first sensor of the system board that has no event yet. */
static void name_board_sensor(const struct ipmi_sensors *sensors, enum apapi_kind kind,
                              const char *event)
{
    for (struct ipmi_sensor *sensor = sensors->list; sensor < sensors->list + sensors->count;
         sensor++) {
        if (sensor->kind == kind && sensor->entity == IPMI_ENTITY_ID_SYSTEM_BOARD &&
            !*sensor->event && !ipmi_sensor_is_whole(sensor)) {
            strcpy(sensor->event, event);
            return;
        }
    }
}

int ipmi_sensors_name_events(struct ipmi_sensors *sensors, const char *wanted,
                             struct apapi_error *err)
{
    struct ipmi_sensor *system = wanted ? find_system_power(sensors, wanted) : NULL;
    size_t kept = 0;

    if (wanted && *wanted && !system) {
        return refuse_wanted(sensors, wanted, err);
    }
    for (size_t i = 0; i < sensors->count; i++) {
        sensors->list[i].event[0] = '\0';
    }
    if (system) {
        strcpy(system->event, "ipmi:::SYSTEM_POWER");
    }
    name_board_sensor(sensors, APAPI_KIND_POWER, "ipmi:::BOARD_POWER");
    name_board_sensor(sensors, APAPI_KIND_TEMPERATURE, "ipmi:::SYSTEM_TEMP");
    for (size_t i = 0; i < sensors->count; i++) {
        if (!*sensors->list[i].event) {
            name_by_sensor(sensors, &sensors->list[i]);
        }
    }
    for (size_t i = 0; i < sensors->count; i++) {
        const char *event = sensors->list[i].event;

        if (!strchr(event + strlen("ipmi:::"), ':') || wanted_events_name(event)) {
            sensors->list[kept++] = sensors->list[i];
        }
    }
    sensors->count = kept;
    return 0;
}
