/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_IPMI_SENSORS_H
#define APAPI_SOURCES_IPMI_SENSORS_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/event.h"
#include "sources/ipmi/ipmi_library.h"
#include "sources/ipmi/ipmi_settings.h"

/** A sensor of power or temperature, from the BMC's sensor data records (SDR). */
struct ipmi_sensor {
    uint8_t record[IPMI_SDR_MAX_RECORD_LENGTH]; /* as the BMC gave it */
    unsigned record_size;
    char name[IPMI_NAME_SIZE]; /* the BMC's name for it: "Inlet Temp" */
    enum apapi_kind kind;      /* APAPI_KIND_POWER or APAPI_KIND_TEMPERATURE */
    uint8_t unit;              /* IPMI_SENSOR_UNIT_... */
    uint8_t entity, instance;  /* the entity that it belongs to */
    char event[APAPI_NAME_SIZE];
};

struct ipmi_sensors {
    struct ipmi_sensor *list;
    size_t count, room;
};

/**
 * Read the BMC's records. Leaves no file behind and trusts none.
 * @param choice  which sensors are wanted
 * @param sensors  all zero; call ipmi_sensors_clear() in any case
 * @return 0; -1 with errno EIO, ENOMEM.
 */
int ipmi_sensors_find(const struct ipmi_library *library, ipmi_ctx_t bmc, enum ipmi_choice choice,
                      struct ipmi_sensors *sensors, struct apapi_error *err);

void ipmi_sensors_clear(struct ipmi_sensors *sensors);

/** Whether it is, by its name, a sensor of the whole machine. */
bool ipmi_sensor_is_whole(const struct ipmi_sensor *sensor);

/**
 * Name the events of the sensors: SYSTEM_POWER at most once, the board's own power BOARD_POWER, the
 * board's first temperature SYSTEM_TEMP, others POWER:<name> and TEMP:<name>; no name twice.
 * @param wanted  name of the sensor of the whole system; "": one with a known name; NULL: none
 * @return 0; -1 with errno EINVAL: no sensor of power has the wanted name.
 */
int ipmi_sensors_name_events(struct ipmi_sensors *sensors, const char *wanted,
                             struct apapi_error *err);

/** @return a reading of unit IPMI_SENSOR_UNIT_... converted to W or degrees Celsius. */
double ipmi_reading_in_si(double reading, uint8_t unit);

#endif
