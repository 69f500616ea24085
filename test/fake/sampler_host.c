/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays slurmstepd for apapi-sampler: starts it for a step that lasts as long as a command.
 *
 *   sampler_host SAMPLER KEY=VALUE... -- COMMAND [ARGUMENT...]
 *
 * The pairs are the configuration. Pairs that begin with '@' belong to the message that begins the
 * step, pairs with '+' to the message that ends it. The command has the sampler's PID in $SAMPLER.
 * Afterwards the sampler is told to stop, and the record is printed, or why there is none, before
 * the sampler is waited for. With $HOST_TELLS_STOP it is told on standard error when the order to
 * stop was answered, how much processor time the sampler took for that, and the most memory that it
 * had.
 */
#include "fake/host.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "channel/deadline.h"

#define PATIENCE_NS (60000 * DEADLINE_MS)

static struct message message;

#define MARKS "@+"

/* Add each KEY=VALUE with this mark; 0: without a mark. @return the place of "--". */
static int add_pairs(char **words, char mark)
{
    int i = 0;

    for (; words[i] && strcmp(words[i], "--") != 0; i++) {
        char *equals = strchr(words[i], '=');
        char own = strchr(MARKS, words[i][0]) ? words[i][0] : '\0';

        if (equals && own == mark) {
            *equals = '\0';
            message_add_pair(&message, words[i] + (own != '\0'), equals + 1);
            *equals = '=';
        }
    }
    return i;
}

static void say(int channel, const char *word, char **words, char mark)
{
    message_start(&message, word);
    add_pairs(words, mark);
    if (message_send(channel, &message, deadline_now() + PATIENCE_NS)) {
        perror(word);
    }
}

static void hear(int channel, const char *word)
{
    char *text = NULL;
    int failed;

    do {
        free(text);
        text = NULL;
        failed = message_receive_text(channel, &message, &text, deadline_now() + PATIENCE_NS);
    } while (!failed && message_is(&message, APAPI_WORD_STOPPING));
    if (failed) {
        puts("the sampler has ended");
    } else if (message_is(&message, word)) {
        printf("%s", text);
    } else {
        printf("%s: %s\n", message.bytes, text);
    }
    free(text);
}

/* A moment, and the CPU time that the sampler has used by then [ns]. */
struct moment {
    uint64_t now, worked;
};

static struct moment moment_now(pid_t sampler)
{
    struct timespec worked = {0, 0};
    clockid_t clock;

    if (clock_getcpuclockid(sampler, &clock) == 0) {
        clock_gettime(clock, &worked);
    }
    return (struct moment){deadline_now(),
                           (uint64_t)worked.tv_sec * 1000 * DEADLINE_MS + (uint64_t)worked.tv_nsec};
}

static void tell(const char *what, struct moment since, pid_t sampler)
{
    struct moment now = moment_now(sampler);

    if (getenv("HOST_TELLS_STOP")) {
        fprintf(stderr, "%s after %.3f ms, worked %.3f ms\n", what,
                (double)(now.now - since.now) / DEADLINE_MS,
                (double)(now.worked - since.worked) / DEADLINE_MS);
    }
}

/* Stop the sampler, and report the time until its answer and until its record. */
static void stop(int channel, char **pairs, pid_t sampler)
{
    struct pollfd answered = {.fd = channel, .events = POLLIN};
    struct moment begin = moment_now(sampler);

    say(channel, APAPI_WORD_STOP, pairs, '+');
    poll(&answered, 1, (int)(PATIENCE_NS / DEADLINE_MS));
    tell("answered", begin, sampler);
    hear(channel, APAPI_WORD_RECORD);
    tell("recorded", begin, sampler);
}

static void run(char **command, pid_t sampler)
{
    char text[16];
    pid_t child;

    snprintf(text, sizeof text, "%d", (int)sampler);
    setenv("SAMPLER", text, 1);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        execvp(command[0], command);
        host_die(command[0]);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    struct rusage used = {0};
    int channel, separator;
    pid_t sampler;

    signal(SIGPIPE, SIG_IGN);
    if (argc < 4) {
        fputs("usage: sampler_host SAMPLER KEY=VALUE... -- COMMAND...\n", stderr);
        return 2;
    }
    channel = host_start(argv[1], -1, &sampler);
    message_start(&message, APAPI_WORD_CONFIG);
    separator = 2 + add_pairs(argv + 2, '\0');
    if (message_send(channel, &message, deadline_now() + PATIENCE_NS)) {
        host_die("config");
    }
    say(channel, APAPI_WORD_BEGIN, argv + 2, '@');
    hear(channel, APAPI_WORD_READY);
    run(argv + separator + 1, sampler);
    stop(channel, argv + 2, sampler);
    puts("");
    fflush(stdout);
    wait4(sampler, NULL, 0, &used);
    if (getenv("HOST_TELLS_STOP")) {
        fprintf(stderr, "memory %ld KiB\n", used.ru_maxrss);
    }
    return 0;
}
