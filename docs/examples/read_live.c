/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has been measured so far of the step that this program runs in:
 *     srun --apapi=rapl ./read_live
 * Or of another step: ./read_live PAGE
 */
#include <apapi/live.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct apapi_error err;
    const struct apapi_live_page *page = apapi_live_open(argc > 1 ? argv[1] : NULL, &err);

    if (!page) {
        fprintf(stderr, "%s\n", err.text);
        return EXIT_FAILURE;
    }
    if (page->head.job != UINT32_MAX) { /* atime has no job */
        printf("step %u.%s on %s\n", page->head.job, page->head.step, page->head.node);
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        struct apapi_live_slot slot;

        if (apapi_live_read(&page->domains[d], &slot) && (slot.flags & APAPI_LIVE_MEASURED)) {
            printf("%s %.3f J, %.1f W\n", apapi_domain_name((enum apapi_domain)d), slot.total,
                   slot.rate);
        }
    }
    for (uint32_t i = 0; i < apapi_live_event_count(page); i++) {
        struct apapi_live_slot slot;

        if (apapi_live_read(&page->events[i], &slot)) {
            printf("%s %.3f %s\n", page->names[i].name, slot.total, page->names[i].unit);
        }
    }
    apapi_live_close(page);
    return EXIT_SUCCESS;
}
