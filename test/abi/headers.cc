// SPDX-License-Identifier: BSD-3-Clause
// A C++ program uses constants and inline functions of the public headers.
#include <apapi/live.h>
#include <apapi/session.h>

double energy_of(const apapi_live_page *page);
apapi_session *session_of(const char *components);

double energy_of(const apapi_live_page *page)
{
    apapi_live_slot slot = apapi_live_slot();

    return apapi_live_read(&page->domains[APAPI_DOMAIN_PACKAGE], &slot)
               ? apapi_live_energy_at_j(&slot, slot.time_ns)
               : 0;
}

apapi_session *session_of(const char *components)
{
    apapi_session_config config = apapi_session_config();

    config.components = components;
    config.patience_ns = APAPI_STOP_WAIT_NS;
    return apapi_session_create(&config, nullptr);
}
