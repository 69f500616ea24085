/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpu_load SECONDS: keep every NVIDIA GPU busy with multiplications. Through the driver's libcuda
 * and a kernel in PTX: no CUDA toolkit is needed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GPUS_MAX 64
#define BLOCKS 2048
#define THREADS 256

/* Each thread multiplies and adds a million times, and stores a result that is not used. */
static const char kernel[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry spin(.param .u64 place)\n{\n"
    "    .reg .f32 %f<3>;\n    .reg .u32 %r<2>;\n    .reg .u64 %rd<3>;\n    .reg .pred %p;\n"
    "    mov.f32 %f0, 0f3F800000;\n    mov.f32 %f1, 0f3F7FFFFF;\n    mov.u32 %r0, 0;\n"
    "again:\n"
    "    fma.rn.f32 %f0, %f0, %f1, %f1;\n    fma.rn.f32 %f0, %f0, %f1, %f0;\n"
    "    fma.rn.f32 %f0, %f0, %f1, %f1;\n    fma.rn.f32 %f0, %f0, %f1, %f0;\n"
    "    add.u32 %r0, %r0, 1;\n    setp.lt.u32 %p, %r0, 250000;\n    @%p bra again;\n"
    "    ld.param.u64 %rd0, [place];\n    cvta.to.global.u64 %rd1, %rd0;\n"
    "    st.global.f32 [%rd1], %f0;\n    ret;\n}\n";

/* The functions of libcuda that are used, named as there without the prefix. */
static struct {
    int (*Init)(unsigned flags);
    int (*DeviceGetCount)(int *count);
    int (*DeviceGet)(int *device, int index);
    int (*CtxCreate)(void **context, unsigned flags, int device);
    int (*CtxSetCurrent)(void *context);
    int (*CtxSynchronize)(void);
    int (*ModuleLoadData)(void **module, const void *image);
    int (*ModuleGetFunction)(void **function, void *module, const char *name);
    int (*MemAlloc)(unsigned long long *place, size_t size);
    int (*LaunchKernel)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        void *stream, void **parameters, void **extra);
} cuda;

static struct gpu {
    void *context, *function;
    unsigned long long place;
} gpus[GPUS_MAX];

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(int code, const char *call)
{
    if (code) {
        fprintf(stderr, "%s: code %d\n", call, code);
        exit(1);
    }
}

static void load_library(void)
{
    static const char *const names[] = {
        "cuInit",          "cuDeviceGetCount", "cuDeviceGet",      "cuCtxCreate_v2",
        "cuCtxSetCurrent", "cuCtxSynchronize", "cuModuleLoadData", "cuModuleGetFunction",
        "cuMemAlloc_v2",   "cuLaunchKernel"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = library ? dlsym(library, names[i]) : NULL;

        if (!address) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        memcpy((char *)&cuda + i * sizeof address, &address, sizeof address);
    }
}

static void prepare(int index, struct gpu *gpu)
{
    void *module;
    int device;

    check(cuda.DeviceGet(&device, index), "cuDeviceGet");
    check(cuda.CtxCreate(&gpu->context, 0, device), "cuCtxCreate");
    check(cuda.ModuleLoadData(&module, kernel), "cuModuleLoadData");
    check(cuda.ModuleGetFunction(&gpu->function, module, "spin"), "cuModuleGetFunction");
    check(cuda.MemAlloc(&gpu->place, 256), "cuMemAlloc");
}

static void launch(struct gpu *gpu)
{
    void *parameters[] = {&gpu->place};

    check(cuda.CtxSetCurrent(gpu->context), "cuCtxSetCurrent");
    check(cuda.LaunchKernel(gpu->function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL),
          "cuLaunchKernel");
}

int main(int argc, char **argv)
{
    double end_s = now_s() + (argc > 1 ? strtod(argv[1], NULL) : 10);
    int count = 0;

    load_library();
    check(cuda.Init(0), "cuInit");
    check(cuda.DeviceGetCount(&count), "cuDeviceGetCount");
    count = count < GPUS_MAX ? count : GPUS_MAX;
    for (int i = 0; i < count; i++) {
        prepare(i, &gpus[i]);
    }
    while (now_s() < end_s) {
        for (int i = 0; i < count; i++) {
            launch(&gpus[i]);
        }
        for (int i = 0; i < count; i++) {
            check(cuda.CtxSetCurrent(gpus[i].context), "cuCtxSetCurrent");
            check(cuda.CtxSynchronize(), "cuCtxSynchronize");
        }
    }
    return 0;
}
