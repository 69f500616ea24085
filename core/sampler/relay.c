/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/relay.h"

#include <string.h>

#include "sources/node/node_source.h"
#include "sources/sources.h"

void relay_use(const struct step *step)
{
    const char *readings = source_setting("node", "readings");
    bool off = readings && strcmp(readings, "off") == 0;

    node_source_use(*step->config.live_dir && !off ? step->config.live_dir : NULL, step->id.node);
}
