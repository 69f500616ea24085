/* SPDX-License-Identifier: BSD-3-Clause */
/* This program is also the helpers that it starts, under the names in the table `helpers`. */
#define UNIT_KEEPS_THE_USER
#include "child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "channel/deadline.h"
#include "helpers.h"
#include "unit/temporary.h"

#define LIMIT_NS (120000 * DEADLINE_MS)

static struct message message;

static uint64_t soon(void)
{
    return deadline_now() + LIMIT_NS;
}

/* @return whether the child has ended; true also if that cannot be known. */
static bool child_ended(const struct spank_apapi_child *child, uint64_t deadline_ns)
{
    return child->pidfd < 0 || deadline_wait(child->pidfd, POLLIN, deadline_ns) == 0;
}

/* --- the helpers' side --- */

static void print_number(const char *key, long value)
{
    message_add_number(&message, key, (uint64_t)value);
}

static long is_null(int fd)
{
    struct stat status, null;

    return fstat(fd, &status) == 0 && stat("/dev/null", &null) == 0 &&
           status.st_rdev == null.st_rdev;
}

/* @return whether signals have their defaults. Others, as SIGSEGV, are handled by sanitizers. */
static long signals_at_rest(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD, SIGUSR1};
    sigset_t blocked;
    struct sigaction action;

    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (sigismember(&blocked, numbers[i]) || sigaction(numbers[i], NULL, &action) ||
            action.sa_handler != SIG_DFL) {
            return 0;
        }
    }
    return 1;
}

static int help_describe(void)
{
    long variables = 0;
    char folder[64] = "";

    while (environ[variables]) {
        variables++;
    }
    message_start(&message, "self");
    print_number("nulls", is_null(0) + is_null(1) + is_null(2));
    print_number("descriptors", descriptors());
    print_number("variables", variables);
    print_number("umask", umask(0));
    print_number("session", getsid(0));
    print_number("parent", getppid());
    print_number("signals", signals_at_rest());
    message_add_pair(&message, "folder", getcwd(folder, sizeof folder));
    return message_send(APAPI_CHANNEL_FD, &message, soon());
}

static int help_end(void)
{
    return 0;
}

static int help_fail(void)
{
    message_start(&message, APAPI_WORD_FAILED);
    message_add_text(&message, "two\nlines\033[2J");
    return message_send(APAPI_CHANNEL_FD, &message, soon());
}

/* A sampler that answers a question. */
static int help_answer(void)
{
    static char words[60000];
    const char *text, *verbose, *other;

    if (message_receive(APAPI_CHANNEL_FD, &message, soon()) ||
        !message_is(&message, APAPI_WORD_ASK)) {
        return -1;
    }
    text = message_value(&message, "text");
    verbose = message_value(&message, "APAPI_VERBOSE");
    other = message_value(&message, "APAPI_OTHER");
    if (!text) {
        snprintf(words, sizeof words, "%s %s %s", message_value(&message, "folder"), verbose,
                 other ? other : "-");
        return message_send_text(APAPI_CHANNEL_FD, &message, APAPI_WORD_ANSWER, words, soon());
    }
    if (strcmp(text, "hangs") == 0) {
        return raise(SIGSTOP);
    }
    if (strcmp(text, "ends") == 0) {
        return 0;
    }
    if (strcmp(text, "talks") == 0) {
        memset(words, 'x', sizeof words - 1);
        return message_send_text(APAPI_CHANNEL_FD, &message, APAPI_WORD_REFUSED, words, soon());
    }
    snprintf(words, sizeof words, "no component '%s'\nmore\n%s", text, verbose ? verbose : "");
    return message_send_text(APAPI_CHANNEL_FD, &message,
                             strcmp(text, "a:b") == 0     ? APAPI_WORD_ANSWER
                             : strcmp(text, "older") == 0 ? APAPI_WORD_FAILED
                                                          : APAPI_WORD_REFUSED,
                             words, soon());
}

static const struct {
    const char *name;
    int (*help)(void);
} helpers[] = {{"describe", help_describe},
               {"end", help_end},
               {"fail", help_fail},
               {"apapi-sampler", help_answer}};

static int help(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(helpers); i++) {
        if (strcmp(name, helpers[i].name) == 0) {
            return helpers[i].help() ? EXIT_FAILURE : EXIT_SUCCESS;
        }
    }
    return -1;
}

/* --- the tests --- */

static struct spank_apapi_child start(const char *name, int listener)
{
    const struct spank_apapi_program program = {.dir = base, .name = name, .listener = listener};
    struct spank_apapi_child child = {.channel = -1, .pidfd = -1};

    assert_int_equal(spank_apapi_child_start(&child, &program, &why), 0);
    assert_true(child.channel > STDERR_FILENO);
    return child;
}

static long reported(const char *key)
{
    const char *value = message_value(&message, key);

    assert_non_null(value);
    return strtol(value, NULL, 10);
}

static void describe(int listener)
{
    struct spank_apapi_child child = start("describe", listener);

    assert_int_equal(message_receive(child.channel, &message, soon()), 0);
    assert_true(child_ended(&child, soon()));
    spank_apapi_child_close(&child);
    assert_int_equal(child.channel, -1);
    assert_int_equal(child.pidfd, -1);
}

TEST(what_a_helper_has)
{
    describe(-1);
    assert_int_equal(reported("nulls"), 3);
    assert_int_equal(reported("descriptors"), APAPI_CHANNEL_FD + 1);
    assert_int_equal(reported("variables"), 2);
    assert_int_equal(reported("umask"), 077);
    assert_int_equal(reported("signals"), 1);
    assert_int_not_equal(reported("session"), getsid(0));
    assert_int_not_equal(reported("parent"), getpid());
    assert_string_equal(message_value(&message, "folder"), "/");
}

TEST(a_reason_is_one_line)
{
    struct spank_apapi_child child = start("fail", -1);
    struct apapi_error err;

    assert_int_equal(message_receive(child.channel, &message, soon()), 0);
    spank_apapi_child_reason(&message, &err);
    assert_string_equal(err.text, "two lines [2J");
    spank_apapi_child_close(&child);
}

TEST(a_helper_that_listens)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    describe(listener);
    assert_int_equal(reported("descriptors"), APAPI_LISTEN_FD + 1);
    close(listener);
}

TEST(the_makers_state_does_not_matter)
{
    int output = dup(STDOUT_FILENO);
    sigset_t blocked, before;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGPIPE, SIG_IGN);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    describe(-1);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDIN_FILENO);
    close(output);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(reported("nulls"), 3);
    assert_int_equal(reported("descriptors"), APAPI_CHANNEL_FD + 1);
    assert_int_equal(reported("signals"), 1);
}

static void fails_to_start(const char *name, int code)
{
    const struct spank_apapi_program program = {.dir = base, .name = name, .listener = -1};
    struct spank_apapi_child child = {.channel = 5, .pidfd = 6};
    char want[128];

    assert_fails(code, spank_apapi_child_start(&child, &program, &why));
    snprintf(want, sizeof want, "cannot start %s/%s: %s", base, name, strerror(code));
    assert_string_equal(why.text, want);
    assert_int_equal(child.channel, 5);
    assert_int_equal(child.pidfd, 6);
}

TEST(a_program_that_cannot_be_executed)
{
    fails_to_start("nobody", ENOENT);
    fails_to_start("", EACCES);
}

static volatile sig_atomic_t signalled;

static void note_signal(int number)
{
    (void)number;
    signalled++;
}

/* The host may wait for any of its own children, and count their ends. */
TEST(the_maker_has_no_child)
{
    struct spank_apapi_child child;

    signal(SIGCHLD, note_signal);
    child = start("end", -1);
    assert_true(child_ended(&child, soon()));
    spank_apapi_child_close(&child);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(signalled, 0);
    assert_fails(ECHILD, waitpid(-1, NULL, WNOHANG | __WALL));
}

static int ask(const char *folder, const char *text, char *answer, size_t size)
{
    const struct spank_apapi_question question = {.libexec_dir = folder,
                                                  .about = "components",
                                                  .text = text,
                                                  .rules = !text,
                                                  .limit_ns = 60000 * DEADLINE_MS};

    return spank_apapi_ask(&question, answer, size, &why);
}

/* The sampler answers only that there is no such component; anything else is its failure. */
TEST(a_sampler_is_asked)
{
    char answer[64], folder[PATH_MAX], want[PATH_MAX + 16];

    setenv("APAPI_VERBOSE", "1", 1);
    setenv("APAPI_OTHER", "1", 1);
    assert_int_equal(ask(base, "a:b", answer, sizeof answer), 0);
    assert_fails_with(ENOENT, "no component 'x'", ask(base, "x", answer, sizeof answer));
    assert_string_equal(answer, "no component 'x'\nmore\n"); /* it does not have the variables */
    assert_fails_with(EIO, "no component 'older'", ask(base, "older", answer, sizeof answer));
    assert_fails(ENOENT, ask(base, "talks", answer, sizeof answer));
    assert_int_equal(strlen(answer), sizeof answer - 1);
    assert_fails_with(EIO, "ended without an answer", ask(base, "ends", answer, sizeof answer));
    assert_string_equal(answer, "");
    assert_fails_with(EIO, "No such file", ask("/nowhere", "x", answer, sizeof answer));
    assert_int_equal(ask(base, NULL, want, sizeof want), 0);
    assert_non_null(getcwd(folder, sizeof folder));
    assert_memory_equal(want, folder, strlen(folder));
    assert_string_equal(want + strlen(folder), " 1 -");
}

TEST(a_sampler_that_hangs_is_not_waited_for)
{
    const struct spank_apapi_question question = {
        .libexec_dir = base, .about = "user", .text = "hangs", .limit_ns = 50 * DEADLINE_MS};
    char answer[64] = "x";

    assert_fails_with(ETIMEDOUT, "did not answer within 0.05 s",
                      spank_apapi_ask(&question, answer, sizeof answer, &why));
    assert_string_equal(answer, "");
}

static void make_links(void)
{
    char program[4096] = "", link[128];

    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    make_base();
    for (size_t i = 0; i < COUNT_OF(helpers); i++) {
        snprintf(link, sizeof link, "%s/%s", base, helpers[i].name);
        assert_int_equal(symlink(program, link), 0);
    }
}

ALL_TESTS_IN(make_links, remove_base)

int main(int argc, char **argv)
{
    int helped = argc == 1 ? help(argv[0]) : -1;

    return helped >= 0 ? helped : unit_run();
}
