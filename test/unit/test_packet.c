/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/channel.h"

#include "config/selection.h"
#include "sampler/questions.h"
#include "unit/temporary.h"

static char packet[PACKET_MAX];

static void clean(void)
{
    unsetenv("APAPI_EVENTLIST");
    unsetenv("APAPI_EVENTOPS");
    unsetenv("APAPI_CMPLIST");
    unsetenv("APAPI_VERBOSE");
    unsetenv(PACKET_VARIABLE);
}

TEST(what_goes_in_comes_out)
{
    struct packet_item item;

    packet[0] = '\0';
    assert_false(packet_find(packet, PACKET_EVENTLIST, &item));
    assert_int_equal(packet_add(packet, PACKET_EVENTLIST, "/my list", "a\nb\n", 4), 0);
    assert_int_equal(packet_add(packet, PACKET_VERBOSE, "APAPI_VERBOSE", "1", 1), 0);
    assert_int_equal(packet_add(packet, PACKET_COMPONENTS, "", "", 0), 0);
    assert_true(packet_find(packet, PACKET_EVENTLIST, &item));
    assert_string_equal(item.name, "/my list");
    assert_int_equal(item.size, 4);
    assert_memory_equal(item.bytes, "a\nb\n", 4);
    assert_true(packet_find(packet, PACKET_COMPONENTS, &item));
    assert_int_equal(item.size, 0);
    assert_false(packet_find(packet, PACKET_EVENTOPS, &item));
    assert_false(packet_find(packet, "event", &item));
    assert_true(packet_is_verbose(packet));
    assert_false(packet_is_verbose(NULL));
}

TEST(what_is_no_packet)
{
    static const char *const texts[] = {"x",
                                        "eventlist",
                                        "eventlist 1 n\nx",
                                        "eventlist 2 n\nx\n",
                                        "eventlist 99999999999999999999 n\nx\n",
                                        "eventlist 65537 n\nx\n",
                                        "eventlist  n\nx\n",
                                        "verbose 1 n\n1eventlist 1 n\nx\n"};
    struct packet_item item;

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_false(packet_find(texts[i], PACKET_EVENTLIST, &item));
    }
}

TEST(bounds)
{
    static char bytes[PACKET_MAX];
    struct packet_item item;
    size_t room = PACKET_MAX - 2 - strlen("eventlist 65500 n\n");
    char name[2 * PACKET_NAME_SIZE + 1];

    memset(bytes, 'x', sizeof bytes);
    packet[0] = '\0';
    assert_fails(EMSGSIZE, packet_add(packet, PACKET_EVENTLIST, "n", bytes, room + 1));
    assert_string_equal(packet, "");
    assert_int_equal(packet_add(packet, PACKET_EVENTLIST, "n", bytes, room), 0);
    assert_int_equal(strlen(packet), PACKET_MAX - 1);
    assert_true(packet_find(packet, PACKET_EVENTLIST, &item));
    assert_int_equal(packet_add(packet, PACKET_VERBOSE, "", "", 0), -1);
    memset(name, 'y', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    name[sizeof name - 2] = 'z';
    name[sizeof name - 3] = '\n';
    packet[0] = '\0';
    assert_int_equal(packet_add(packet, PACKET_EVENTLIST, name, "x", 1), 0);
    assert_true(packet_find(packet, PACKET_EVENTLIST, &item));
    assert_int_equal(strlen(item.name), PACKET_NAME_SIZE - 1);
    assert_string_equal(item.name + PACKET_NAME_SIZE - 3, "?z");
}

static char path[] = "/tmp/apapi-packet-XXXXXX";

static int pack(void)
{
    return pack_environment(packet, stderr, &why);
}

TEST_WITH(packing_reads_checks_and_strips, clean, NULL)
{
    struct apapi_event_rules rules = {0};
    struct packet_item item;

    write_string(path, "# comment\r\n\n  rapl:::A \nrapl:::B");
    setenv("APAPI_EVENTLIST", path, 1);
    setenv("APAPI_CMPLIST", "rapl", 1);
    assert_int_equal(pack(), 0);
    assert_true(packet_find(packet, PACKET_EVENTLIST, &item));
    assert_string_equal(item.name, path);
    assert_int_equal(item.size,
                     strlen("\n\nrapl:::A\nrapl:::B\n")); /* as they are numbered there */
    assert_memory_equal(item.bytes, "\n\nrapl:::A\nrapl:::B\n", item.size);
    assert_true(packet_find(packet, PACKET_COMPONENTS, &item));
    assert_int_equal(pack_open(packet, &rules, &why), 0);
    assert_int_equal(apapi_eventlist_count(rules.user_list), 2);
    assert_null(rules.user_ops);
    apapi_event_rules_clear(&rules);
}

/* As it is not of who has become another user, below whose home srun runs. */
TEST_WITH(a_folder_that_cannot_be_entered_is_missed_by_relative_names_alone, clean, NULL)
{
    static struct message question;
    char *text = NULL;

    message_start(&question, APAPI_WORD_ASK);
    message_add_pair(&question, "about", "rules");
    message_add_pair(&question, "folder", "/no/such");
    message_add_pair(&question, "APAPI_VERBOSE", "1");
    assert_int_equal(questions_answer(&question, &text), 0);
    assert_true(packet_is_verbose(text));
    free(text);
    message_add_pair(&question, "APAPI_EVENTOPS", "ops");
    assert_int_equal(questions_answer(&question, &text), -1);
    assert_string_equal(text, "/no/such: No such file or directory\n");
    free(text);
}

TEST_WITH(what_is_carried_stays, clean, NULL)
{
    static char carried[PACKET_MAX];
    struct packet_item item;

    write_string(path, "rapl:::OLD\n");
    setenv("APAPI_EVENTLIST", path, 1);
    setenv("APAPI_CMPLIST", "rapl", 1);
    assert_int_equal(pack(), 0);
    strcpy(carried, packet);
    setenv(PACKET_VARIABLE, carried, 1);
    unlink(path); /* as on a node */
    assert_int_equal(pack(), 0);
    assert_string_equal(packet, carried);
    unsetenv("APAPI_EVENTLIST"); /* as with --export=NONE */
    unsetenv("APAPI_CMPLIST");
    assert_int_equal(pack(), 0);
    assert_string_equal(packet, carried);
    setenv("APAPI_CMPLIST", "nvml", 1); /* another word is another word */
    assert_int_equal(pack(), 0);
    assert_true(packet_find(packet, PACKET_COMPONENTS, &item));
    assert_memory_equal(item.bytes, "nvml", 4);
    setenv("APAPI_EVENTLIST", "/no/such/file", 1); /* another file, too */
    assert_fails(ENOENT, pack());
    setenv(PACKET_VARIABLE, "garbage", 1);
    unsetenv("APAPI_EVENTLIST");
    assert_int_equal(pack(), 0);
    assert_false(packet_find(packet, PACKET_EVENTLIST, &item));
}

TEST_WITH(a_bad_part_leaves_the_good_one, clean, NULL)
{
    struct apapi_event_rules rules = {0};
    struct apapi_error err = {""};

    packet[0] = '\0';
    packet_add(packet, PACKET_EVENTLIST, "l", "rapl:::A\n", 9);
    packet_add(packet, PACKET_EVENTOPS, "o", "nonsense\n", 9);
    assert_int_equal(pack_open(packet, &rules, &err), -1);
    assert_non_null(rules.user_list);
    assert_null(rules.user_ops);
    assert_ptr_equal(strstr(err.text, "o"), err.text);
    apapi_event_rules_clear(&rules);
    assert_int_equal(pack_open("", &rules, &err), 0);
}

static void make_file(void)
{
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static void remove_file(void)
{
    unlink(path);
}

ALL_TESTS_IN(make_file, remove_file)
