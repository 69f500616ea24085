/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/live_page.h"

#include <math.h>

static void live_page_forget(struct apapi_live_slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        slots[i].total = NAN;
        slots[i].rate = NAN;
    }
}

void live_page_init(struct apapi_live_page *page)
{
    struct apapi_live_head *head = &page->head;

    memcpy(head->magic, APAPI_LIVE_MAGIC, sizeof head->magic);
    head->version = APAPI_LIVE_VERSION;
    head->size = sizeof *page;
    live_page_forget(page->domains, APAPI_LIVE_DOMAINS);
    live_page_forget(page->events, APAPI_LIVE_EVENTS);
}
