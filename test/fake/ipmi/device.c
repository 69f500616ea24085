/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For LD_PRELOAD: a plain file behaves like the kernel's /dev/ipmi0. Its BMC is the one at
 * FAKE_IPMI_BMC (address:port, user and password in FAKE_IPMI_USER, FAKE_IPMI_PASSWORD).
 */
#include <dlfcn.h>
#include <errno.h>
#include <freeipmi/freeipmi.h>
#include <linux/ipmi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define TIMEOUT_MS 2000
#define REQUEST_SIZE 256
#define CIPHER_SUITE 3

static struct {
    ipmi_ctx_t bmc;
    unsigned char answer[REQUEST_SIZE]; /* command, completion code, data */
    int size;
    unsigned char net_fn;
} device;

static int connect_bmc(void)
{
    if (device.bmc) {
        return 0;
    }
    device.bmc = ipmi_ctx_create();
    if (device.bmc &&
        ipmi_ctx_open_outofband_2_0(
            device.bmc, getenv("FAKE_IPMI_BMC"), getenv("FAKE_IPMI_USER"),
            getenv("FAKE_IPMI_PASSWORD"), NULL, 0, IPMI_PRIVILEGE_LEVEL_ADMIN, CIPHER_SUITE,
            TIMEOUT_MS, TIMEOUT_MS / 2, IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_OPEN_SESSION_PRIVILEGE,
            IPMI_FLAGS_DEFAULT) == 0) {
        return 0;
    }
    ipmi_ctx_destroy(device.bmc);
    device.bmc = NULL;
    errno = EIO;
    return -1;
}

static int send_command(const struct ipmi_req *request)
{
    unsigned char command[REQUEST_SIZE] = {request->msg.cmd};

    if (connect_bmc()) {
        return -1;
    }
    memcpy(command + 1, request->msg.data, request->msg.data_len);
    device.net_fn = request->msg.netfn;
    device.size = ipmi_cmd_raw(device.bmc, 0, request->msg.netfn, command,
                               request->msg.data_len + 1U, device.answer, sizeof device.answer);
    if (device.size < 0) {
        ipmi_ctx_destroy(device.bmc);
        device.bmc = NULL;
        errno = EIO;
        return -1;
    }
    return 0;
}

static int receive(struct ipmi_recv *answer)
{
    if (device.size < 2) {
        errno = EAGAIN;
        return -1;
    }
    answer->recv_type = IPMI_RESPONSE_RECV_TYPE;
    answer->msg.netfn = device.net_fn | 1;
    answer->msg.cmd = device.answer[0];
    answer->msg.data_len = (unsigned short)(device.size - 1);
    memcpy(answer->msg.data, device.answer + 1, answer->msg.data_len);
    device.size = 0;
    return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
    static int (*next)(int, unsigned long, ...);
    va_list args;
    void *argument;

    va_start(args, request);
    argument = va_arg(args, void *);
    va_end(args);
    switch (request) {
    case IPMICTL_SET_MY_ADDRESS_CMD:
        return 0;
    case IPMICTL_SEND_COMMAND:
        return send_command(argument);
    case IPMICTL_RECEIVE_MSG_TRUNC:
        return receive(argument);
    default:
        if (!next) {
            *(void **)&next = dlsym(RTLD_NEXT, "ioctl");
        }
        return next(fd, request, argument);
    }
}
