// SPDX-License-Identifier: BSD-3-Clause
// C++ programs include every public header.
#include "apapi/catalog.h"
#include "apapi/error.h"
#include "apapi/event.h"
#include "apapi/events.h"
#include "apapi/interval.h"
#include "apapi/job.h"
#include "apapi/live.h"
#include "apapi/measurement.h"
#include "apapi/record.h"
#include "apapi/scan.h"
#include "apapi/session.h"
#include "apapi/source.h"
#include "apapi/timeline.h"

double energy_of(const apapi_live_page *page);

double energy_of(const apapi_live_page *page)
{
    apapi_live_slot slot = apapi_live_slot();

    return apapi_live_read(&page->domains[APAPI_DOMAIN_PACKAGE], &slot)
               ? apapi_live_energy_at_j(&slot, slot.time_ns)
               : 0;
}
