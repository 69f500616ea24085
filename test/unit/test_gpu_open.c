/* SPDX-License-Identifier: BSD-3-Clause */
/* How sources for GPUs start, which GPUs they use, and what they leave open. */
#include <fcntl.h>

#include "sources/sources.h"
#include "unit/gpu_fixture.h"

#define CLEANED(name) TEST_WITH(name, make, clean)

CLEANED(a_gpu_that_is_lost_already)
{
    struct apapi_reader *reader;

    write_spec("gpu fail=DeviceGetHandleByIndex_v2:15\ngpu\n");
    reader = open_vendor(&nvidia);
    assert_true(find(reader, nvidia.energy, 1) >= 0);
    assert_string_equal(reader->detail, "NVML 12.535.104.05, 1 GPU not measured");
    reader->source->close(reader);
    write_spec("gpu fail=*:15\n");
    assert_not_opened(&nvidia, ENODEV, "GPU 0: No such device");
    write_spec("gpu fail=*:4\n");
    assert_not_opened(&nvidia, EACCES, "GPU 0: Permission denied");
}

CLEANED(why_there_is_nothing)
{
    write_spec("library fail=Init_v2:9\n");
    assert_not_opened(&nvidia, ENODEV, "NVML does not start: Driver Not Loaded");
    write_spec("library fail=init:8\n");
    assert_not_opened(&rocm_smi, EIO, "ROCm SMI does not start: status 8");
    write_spec("");
    for (size_t v = 0; v < VENDORS; v++) {
        assert_not_opened(vendors[v], ENODEV, "no GPU");
    }
}

CLEANED(without_the_kernels_driver_amds_libraries_are_left_alone)
{
    write_spec("gpu\n");
    setenv("APAPI_SYSROOT", "/nonexistent", 1);
    assert_not_opened(&rocm_smi, ENODEV, "there is no /sys/class/kfd");
    assert_not_opened(&amd_smi, ENODEV, "there is no /sys/class/kfd");
    setenv("APAPI_SYSROOT", tree.root, 1);
}

CLEANED(a_mig_part_stands_for_the_whole_gpu)
{
    static const char *const lists[] = {"MIG-0123", "MIG-GPU-00000001/3/0"};
    static const unsigned slices[] = {3, 0};

    write_spec("gpu\ngpu mig=MIG-01234567-89ab:3 mig=MIG-89abcdef-0123\n");
    for (size_t i = 0; i < 2; i++) {
        struct apapi_reader *reader;

        setenv("APAPI_GPUS", lists[i], 1);
        reader = open_vendor(&nvidia);
        assert_int_equal(find(reader, nvidia.energy, 0), -1);
        assert_true(find(reader, nvidia.energy, 1) >= 0);
        assert_string_equal(reader->detail, "NVML 12.535.104.05, whole GPU (MIG)");
        assert_int_equal(reader->events[0].slices, slices[i]);
        assert_int_equal(reader->events[0].slices_all, slices[i] ? 7 : 0);
        reader->source->close(reader);
    }
}

CLEANED(each_start_is_undone)
{
    struct apapi_reader *first, *second;
    struct apapi_reading readings[READINGS_MAX];
    char line[128], spec[256];
    int starts = 0, stops = 0;
    FILE *log;

    snprintf(spec, sizeof spec, "library log=%s\ngpu\n", log_path);
    write_spec(spec);
    first = open_vendor(&nvidia);
    second = open_vendor(&nvidia);
    nvidia.source->close(first);
    read_all(second, readings); /* the second one still has its library */
    assert_int_equal(readings[0].error, 0);
    nvidia.source->close(second);
    setenv("APAPI_GPUS", "5", 1);
    assert_not_opened(&nvidia, ENODEV, "'5'");
    log = fopen(log_path, "r");
    assert_non_null(log);
    while (fgets(line, sizeof line, log)) {
        starts += strcmp(line, "Init_v2\n") == 0;
        stops += strcmp(line, "Shutdown\n") == 0;
    }
    fclose(log);
    assert_int_equal(starts, 3);
    assert_int_equal(stops, 3);
}

/* @return how many descriptors would reach a program started now. */
static int count_inherited(void)
{
    int count = 0;

    for (int fd = 0; fd < 256; fd++) {
        int flags = fcntl(fd, F_GETFD);

        count += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return count;
}

CLEANED(no_program_inherits_the_drivers_files)
{
    /* as in a program whose other threads open nothing */
    assert_int_equal(apapi_source_set("descriptors", "close_on_exec", "all"), 0);
    write_spec("gpu\n");
    for (size_t v = 0; v < VENDORS; v++) {
        int before = count_inherited();
        struct apapi_reader *reader = open_vendor(vendors[v]);

        assert_int_equal(count_inherited(), before);
        reader->source->close(reader);
    }
}

#ifdef WITH_PAPI
CLEANED(what_papi_cannot_do_is_not_asked_of_it)
{
    struct apapi_error err = {""};

    write_spec("gpu\n");
    setenv("APAPI_GPUS", "0", 1);
    assert_null(apapi_source_papi_gpu.open("nvml", &err));
    assert_string_equal(err.text, "PAPI's nvml cannot leave GPUs out");
    setenv("APAPI_SYSROOT", "/nonexistent", 1);
    assert_null(apapi_source_papi_gpu.open("rocm_smi", &err));
    assert_non_null(strstr(err.text, "/sys/class/kfd"));
    setenv("APAPI_SYSROOT", tree.root, 1);
}
#endif
