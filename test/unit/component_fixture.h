/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_COMPONENT_FIXTURE_H
#define UNIT_COMPONENT_FIXTURE_H
/* A component of a source that is the test's own. */
#include "session/component.h"
#include "unit/unit.h"

static inline void attach_component(struct component *component, const char *name,
                                    struct apapi_reader *reader,
                                    const struct component_settings *settings)
{
    component_begin(component, name, settings);
    assert_int_equal(component_adopt(component, reader), 0);
}

#endif
