/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a BMC's sensors in its sensor data records. */
#include "sources/ipmi/ipmi_sensors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/grow.h"
#include "sources/ipmi/ipmi_id_string.h"
#include "sources/sources.h"

#define ANALOG 0x01 /* event/reading type code of sensors with a threshold: they have a value */

/* The search and its result. */
struct finding {
    const struct ipmi_library *library;
    enum ipmi_choice choice;
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
    case IPMI_SENSOR_UNIT_DEGREES_F:
    case IPMI_SENSOR_UNIT_DEGREES_K:
        *kind = APAPI_KIND_TEMPERATURE;
        return true;
    default:
        return false;
    }
}

static bool parse_units(const struct ipmi_library *library, ipmi_sdr_ctx_t sdr,
                        struct ipmi_sensor *sensor)
{
    uint8_t percentage, modifier, rate, modifier_unit, type;

    return library->ipmi_sdr_parse_event_reading_type_code(sdr, sensor->record, sensor->record_size,
                                                           &type) == 0 &&
           type == ANALOG &&
           library->ipmi_sdr_parse_sensor_units(sdr, sensor->record, sensor->record_size,
                                                &percentage, &modifier, &rate, &sensor->unit,
                                                &modifier_unit) == 0 &&
           percentage == IPMI_SDR_PERCENTAGE_NO && modifier == IPMI_SDR_MODIFIER_UNIT_NONE &&
           rate == IPMI_SENSOR_RATE_UNIT_NONE && kind_of_unit(sensor->unit, &sensor->kind);
}

static bool parse_identity(const struct ipmi_library *library, ipmi_sdr_ctx_t sdr,
                           struct ipmi_sensor *sensor)
{
    uint8_t instance_type;

    ipmi_id_string(sensor->record, sensor->record_size, sensor->name);
    return library->ipmi_sdr_parse_entity_id_instance_type(sdr, sensor->record, sensor->record_size,
                                                           &sensor->entity, &sensor->instance,
                                                           &instance_type) == 0;
}

/* Only full records describe how to compute the value. */
static int add_record(ipmi_sdr_ctx_t sdr, uint8_t type, const void *record, unsigned size,
                      void *context)
{
    const struct finding *finding = context;
    struct ipmi_sensors *sensors = finding->sensors;
    struct ipmi_sensor sensor = {.record_size = size};

    if (type != IPMI_SDR_FORMAT_FULL_SENSOR_RECORD || size > sizeof sensor.record) {
        return 0;
    }
    memcpy(sensor.record, record, size);
    if (!parse_units(finding->library, sdr, &sensor) ||
        (finding->choice != IPMI_ALL_SENSORS && sensor.kind != APAPI_KIND_POWER) ||
        !parse_identity(finding->library, sdr, &sensor)) {
        return 0;
    }
    if (array_add(&sensors->list, sensors->count, &sensors->room, sizeof *sensors->list)) {
        return -1;
    }
    sensors->list[sensors->count++] = sensor;
    return 0;
}

static int ipmi_sensors_read_records(ipmi_ctx_t bmc, ipmi_sdr_ctx_t sdr, struct finding *finding)
{
    const struct ipmi_library *library = finding->library;
    /* FreeIPMI needs a file for the records. No one can plant one without a name. */
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

int ipmi_sensors_find(const struct ipmi_library *library, ipmi_ctx_t bmc, enum ipmi_choice choice,
                      struct ipmi_sensors *sensors, struct apapi_error *err)
{
    struct finding finding = {library, choice, sensors};
    ipmi_sdr_ctx_t sdr = library->ipmi_sdr_ctx_create();
    struct open_files before;
    const char *failure = NULL;

    if (!sdr) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    open_files_note(&before);
    if (ipmi_sensors_read_records(bmc, sdr, &finding)) {
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

double ipmi_reading_in_si(double reading, uint8_t unit)
{
    switch (unit) {
    case IPMI_SENSOR_UNIT_DEGREES_F:
        return (reading - 32) / 1.8;
    case IPMI_SENSOR_UNIT_DEGREES_K:
        return reading - 273.15;
    default:
        return reading;
    }
}
