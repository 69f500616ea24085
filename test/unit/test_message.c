/* SPDX-License-Identifier: BSD-3-Clause */
/* The channel between plugin and helper processes. */
#include <sys/socket.h>
#include <sys/wait.h>

#include "channel/channel.h"
#include "channel/deadline.h"
#include "unit/unit.h"

static struct message sent, received;
static int ends[2];

static void connect_ends(void)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

static void close_ends(void)
{
    close(ends[0]);
    close(ends[1]);
}

static uint64_t patience(void)
{
    return deadline_now() + 120000 * DEADLINE_MS;
}

#define WITH_ENDS(name) TEST_WITH(name, connect_ends, close_ends)

WITH_ENDS(texts_and_pairs_arrive)
{
    message_start(&sent, APAPI_WORD_CONFIG);
    message_add_pair(&sent, "name", "my app=\n1");
    message_add_pair(&sent, "unknown", NULL);
    message_add_pair(&sent, "empty", "");
    message_add_number(&sent, "job", 4294967295u);
    assert_int_equal(message_send(ends[0], &sent, patience()), 0);
    assert_int_equal(message_receive(ends[1], &received, patience()), 0);
    assert_true(message_is(&received, APAPI_WORD_CONFIG));
    assert_false(message_is(&received, APAPI_WORD_STOP));
    assert_string_equal(message_value(&received, "name"), "my app=\n1");
    assert_string_equal(message_value(&received, "empty"), "");
    assert_string_equal(message_value(&received, "job"), "4294967295");
    assert_null(message_value(&received, "unknown"));
    assert_null(message_value(&received, "my app=\n1"));
    assert_string_equal(message_text(&received), "name");
}

/* Silence, a text without its end, more than a message holds, and the end of the other side. */
WITH_ENDS(what_cannot_be_sent_or_received)
{
    static char text[APAPI_MESSAGE_MAX];
    uint64_t start_ns = deadline_now();

    assert_fails(ETIMEDOUT, message_receive(ends[1], &received, start_ns + 30 * DEADLINE_MS));
    assert_true(deadline_now() - start_ns >= 30 * DEADLINE_MS);
    assert_int_equal(send(ends[0], "no end", 6, 0), 6);
    assert_fails(EBADMSG, message_receive(ends[1], &received, patience()));
    memset(text, 'x', sizeof text - 1);
    message_start(&sent, APAPI_WORD_RECORD);
    message_add_text(&sent, text);
    assert_fails(EMSGSIZE, message_send(ends[0], &sent, deadline_now()));
    shutdown(ends[0], SHUT_RDWR);
    assert_fails(EPIPE, message_receive(ends[1], &received, patience()));
    message_start(&sent, APAPI_WORD_STOP);
    assert_fails(EPIPE, message_send(ends[1], &sent, patience()));
}

/* The socket of a process that ends is reset if the process has not read all. */
WITH_ENDS(what_a_process_sent_before_its_end_arrives)
{
    message_start(&sent, APAPI_WORD_RECORD);
    assert_int_equal(message_send(ends[0], &sent, patience()), 0);
    message_start(&sent, APAPI_WORD_STOP);
    assert_int_equal(message_send(ends[1], &sent, patience()), 0);
    close(ends[0]);
    assert_int_equal(message_receive(ends[1], &received, patience()), 0);
    assert_true(message_is(&received, APAPI_WORD_RECORD));
    assert_fails(EPIPE, message_receive(ends[1], &received, patience()));
    ends[0] = -1;
}

/* Another process sends, because a socket holds less than the text. */
WITH_ENDS(a_text_of_any_length)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 300000, 16U << 20, (16U << 20) + 1};

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        FREED char *text = calloc(1, sizes[i] + 1), *got = NULL;
        int status, result;
        pid_t pid;

        for (size_t byte = 0; byte < sizes[i]; byte++) {
            text[byte] = (char)('a' + byte % 23);
        }
        pid = fork();
        if (pid == 0) {
            _exit(message_send_text(ends[0], &sent, APAPI_WORD_RECORD, text, patience()) != 0);
        }
        result = message_receive_text(ends[1], &received, &got, patience());
        if (sizes[i] > MESSAGE_TEXT_MAX) {
            assert_int_equal(result, -1);
            assert_int_equal(errno, EBADMSG);
        } else {
            assert_int_equal(result, 0);
            assert_true(message_is(&received, APAPI_WORD_RECORD));
            assert_string_equal(got, text);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

WITH_ENDS(parts_that_never_end)
{
    char *got = NULL;

    message_start(&sent, APAPI_WORD_PART);
    message_add_text(&sent, "x");
    assert_int_equal(message_send(ends[0], &sent, 0), 0);
    assert_int_equal(message_send(ends[0], &sent, 0), 0);
    assert_fails(ETIMEDOUT, message_receive_text(ends[1], &received, &got, deadline_now()));
    message_start(&sent, APAPI_WORD_PART);
    assert_int_equal(message_send(ends[0], &sent, 0), 0);
    assert_int_equal(message_receive(ends[1], &received, 0), 0);
    assert_fails(EBADMSG, message_receive_text(ends[1], &received, &got, deadline_now()));
}

WITH_ENDS(full_channel_times_out)
{
    int sends = 0;

    message_start(&sent, APAPI_WORD_BEGIN);
    while (message_send(ends[0], &sent, deadline_now() + 10 * DEADLINE_MS) == 0) {
        assert_true(++sends < 1000000);
    }
    assert_int_equal(errno, ETIMEDOUT);
}
