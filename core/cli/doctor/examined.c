/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ways of a component come to together. */
#include <errno.h>

#include "cli/doctor/doctor.h"

bool way_works(const struct examined_way *way)
{
    const struct finding *mine = &way->mine;

    return mine->known && mine->error == 0 && mine->trouble_count < mine->events;
}

bool examined_is_estimate(const struct examined *component)
{
    bool estimate = false;

    for (size_t i = 0; i < component->way_count; i++) {
        if (way_works(&component->ways[i]) && !component->ways[i].mine.estimated) {
            return false;
        }
        estimate |= component->ways[i].mine.estimated;
    }
    return estimate;
}

struct readers examined_readers(const struct examined *component, const struct machine *machine)
{
    struct readers readers = {false, false, false};

    for (size_t i = 0; i < component->way_count; i++) {
        const struct examined_way *way = &component->ways[i];
        bool works = way_works(way);

        readers.me |= works;
        readers.ordinary |= works && way->ordinary.known && way->ordinary.error == 0;
        readers.root |= works || (machine->uid != 0 && way->mine.error == EACCES);
    }
    return readers;
}

bool finding_matters(const struct examined *component, const struct finding *finding,
                     const struct machine *machine)
{
    struct readers readers = examined_readers(component, machine);

    return finding->error && !readers.me && (!readers.root || finding->error == EACCES);
}
