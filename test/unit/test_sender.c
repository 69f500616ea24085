/* SPDX-License-Identifier: BSD-3-Clause */
/* The user of a connection, for listeners that accept anyone. */
#include "gather/receiver.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "unit/unit.h"

static struct sender_origin origin_of(const char *address)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(4711)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(4711)};

    if (strchr(address, ':')) {
        assert_int_equal(inet_pton(AF_INET6, address, &v6.sin6_addr), 1);
        memcpy(&peer, &v6, sizeof v6);
    } else {
        assert_int_equal(inet_pton(AF_INET, address, &v4.sin_addr), 1);
        memcpy(&peer, &v4, sizeof v4);
    }
    return sender_find_origin(-1, &peer);
}

TEST(origins)
{
    static const struct {
        const char *left, *right;
        bool same;
    } cases[] = {
        {"10.0.0.1", "10.0.0.1", true},
        {"10.0.0.1", "10.0.0.2", false},
        {"10.0.0.1", "::ffff:10.0.0.1", true},
        {"::ffff:10.0.0.1", "::ffff:10.0.0.2", false},
        {"127.0.0.1", "127.255.3.4", true},
        {"127.0.0.1", "::ffff:127.7.7.7", true},
        {"127.0.0.1", "::1", true},
        {"127.0.0.1", "126.0.0.1", false},
        {"fd00:1:2:3::4", "fd00:1:2:3:9:9:9:9", true},
        {"fd00:1:2:3::4", "fd00:1:2:4::4", false},
        {"::1", "::2", false},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sender_origin left = origin_of(cases[i].left), right = origin_of(cases[i].right);

        print_message("%s and %s\n", cases[i].left, cases[i].right);
        assert_int_equal(memcmp(&left, &right, sizeof left) == 0, cases[i].same);
    }
}

TEST(the_user_of_a_socket_of_this_machine)
{
    const struct sockaddr_storage peer = {.ss_family = AF_UNIX};
    struct sender_origin origin, nobody = sender_find_origin(-1, &peer);
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    origin = sender_find_origin(ends[0], &peer);
    assert_int_equal(origin.bytes[0], AF_UNIX);
    assert_int_equal(memcmp(origin.bytes + 1, &(uid_t){getuid()}, sizeof(uid_t)), 0);
    assert_int_equal(nobody.bytes[0], AF_UNIX);
    close(ends[0]);
    close(ends[1]);
}
