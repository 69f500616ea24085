/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as JSON, as jansson reads it, and as a record, which comes back when it is written. */
#include "apapi/record.h"
#include "fuzz/fuzz.h"
#include "json_referee.h"

static void write_and_read(const struct apapi_record *record)
{
    struct apapi_record again;
    struct apapi_error err = {""};
    char *line;

    REQUIRE(apapi_record_encode(record, &line, NULL) == 0);
    if (apapi_record_decode(line, strlen(line), &again, &err)) {
        fprintf(stderr, "%s\n%s\n", line, err.text);
        abort();
    }
    REQUIRE(strcmp(again.id.node, record->id.node) == 0);
    REQUIRE(again.measurement.component_count == record->measurement.component_count);
    apapi_record_clear(&again);
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    static struct tree tree;
    char *text = fuzz_string(input, size);
    struct apapi_record record;

    REQUIRE(referee_agrees(&tree, text, size));
    if (apapi_record_decode(text, size, &record, NULL) == 0) {
        write_and_read(&record);
        apapi_record_clear(&record);
    }
    free(text);
    return 0;
}
