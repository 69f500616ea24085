/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/step.h"

#include <semaphore.h>

#include "base/clock.h"
#include "channel/channel.h"
#include "config/selection.h"
#include "sampler/questions.h"
#include "unit/temporary.h"

#define MS UINT64_C(1000000)

static struct message message;
static struct step step;

/* Parse a configuration of these pairs; NULL ends them. */
static int parse(const char *const pairs[])
{
    struct apapi_error err = {""};
    int result;

    memset(&step, 0, sizeof step);
    message_start(&message, APAPI_WORD_CONFIG);
    message_add_pair(&message, "node", "n1");
    for (; *pairs; pairs += 2) {
        message_add_pair(&message, pairs[0], pairs[1]);
    }
    result = step_parse(&message, &step, &err);
    assert_int_equal(*err.text != '\0', result != 0);
    return result;
}

TEST(the_words_of_plugstack_above_the_file)
{
    const char *path = in_base("conf");

    write_string(path, "checkpoint = 2m\nsampler_nice = 7\nlive_dir = off\n"
                       "[budget]\nmax_budget = 1kWh\n");
    assert_int_equal(parse((const char *[]){"config", path, "words",
                                            "acct_dir=/a\nsampler_nice=-5\nnonsense\nspool_dir=x\n"
                                            "config=/other\n",
                                            NULL}),
                     0);
    assert_string_equal(step.config.acct_dir, "/a");
    assert_int_equal(step.config.sampler_nice, -5);
    assert_int_equal(step.config.checkpoint_ns, 120000 * MS);
    assert_string_equal(step.config.live_dir, "");
    assert_int_equal(*step.config.spool_dir, '/'); /* the default, as installed */
    assert_string_equal(config_section_value(&step.config, "budget", "max_budget"), "1kWh");
    config_clear(&step.config);
}

/* The user's intervals have priority over the site's; min_interval slows users, not the site. */
TEST(whose_interval_counts)
{
    static const char *const names[] = {"rapl", "nvml", "ipmi", "other"};
    static const struct {
        const char *words, *intervals, *uid;
        uint64_t ms[COUNT_OF(names)];
        bool slowed;
    } cases[] = {
        {"interval=200ms:nvml:1s:ipmi:3s", "rapl:50ms:nvml:2s", NULL, {50, 2000, 3000, 200}, false},
        /* one interval for all replaces all intervals of the site */
        {"interval=200ms:nvml:1s", "50ms:ipmi:3s", NULL, {50, 50, 3000, 50}, false},
        {"interval=2ms", "rapl:1ms:nvml:50ms", NULL, {10, 50, 2, 2}, true},
        {NULL, "1ms", NULL, {10, 10, 10, 10}, true},
        {NULL, "1ms", "0", {1, 1, 1, 1}, false},
        /* a long min_interval does not affect what the user has not named */
        {"interval=200ms\nmin_interval=1s", "rapl:1s", NULL, {1000, 200, 200, 200}, false},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(parse((const char *[]){"words", cases[i].words, "intervals",
                                                cases[i].intervals, "uid", cases[i].uid, NULL}),
                         0);
        for (size_t k = 0; k < COUNT_OF(names); k++) {
            assert_int_equal(apapi_intervals_get(&step.intervals, names[k]), cases[i].ms[k] * MS);
        }
        assert_int_equal(step.slowed, cases[i].slowed);
    }
}

TEST(the_nodes_of_a_step)
{
    char list[257];

    assert_int_equal(parse((const char *[]){"nodes", "4", "nodelist", "n[1-4]", NULL}), 0);
    assert_string_equal(step.id.nodelist, "n[1-4]");
    assert_int_equal(parse((const char *[]){"nodes", "1", "nodelist", "n1", NULL}), 0);
    assert_string_equal(step.id.nodelist, "");
    assert_int_equal(parse((const char *[]){"nodelist", "n[1-2]", NULL}), 0);
    assert_string_equal(step.id.nodelist, "");
    /* a list of nodes is taken as a whole or not at all */
    snprintf(list, sizeof list, "%0255d", 7);
    assert_int_equal(parse((const char *[]){"nodes", "2", "nodelist", list, NULL}), 0);
    assert_string_equal(step.id.nodelist, list);
    snprintf(list, sizeof list, "%0256d", 7);
    assert_int_equal(parse((const char *[]){"nodes", "2", "nodelist", list, NULL}), 0);
    assert_string_equal(step.id.nodelist, "");
}

TEST(bad_words)
{
    static const char *const pairs[][2] = {
        {"intervals", "x"},
        {"format", "x"},
        {"job", "4294967296"},
        {"gid", "-1"},
    };

    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        assert_int_equal(parse((const char *[]){pairs[i][0], pairs[i][1], NULL}), -1);
    }
    message_start(&message, APAPI_WORD_CONFIG);
    assert_int_equal(step_parse(&message, &step, NULL), -1); /* without a node */
}

/* --- tasks ------------------------------------------------------------------------------------ */

static sem_t disk; /* the disk answers once for each post */
static int done;

static void wait_for_disk(void *context)
{
    sem_wait(&disk);
    (*(int *)context)++;
}

static void open_disk(void)
{
    done = 0;
    assert_int_equal(sem_init(&disk, 0, 0), 0);
}

static void close_disk(void)
{
    assert_int_equal(sem_destroy(&disk), 0);
}

TEST_WITH(work_that_lasts, open_disk, close_disk)
{
    struct task task = {0};

    assert_true(task_wait(&task, 0)); /* no task was started */
    for (int round = 1; round <= 3; round++) {
        uint64_t now_ns = clock_monotonic_ns();

        task_start(&task, wait_for_disk, &done);
        assert_false(task_wait(&task, 0));
        assert_false(task_wait(&task, now_ns + 20000000));
        assert_true(clock_monotonic_ns() >= now_ns + 20000000);
        sem_post(&disk);
        assert_true(task_wait(&task, UINT64_MAX));
        assert_int_equal(done, round);
        assert_true(task_wait(&task, 0));
    }
}

/* --- what srun carries to the nodes ----------------------------------------------------------- */

static char packet[PACKET_MAX];

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

TEST(bounds_of_a_packet)
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
    snprintf(name, sizeof name, "%0*d\nz", (int)sizeof name - 3, 7);
    packet[0] = '\0';
    assert_int_equal(packet_add(packet, PACKET_EVENTLIST, name, "x", 1), 0);
    assert_true(packet_find(packet, PACKET_EVENTLIST, &item));
    assert_int_equal(strlen(item.name), PACKET_NAME_SIZE - 1);
    assert_string_equal(item.name + PACKET_NAME_SIZE - 3, "?z");
}

static int pack(void)
{
    return pack_environment(packet, stderr, &why);
}

TEST(packing_reads_checks_and_strips)
{
    const char *path = in_base("list");
    struct apapi_event_rules rules = {0};
    struct packet_item item;

    write_string(path, "# comment\r\n\n  rapl:::A \nrapl:::B");
    setenv("APAPI_EVENTLIST", path, 1);
    setenv("APAPI_CMPLIST", "rapl", 1);
    assert_int_equal(pack(), 0);
    assert_true(packet_find(packet, PACKET_EVENTLIST, &item));
    assert_string_equal(item.name, path);
    assert_int_equal(item.size,
                     strlen("\n\nrapl:::A\nrapl:::B\n")); /* numbered as they are in the list */
    assert_memory_equal(item.bytes, "\n\nrapl:::A\nrapl:::B\n", item.size);
    assert_true(packet_find(packet, PACKET_COMPONENTS, &item));
    assert_int_equal(pack_open(packet, &rules, &why), 0);
    assert_true(apapi_eventlist_at(rules.user_list, 1) && !apapi_eventlist_at(rules.user_list, 2));
    assert_null(rules.user_ops);
    apapi_event_rules_clear(&rules);
}

/* A user who has become another user may run srun below the first one's home, which is closed. */
TEST(a_folder_that_cannot_be_entered_is_missed_by_relative_names_alone)
{
    char *text = NULL;

    message_start(&message, APAPI_WORD_ASK);
    message_add_pair(&message, "about", "rules");
    message_add_pair(&message, "folder", "/no/such");
    message_add_pair(&message, "APAPI_VERBOSE", "1");
    assert_int_equal(questions_answer(&message, &text), 0);
    assert_true(packet_is_verbose(text));
    free(text);
    message_add_pair(&message, "APAPI_EVENTOPS", "ops");
    assert_int_equal(questions_answer(&message, &text), -1);
    assert_string_equal(text, "/no/such: No such file or directory\n");
    free(text);
    unsetenv("APAPI_EVENTOPS"); /* which the answer has set */
}

TEST(what_is_carried_stays)
{
    static char carried[PACKET_MAX];
    const char *path = in_base("list");
    struct packet_item item;

    write_string(path, "rapl:::OLD\n");
    setenv("APAPI_EVENTLIST", path, 1);
    setenv("APAPI_CMPLIST", "rapl", 1);
    assert_int_equal(pack(), 0);
    strcpy(carried, packet);
    setenv(PACKET_VARIABLE, carried, 1);
    unlink(path); /* as on a node, where there is no such file */
    assert_int_equal(pack(), 0);
    assert_string_equal(packet, carried);
    unsetenv("APAPI_EVENTLIST"); /* as with --export=NONE */
    unsetenv("APAPI_CMPLIST");
    assert_int_equal(pack(), 0);
    assert_string_equal(packet, carried);
    setenv("APAPI_CMPLIST", "nvml", 1); /* another text replaces the packed one */
    assert_int_equal(pack(), 0);
    assert_true(packet_find(packet, PACKET_COMPONENTS, &item));
    assert_memory_equal(item.bytes, "nvml", 4);
    setenv("APAPI_EVENTLIST", "/no/such/file", 1); /* and so does another file */
    assert_fails(ENOENT, pack());
    setenv(PACKET_VARIABLE, "garbage", 1);
    unsetenv("APAPI_EVENTLIST");
    assert_int_equal(pack(), 0);
    assert_false(packet_find(packet, PACKET_EVENTLIST, &item));
}

TEST(a_bad_part_leaves_the_good_one)
{
    struct apapi_event_rules rules = {0};

    packet[0] = '\0';
    packet_add(packet, PACKET_EVENTLIST, "l", "rapl:::A\n", 9);
    packet_add(packet, PACKET_EVENTOPS, "o", "nonsense\n", 9);
    assert_int_equal(pack_open(packet, &rules, &why), -1);
    assert_non_null(rules.user_list);
    assert_null(rules.user_ops);
    assert_ptr_equal(strstr(why.text, "o"), why.text);
    apapi_event_rules_clear(&rules);
    assert_int_equal(pack_open("", &rules, &why), 0);
}

TEST(a_users_name_is_whole_or_not_known)
{
    char name[8] = "";

    names_user(0, name, sizeof "root" - 1);
    assert_string_equal(name, "");
    names_user(0, name, sizeof "root");
    assert_string_equal(name, "root");
}

ALL_TESTS_IN(make_base, remove_base)
