/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the events of a BMC's sensors. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/count_of.h"
#include "sources/ipmi/ipmi_sensors.h"

/* Letters and digits of the manufacturers' names for the sensor of the whole machine. */
static const char *const whole_names[] = {
    "systempower",   "syspower",       "systempwr",        "syspwr",        "totalpower",
    "totalpwr",      "systotalpower",  "totsyspower",      "powermeter",    "powerconsumption",
    "pwconsumption", "pwrconsumption", "systemlevel",      "nodepower",     "nodepwr",
    "serverpower",   "sysinputpower",  "systeminputpower", "syspwrmonitor", "syspowermonitor"};

static void fold_name(const char *name, char folded[IPMI_NAME_SIZE])
{
    size_t length = 0;

    for (; *name; name++) {
        if (isalnum((unsigned char)*name)) {
            folded[length++] = (char)tolower((unsigned char)*name);
        }
    }
    folded[length] = '\0';
}

bool ipmi_sensor_is_whole(const struct ipmi_sensor *sensor)
{
    char folded[IPMI_NAME_SIZE];

    fold_name(sensor->name, folded);
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
    size_t used = 0;

    for (size_t i = 0; i < sensors->count && used < sizeof names; i++) {
        if (sensors->list[i].kind == APAPI_KIND_POWER) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'", used ? ", " : "",
                                     sensors->list[i].name);
        }
    }
    return apapi_fail(err, EINVAL,
                      "system_power is '%s', expected dcmi or a power sensor of this BMC: %s",
                      wanted, *names ? names : "it has none");
}

/* Letters with a meaning in event lists become '_'. */
static void append_name(char *event, size_t size, const char *name)
{
    size_t used = strlen(event);

    for (; *name && used + 1 < size; name++) {
        bool plain = isalnum((unsigned char)*name) || strchr("_-+./", *name);

        event[used++] = plain ? *name : '_';
    }
    event[used] = '\0';
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

static void name_by_sensor(const struct ipmi_sensors *sensors, struct ipmi_sensor *sensor)
{
    char event[APAPI_NAME_SIZE];
    size_t length;

    snprintf(event, sizeof event,
             "ipmi:::%s:", sensor->kind == APAPI_KIND_POWER ? "POWER" : "TEMP");
    append_name(event, sizeof event, sensor->name);
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
    return 0;
}
