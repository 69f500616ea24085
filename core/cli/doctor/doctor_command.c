/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi doctor: what cannot be read here, why, and how to change that. */
#include "cli/doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/grid.h"

struct doctor_options {
    bool json, slurm;
};

static const struct option_row options[] = {
    {0, "json", NULL, "for programs", TO_FLAG(struct doctor_options, json)},
    {0, "slurm", NULL, "only what Slurm's energy plugin lacks here, see apapi-doctor(1)",
     TO_FLAG(struct doctor_options, slurm)},
    {0}};

static const struct option_table table = {
    .program = "apapi doctor",
    .head = "usage: apapi doctor [OPTION]... [COMPONENT]...\n"
            "Try every way to read a component: whether it works, for whom, why not, and what\n"
            "would help. Every counter is read twice: one that stands still is dead. Without\n"
            "COMPONENT: all components that APAPI knows a way for.\n",
    .foot = "Exit status: 0 you can measure all named components (without names: any), 1 you\n"
            "cannot, 2 wrong usage.\n",
    .column = 17,
    .rows = options};

static void doctor_command_prepare(struct diagnosis *diagnosis, const struct wanted *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const char *name = wanted->components[i].name;
        struct examined *component = &diagnosis->components[diagnosis->count];
        struct apapi_way ways[APAPI_WAYS_MAX];

        if (wanted->named || apapi_catalog_has_route(name)) {
            component->name = name;
            component->way_count = apapi_catalog_ways(name, ways);
            for (size_t k = 0; k < component->way_count; k++) {
                component->ways[k].way = ways[k];
            }
            diagnosis->count++;
        }
    }
}

static void examine_all(struct diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->count; i++) {
        for (size_t k = 0; k < diagnosis->components[i].way_count; k++) {
            examine(&diagnosis->components[i].ways[k]);
        }
    }
}

static int status_of(const struct diagnosis *diagnosis, bool named)
{
    size_t measured = 0;

    for (size_t i = 0; i < diagnosis->count; i++) {
        const struct examined *component = &diagnosis->components[i];
        bool mine = examined_readers(component, &diagnosis->machine).me;

        measured += mine && (named || !examined_is_estimate(component));
    }
    return measured > 0 && (!named || measured == diagnosis->count) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int doctor_command_run(bool json, int count, char *const words[])
{
    static struct diagnosis diagnosis;
    static struct wanted wanted;
    struct apapi_error err;

    if (wanted_parse(count, words, &wanted, &err)) {
        return command_refuse("doctor", err.text);
    }
    machine_look(&diagnosis.machine);
    site_look(&diagnosis.site);
    doctor_command_prepare(&diagnosis, &wanted);
    examine_all(&diagnosis);
    if (!json) {
        doctor_print_text(&diagnosis, terminal_width());
    } else if (doctor_print_json(&diagnosis)) {
        return command_fail("doctor", "no memory");
    }
    return command_finish("doctor", status_of(&diagnosis, wanted.named));
}

int doctor_command(int argc, char **argv)
{
    struct doctor_options chosen = {0};
    int status = command_options(&table, argc, argv, &chosen);

    if (status >= 0) {
        return status;
    }
    if (!chosen.slurm) {
        return doctor_command_run(chosen.json, argc - optind, argv + optind);
    }
    if (chosen.json || optind < argc) {
        return command_refuse("doctor", "--slurm has neither --json nor a COMPONENT");
    }
    return command_finish("doctor", doctor_slurm(terminal_width()) ? EXIT_SUCCESS : EXIT_FAILURE);
}
