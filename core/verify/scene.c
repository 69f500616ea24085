/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/scene.h"

#include <string.h>

#define MS 1e6
#define S 1e9
#define RAPL_J 61.03515625e-6
#define LEAD_NS 100000000 /* the source has been opened by then */

struct power *scene_add_counter(struct scene *scene, enum apapi_domain domain, unsigned socket)
{
    struct history_component *component = scene_component(scene);
    struct history_meter *meter = &component->meters[component->event_count];
    struct power *power = &scene->history.powers[domain][socket];

    *meter = (struct history_meter){.domain = domain,
                                    .socket = socket,
                                    .scale = RAPL_J,
                                    .range_max = UINT32_MAX,
                                    .update_ns = (uint64_t)MS,
                                    .stated_ns = (uint64_t)MS};
    meter->offset_j = random_share(scene->random) * (double)meter->range_max * meter->scale;
    power_init(power, scene->parts[component->event_count], SCENE_PARTS);
    component->event_count++;
    return power;
}

void scene_set_interval(struct scene *scene, double least_ns, double most_ns)
{
    uint64_t interval_ns = random_scale(scene->random, least_ns, most_ns);

    scene_component(scene)->interval_ns =
        scene->fixed_interval_ns ? scene->fixed_interval_ns : interval_ns;
}

void scene_begin(struct scene *scene, uint64_t fixed_interval_ns, struct random *random)
{
    struct history_component *component = scene_component(scene);

    memset(&scene->history, 0, sizeof scene->history);
    scene->start_ns = 0;
    scene->fixed_interval_ns = fixed_interval_ns;
    scene->random = random;
    scene->history.component_count = 1;
    component->read_ns = random_scale(random, 5e3, 1e5);
    component->open_ns = (uint64_t)MS;
    scene_add_counter(scene, APAPI_DOMAIN_PACKAGE, 0);
    scene_set_interval(scene, MS, S);
    scene->length_ns = random_scale(random, 5 * MS, 60 * S);
}

double scene_energy_j(const struct scene *scene, uint64_t from_ns, uint64_t to_ns)
{
    const struct history_component *component = &scene->history.components[0];
    double energy_j = 0;

    for (size_t i = 0; i < component->event_count; i++) {
        const struct history_meter *meter = &component->meters[i];
        const struct power *power = &scene->history.powers[meter->domain][meter->socket];

        energy_j += power_energy_j(power, to_ns) - power_energy_j(power, from_ns);
    }
    return energy_j;
}

void scene_make_gauge(struct scene *scene)
{
    *scene_meter(scene) = (struct history_meter){
        .domain = APAPI_DOMAIN_PACKAGE, .gauge = true, .scale = 1e-3, .update_ns = 1};
}

void scene_set_start(struct scene *scene)
{
    struct history_component *component = scene_component(scene);

    for (size_t i = 0; i < component->event_count; i++) {
        component->meters[i].phase_ns = random_below(scene->random, component->meters[i].update_ns);
    }
    scene->start_ns = LEAD_NS + random_below(scene->random, scene_power(scene)->period_ns);
}
