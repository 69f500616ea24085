/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any text as JSON, as jansson reads it, as a record, which comes back when it is written, and as a
 * line of a node's own record.
 */
#include <errno.h>
#include <math.h>

#include "apapi/record.h"
#include "fuzz/fuzz.h"
#include "json_referee.h"
#include "record/hour.h"

static void write_and_read(const struct apapi_record *record)
{
    struct apapi_record again;
    struct apapi_error err = {""};
    char *line;

    REQUIRE(apapi_record_encode(record, &line, NULL) == 0);
    if (apapi_record_decode(line, strlen(line), &again, &err)) {
        fprintf(stderr, "%s\n%s\n", line, err.text);
        abort();
    }
    REQUIRE(strcmp(again.id.node, record->id.node) == 0);
    REQUIRE(again.measurement.component_count == record->measurement.component_count);
    apapi_record_clear(&again);
    free(line);
}

static bool is_energy(double energy_j)
{
    return isnan(energy_j) || (energy_j >= 0 && isfinite(energy_j));
}

static bool is_sum(const struct hour_sum *sum)
{
    return is_energy(sum->energy_j) && is_energy(sum->steps_j) && is_energy(sum->idle_j) &&
           !isinf(sum->unattributed_j);
}

static void check_hour(const struct hour *hour)
{
    REQUIRE(hour->node[0] != '\0' && hour->end_ns >= hour->start_ns && hour->start_ns >= 0);
    REQUIRE(hour->measured_s >= 0 && isfinite(hour->measured_s));
    REQUIRE(is_sum(&hour->total) && is_sum(&hour->node_meter));
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        REQUIRE(is_sum(&hour->domains[d]));
    }
    REQUIRE(hour->gap_count <= HOUR_GAPS_MAX && hour->gap_total >= hour->gap_count);
    for (size_t i = 0; i < hour->gap_count; i++) {
        REQUIRE(is_energy(hour->gaps[i].elapsed_s));
    }
}

static void fuzz(char *text, size_t size)
{
    static struct tree tree;
    struct apapi_record record;
    struct hour hour = {.steps = 42};
    struct apapi_error err = {""};
    int got;

    REQUIRE(referee_agrees(&tree, text, size));
    if (apapi_record_decode(text, size, &record, NULL) == 0) {
        write_and_read(&record);
        apapi_record_clear(&record);
    }
    got = hour_decode(&tree, text, size, &hour, &err);
    if (got > 0) {
        check_hour(&hour);
    }
    REQUIRE(got >= 0 || ((errno == EINVAL || errno == ENOTSUP) && err.text[0] != '\0'));
}
