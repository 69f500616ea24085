/* SPDX-License-Identifier: BSD-3-Clause */
/* List the events of components and their present values: ./list_events COMPONENT... */
#include <apapi/catalog.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print(struct apapi_reader *reader)
{
    struct apapi_reading *readings = calloc(reader->count + 1, sizeof *readings);

    if (!readings) {
        return -1;
    }
    apapi_catalog_read(reader, readings);
    for (size_t i = 0; i < reader->count; i++) {
        const struct apapi_event *event = &reader->events[i];

        printf("%s %s %s ", event->name, apapi_kind_name(event->kind),
               apapi_domain_name(event->domain));
        if (readings[i].error) {
            printf("%s\n", strerror(readings[i].error));
        } else {
            printf("%.3f %s\n", apapi_event_value(event, readings[i].raw), event->unit);
        }
    }
    free(readings);
    return 0;
}

int main(int argc, char **argv)
{
    int status = EXIT_SUCCESS;

    for (int i = 1; i < argc; i++) {
        apapi_catalog_want(argv[i]);
    }
    for (int i = 1; i < argc; i++) {
        struct apapi_error err;
        struct apapi_reader *reader = apapi_catalog_open(argv[i], NULL, &err);

        if (!reader || print(reader)) {
            fprintf(stderr, "%s: %s\n", argv[i], reader ? strerror(errno) : err.text);
            status = EXIT_FAILURE;
        } else {
            printf("%s is read from %s\n", argv[i], reader->detail);
        }
        apapi_catalog_close(reader);
    }
    return status;
}
