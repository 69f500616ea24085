/* SPDX-License-Identifier: BSD-3-Clause */
/* Which GPUs a list selects. */
#include "sources/gpu/gpu.h"
#include "unit/unit.h"

#define GPUS 4

/* Four GPUs; the device files are in another order than the PCI addresses; the last has MIG parts.
 */
static void make_gpus(struct gpu_device gpus[GPUS])
{
    static const char *const uuids[GPUS] = {
        "GPU-aaaa1111-0000-0000-0000-000000000000", "GPU-aaaa2222-0000-0000-0000-000000000000",
        "GPU-bbbb3333-0000-0000-0000-000000000000", "GPU-cccc4444-0000-0000-0000-000000000000"};

    for (unsigned i = 0; i < GPUS; i++) {
        gpus[i] = (struct gpu_device){.index = i, .minor = (int)(GPUS - 1 - i)};
        strcpy(gpus[i].uuid, uuids[i]);
    }
}

static bool find_part(const struct gpu_device *device, const char *uuid, struct gpu_part *part)
{
    static const char *const parts[] = {"MIG-11112222-0000", "MIG-11113333-0000",
                                        "MIG-44445555-0000"};
    static const struct gpu_part sizes[] = {{3, 7}, {1, 7}, {0, 0}};

    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (device->index == 3 && strncmp(parts[i], uuid, strlen(uuid)) == 0) {
            *part = sizes[i];
            return true;
        }
    }
    return false;
}

static void forget(void)
{
    unsetenv("APAPI_GPUS");
    unsetenv("APAPI_SLURM_GPUS");
    unsetenv("SLURM_STEP_GPUS");
    unsetenv("SLURM_JOB_GPUS");
    unsetenv("APAPI_GPUS_ORDER");
}

/* "0.2." for the first and the third of four. */
static void chosen(const struct gpu_device gpus[GPUS], char text[GPUS + 1])
{
    for (size_t i = 0; i < GPUS; i++) {
        text[i] = gpus[i].chosen ? (char)('0' + i) : '.';
    }
    text[GPUS] = '\0';
}

static void assert_choice(const char *list, const char *expected)
{
    struct gpu_device gpus[GPUS];
    struct apapi_error err = {""};
    char text[GPUS + 1];

    make_gpus(gpus);
    if (gpu_select(gpus, GPUS, find_part, &err)) {
        fail_msg("%s: %s", list, err.text);
    }
    chosen(gpus, text);
    assert_string_equal(text, expected);
}

static void assert_refused(const char *list, int error, const char *says)
{
    struct gpu_device gpus[GPUS];
    struct apapi_error err = {""};

    make_gpus(gpus);
    assert_int_equal(gpu_select(gpus, GPUS, find_part, &err), -1);
    if (errno != error || !strstr(err.text, says)) {
        fail_msg("'%s': %s: %s", list, strerror(errno), err.text);
    }
}

#define PREPARED(name) TEST_WITH(name, NULL, forget)

PREPARED(all_where_nobody_chooses)
{
    assert_choice("", "0123");
    assert_null(gpu_list());
    setenv("APAPI_GPUS", "", 1);
    assert_choice("", "0123");
    setenv("APAPI_GPUS", "all", 1);
    assert_choice("all", "0123");
    assert_null(gpu_list());
}

PREPARED(what_lists_mean)
{
    static const struct {
        const char *list, *expected;
    } cases[] = {
        {"0", "0..."},
        {"0,2", "0.2."},
        {"2,0", "0.2."},
        {" 1 , 3 ", ".1.3"},
        {"1-3", ".123"},
        {"0-0,2-3", "0.23"},
        {"0,0", "0..."},
        {"0-3", "0123"},
        {"GPU-bbbb3333-0000-0000-0000-000000000000", "..2."},
        {"gpu-BBBB", "..2."},
        {"GPU-aaaa1,GPU-c", "0..3"},
        {"GPU-b,0", "0.2."},
        {"MIG-11112222-0000", "...3"},
        {"MIG-1111", "...3"},
        {"MIG-11112222-0000,MIG-11113333-0000", "...3"},
        {"MIG-GPU-aaaa2222-0000-0000-0000-000000000000/1/0", ".1.."},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setenv("APAPI_GPUS", cases[i].list, 1);
        assert_choice(cases[i].list, cases[i].expected);
    }
}

PREPARED(what_is_refused)
{
    static const struct {
        const char *list;
        int error;
        const char *says;
    } cases[] = {
        {"4", ENODEV, "APAPI_GPUS: there is no GPU '4' among the 4 here"},
        {"0,4", ENODEV, "'4'"},
        {"2-5", ENODEV, "'2-5'"},
        {"99999999999999999999", EINVAL, "'99999999999999999999' names no GPU"},
        {"GPU-d", ENODEV, "'GPU-d'"},
        {"GPU-aaaa", EINVAL, "'GPU-aaaa' fits more than one GPU"},
        {"MIG-9", ENODEV, "'MIG-9'"},
        {"MIG-GPU-dddd/1/0", ENODEV, "'MIG-GPU-dddd/1/0'"},
        {"none", ENODEV, "APAPI_GPUS=none"},
        {"x", EINVAL,
         "'x' names no GPU; valid: all, or 0, 0-3, GPU-..., MIG-... separated by commas"},
        {"3-1", EINVAL, "'3-1'"},
        {"1-", EINVAL, "'1-'"},
        {"-1", EINVAL, "'-1'"},
        {"0x1", EINVAL, "'0x1'"},
        {"0,,1", EINVAL, "''"},
        {"GPU-", EINVAL, "'GPU-'"},
        {"GPU", EINVAL, "'GPU'"},
        {"0;1", EINVAL, "'0;1'"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setenv("APAPI_GPUS", cases[i].list, 1);
        assert_refused(cases[i].list, cases[i].error, cases[i].says);
    }
}

PREPARED(the_first_place_counts)
{
    setenv("SLURM_JOB_GPUS", "3", 1);
    assert_choice("job", "...3");
    setenv("SLURM_STEP_GPUS", "2", 1);
    assert_choice("step", "..2.");
    assert_int_equal(apapi_source_set("slurm", "gpus", "1"), 0);
    assert_choice("setting", ".1..");
    assert_int_equal(apapi_source_set("slurm", "gpus", "none"), 0);
    assert_refused("none", ENODEV, "the step has no GPU");
    setenv("APAPI_GPUS", "0", 1);
    assert_choice("own", "0...");
    setenv("APAPI_GPUS", "all", 1);
    assert_choice("all", "0123");
    assert_int_equal(apapi_source_set("slurm", "gpus", ""), 0);
}

PREPARED(minor_numbers_where_the_site_says_so)
{
    setenv("SLURM_STEP_GPUS", "0,1", 1);
    assert_choice("index", "01..");
    setenv("APAPI_GPUS_ORDER", "minor", 1);
    assert_choice("minor", "..23");
}

/* In a step with constrained devices, the library numbers visible GPUs from 0. */
PREPARED(slurm_shows_only_the_steps_gpus)
{
    setenv("SLURM_STEP_GPUS", "4-6,1", 1);
    assert_choice("hidden", "0123");
    setenv("SLURM_STEP_GPUS", "4,5,1", 1);
    assert_refused("hidden", ENODEV, "SLURM_STEP_GPUS: there is no GPU '4'");
    setenv("APAPI_GPUS", "4-6,1", 1);
    assert_refused("own", ENODEV, "APAPI_GPUS");
}

PREPARED(parts_are_noted)
{
    struct gpu_device gpus[GPUS];

    make_gpus(gpus);
    setenv("APAPI_GPUS", "0,MIG-1111", 1);
    assert_int_equal(gpu_select(gpus, GPUS, find_part, NULL), 0);
    assert_false(gpus[0].by_part);
    assert_true(gpus[3].by_part);
    make_gpus(gpus);
    assert_int_equal(gpu_select(gpus, GPUS, NULL, NULL), -1);
}

PREPARED(slices_of_parts_are_added_up)
{
    static const struct {
        const char *list;
        unsigned slices, slices_all;
    } cases[] = {{"MIG-11112222", 3, 7},
                 {"MIG-11112222,MIG-11113333", 4, 7},
                 {"MIG-44445555", 0, 0}, /* an old driver does not say */
                 {"MIG-44445555,MIG-11113333", 0, 0},
                 {"MIG-11113333,MIG-44445555", 0, 0},
                 {"MIG-GPU-cccc4444/1/0", 0, 0},
                 {"3", 0, 0}};
    struct gpu_device gpus[GPUS];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        make_gpus(gpus);
        setenv("APAPI_GPUS", cases[i].list, 1);
        assert_int_equal(gpu_select(gpus, GPUS, find_part, NULL), 0);
        assert_int_equal(gpus[3].slices, cases[i].slices);
        assert_int_equal(gpus[3].slices_all, cases[i].slices_all);
    }
}

int main(void)
{
    forget();
    return unit_run();
}
