/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/scene.h"

#include <string.h>

#define MS 1e6
#define S 1e9
#define RAPL_J 61.03515625e-6
#define PHASE_NS 100000000

struct power *scene_power(struct scene *scene)
{
    return &scene->history.powers[APAPI_DOMAIN_PACKAGE][0];
}

void scene_set_interval(struct scene *scene, double least_ns, double most_ns, struct random *random)
{
    uint64_t interval_ns = random_scale(random, least_ns, most_ns);

    scene_component(scene)->interval_ns =
        scene->fixed_interval_ns ? scene->fixed_interval_ns : interval_ns;
}

void scene_begin(struct scene *scene, uint64_t fixed_interval_ns, struct random *random)
{
    struct history_component *component = scene_component(scene);
    struct history_meter *meter = scene_meter(scene);

    memset(&scene->history, 0, sizeof scene->history);
    scene->start_ns = 0;
    scene->fixed_interval_ns = fixed_interval_ns;
    scene->history.component_count = 1;
    power_init(scene_power(scene), scene->parts, SCENE_PARTS);
    component->read_ns = random_scale(random, 5e3, 1e5);
    component->open_ns = MS;
    component->event_count = 1;
    *meter = (struct history_meter){.domain = APAPI_DOMAIN_PACKAGE,
                                    .scale = RAPL_J,
                                    .range_max = UINT32_MAX,
                                    .update_ns = MS,
                                    .stated_ns = MS};
    meter->offset_j = random_share(random) * (double)meter->range_max * meter->scale;
    scene_set_interval(scene, 5 * MS, S, random);
    scene->length_ns = random_scale(random, 5 * MS, 60 * S);
}

void scene_make_gauge(struct scene *scene)
{
    *scene_meter(scene) = (struct history_meter){
        .domain = APAPI_DOMAIN_PACKAGE, .gauge = true, .scale = 1e-3, .update_ns = 1};
}

void scene_end(struct scene *scene, struct random *random)
{
    struct history_meter *meter = scene_meter(scene);

    meter->phase_ns = random_below(random, meter->update_ns);
    scene->start_ns = PHASE_NS + random_below(random, scene_power(scene)->period_ns);
}
