/* SPDX-License-Identifier: BSD-3-Clause */
#include "helpers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "unit/unit.h"

#define RANGE 4

/* RANGE free ports in a row. */
static uint16_t find_range(void)
{
    for (uint16_t first = 20000; first < 32000; first += RANGE) {
        uint16_t port;
        int taken = 0;

        for (uint16_t i = 0; i < RANGE; i++) {
            int fd = spank_apapi_listen(first + i, first + i, &port, &why);

            taken += fd < 0;
            if (fd >= 0) {
                close(fd);
            }
        }
        if (taken == 0) {
            return first;
        }
    }
    fail_msg("no free ports");
    return 0;
}

TEST(a_range_is_used_up)
{
    uint16_t first = find_range(), ports[RANGE + 1];
    struct apapi_error err = {""};
    int fds[RANGE];

    for (int i = 0; i < RANGE; i++) {
        fds[i] = spank_apapi_listen(first, first + RANGE - 1, &ports[i], &err);
        assert_true(fds[i] >= 0);
        assert_true(ports[i] >= first && ports[i] < first + RANGE);
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(ports[i], ports[k]);
        }
    }
    ports[RANGE] = 7;
    assert_fails(EADDRINUSE, spank_apapi_listen(first, first + RANGE - 1, &ports[RANGE], &err));
    assert_int_equal(ports[RANGE], 7);
    assert_contains(err.text, "no port of SrunPortRange=");
    close(fds[2]);
    fds[2] = spank_apapi_listen(first, first + RANGE - 1, &ports[RANGE], &err);
    assert_true(fds[2] >= 0);
    assert_int_equal(ports[RANGE], ports[2]);
    for (int i = 0; i < RANGE; i++) {
        close(fds[i]);
    }
}
