/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/load.h"

#include "base/thread.h"

static void *load_spin(void *context)
{
    const struct load *load = context;

    while (!atomic_load_explicit(&load->over, memory_order_relaxed)) {
    }
    return NULL;
}

int load_begin(struct load *load, size_t count)
{
    atomic_init(&load->over, false);
    for (load->count = 0; load->count < count; load->count++) {
        if (thread_start(&load->threads[load->count], load_spin, load)) {
            load_end(load);
            return -1;
        }
    }
    return 0;
}

void load_end(struct load *load)
{
    atomic_store(&load->over, true);
    while (load->count > 0) {
        pthread_join(load->threads[--load->count], NULL);
    }
}
