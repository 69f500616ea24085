/* SPDX-License-Identifier: BSD-3-Clause */
/* Which GPUs, and which slices of them, a step has: by its live page, and what it is given for
 * them. */
#include "apapi/live.h"
#include "unit/node_fixture.h"

/* A GPU of a step's page. */
struct shown {
    const char *name;
    uint32_t slices, slices_all;
};

/* `job` has these GPUs; a name of NULL ends them. */
static void put_page(unsigned job, const struct shown *shown)
{
    struct apapi_live_page *page = calloc(1, sizeof *page);
    char name[64];

    assert_non_null(page);
    memcpy(page->head.magic, APAPI_LIVE_MAGIC, sizeof page->head.magic);
    for (; shown->name; shown++) {
        struct apapi_live_event *event = &page->names[page->head.event_count++];

        snprintf(event->name, sizeof event->name, "%s", shown->name);
        event->domain = APAPI_DOMAIN_GPU;
        event->slices = shown->slices;
        event->slices_all = shown->slices_all;
    }
    snprintf(name, sizeof name, "/live/n1/1000/%u.0", job);
    put_bytes(name, page, sizeof *page);
    free(page);
}

NODE(a_page_shows_gpus_and_slices)
{
    static const struct shown shown[] = {{"nvml:::NVIDIA_A100:device_0:energy", 3, 7},
                                         {"nvml:::NVIDIA_A100:device_2:energy", 0, 0},
                                         {"nvml:::NVIDIA_A100:device_9:energy", 8, 7},
                                         {"nvml:::NVIDIA_A100:device_10:energy", 300, 301},
                                         {"nvml:::NVIDIA_A100:device_99:energy", 1, 7},
                                         {NULL, 0, 0}};
    struct node_gpus gpus;

    put_page(7, shown);
    node_gpus_of(folder, 7, "0", &gpus);
    assert_int_equal(gpus.bits, 1 | 4 | 1 << 9 | 1 << 10);
    assert_int_equal(gpus.slices[0], 3);
    assert_int_equal(gpus.slices_all[0], 7);
    for (int i = 1; i < NODE_GPUS; i++) { /* whole ones, and sizes that no GPU can have */
        assert_int_equal(gpus.slices[i], 0);
        assert_int_equal(gpus.slices_all[i], 0);
    }
    node_gpus_of(folder, 8, "0", &gpus);
    assert_int_equal(gpus.bits, 0);
}

static void add_gpu(double gpu_j)
{
    struct node_reading reading = reading_of(1, NAN);

    reading.gpus = 1;
    reading.energy_j[APAPI_DOMAIN_GPU] = reading.gpu_energy_j[0] = gpu_j;
    node_shares_add(shares, &reading);
}

static void assert_given(unsigned job, double energy_j)
{
    assert_near(row_of(job, "0").energy_j[APAPI_DOMAIN_GPU], energy_j);
    assert_true(row_of(job, "0").flags & SHARE_ROW_SLICES);
}

/* Of 7 slices, one step has 3 and another one 1; what nobody has is idle. */
NODE(energy_goes_by_slices)
{
    static const struct shown three[] = {{"nvml:::A100:device_0:energy", 3, 7}, {NULL, 0, 0}};
    static const struct shown one[] = {{"nvml:::A100:device_0:energy", 1, 7}, {NULL, 0, 0}};

    put_step("job_7/step_0", 0, "0\n");
    put_step("job_8/step_0", 0, "1\n");
    put_page(7, three);
    put_page(8, one);
    add_gpu(70);
    assert_given(7, 30);
    assert_given(8, 10);
    end_sampler();
    begin_sampler(); /* another node sampler goes on */
    add_gpu(7);
    assert_given(7, 33);
    assert_given(8, 11);
}
