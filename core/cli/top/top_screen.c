/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/top/top_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"

#define ESCAPE '\033'
#define DEFAULT_ROWS 24 /* of a serial line, whose size is not known */
#define DEFAULT_COLUMNS 80

/* Save the screen, hide the cursor, cut long lines at the edge; and the reverse. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[H\033[2J";
static const char leave[] = "\033[?7h\033[?25h\033[?1049l";

/* SIGINT quits; those after SIGCONT end the process. */
static const int caught[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { CAUGHT = COUNT_OF(caught) };

static volatile sig_atomic_t arrived[CAUGHT];

static struct {
    bool open, ready; /* screen in use; terminal in our mode */
    int keys;         /* descriptor; -1: no keys */
    bool has_mode;    /* `mode` is the terminal's original mode */
    struct termios mode;
    sigset_t mask; /* the original mask */
    struct sigaction before[CAUGHT];
} screen = {.keys = -1};

/* --- signals: blocked but while waiting ----------------------------------------------------- */

static void screen_note(int number)
{
    for (int i = 0; i < CAUGHT; i++) {
        if (caught[i] == number) {
            arrived[i] = 1;
        }
    }
}

static bool has_arrived(int number)
{
    for (int i = 0; i < CAUGHT; i++) {
        if (caught[i] == number && arrived[i]) {
            arrived[i] = 0;
            return true;
        }
    }
    return false;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = screen_note};
    sigset_t set;

    sigemptyset(&set);
    for (int i = 0; i < CAUGHT; i++) {
        sigaddset(&set, caught[i]);
        arrived[i] = 0;
    }
    sigprocmask(SIG_BLOCK, &set, &screen.mask);
    for (int i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], NULL, &screen.before[i]);
        if (screen.before[i].sa_handler != SIG_IGN) {
            sigaction(caught[i], &action, NULL);
        }
    }
}

static void release_signals(void)
{
    for (int i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], &screen.before[i], NULL);
    }
    sigprocmask(SIG_SETMASK, &screen.mask, NULL);
}

/* --- the terminal --------------------------------------------------------------------------- */

static void screen_put(const char *text)
{
    write_all(STDOUT_FILENO, text, strlen(text));
}

static void set_ready(void)
{
    struct termios mode;

    if (!screen.ready) {
        screen.has_mode = screen.keys >= 0 && tcgetattr(screen.keys, &screen.mode) == 0;
    }
    if (screen.has_mode) {
        mode = screen.mode;
        mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        mode.c_cc[VMIN] = 1;
        mode.c_cc[VTIME] = 0;
        tcsetattr(screen.keys, TCSADRAIN, &mode);
    }
    screen_put(enter);
    screen.ready = true;
}

static void set_unready(void)
{
    if (!screen.ready) {
        return;
    }
    screen.ready = false;
    screen_put(leave);
    if (screen.has_mode) {
        tcsetattr(screen.keys, TCSADRAIN, &screen.mode);
    }
}

bool screen_is_possible(void)
{
    const char *kind = secure_getenv("TERM");

    return isatty(STDOUT_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

void screen_open(void)
{
    screen.keys =
        isatty(STDIN_FILENO) ? STDIN_FILENO : open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    catch_signals();
    atexit(screen_close);
    screen.open = true;
    set_ready();
}

void screen_close(void)
{
    if (!screen.open) {
        return;
    }
    set_unready();
    release_signals();
    if (screen.keys > STDIN_FILENO) {
        close(screen.keys);
    }
    screen.keys = -1;
    screen.open = false;
}

size_t screen_size(size_t *rows)
{
    struct winsize window = {0};

    ioctl(STDOUT_FILENO, TIOCGWINSZ, &window);
    *rows = window.ws_row ? window.ws_row : DEFAULT_ROWS;
    return window.ws_col ? window.ws_col : DEFAULT_COLUMNS;
}

/*
 * Each line is cleared before it is written, the last one with all below: the screen never goes
 * blank, and at the end of a full line the cursor stands on its last character.
 */
static void put_lines(FILE *out, const char *text, size_t count, bool last)
{
    for (size_t i = 0; i < count; i++) {
        int length = (int)strcspn(text, "\n");

        fprintf(out, "%s\033[%c%.*s", i ? "\n" : "", last && i + 1 == count ? 'J' : 'K', length,
                text);
        text += length + 1;
    }
}

void screen_show(const char *text)
{
    char *frame = NULL;
    size_t size, rows, lines = 0;
    FILE *out = open_memstream(&frame, &size);

    if (!out) {
        return;
    }
    for (const char *at = text; *at; at++) {
        lines += *at == '\n';
    }
    fputs("\033[H", out);
    screen_size(&rows);
    if (rows > 1 && lines > rows) {
        put_lines(out, text, rows - 1, false);
        fprintf(out, "\n\033[J  and %zu lines more", lines - rows + 1);
    } else {
        put_lines(out, text, lines, true);
    }
    fputs("\033[H", out);
    if (fclose(out) == 0) {
        screen_put(frame);
    }
    free(frame);
}

/* --- waiting -------------------------------------------------------------------------------- */

/* Handle pending signals. @return SCREEN_TIME: nothing to do. */
static enum screen_event screen_obey(void)
{
    static const int deadly[] = {SIGTERM, SIGHUP, SIGQUIT};

    for (size_t i = 0; i < COUNT_OF(deadly); i++) {
        if (has_arrived(deadly[i])) {
            screen_close();
            raise(deadly[i]);
            exit(EXIT_FAILURE); // NOLINT(concurrency-mt-unsafe): the signal is blocked or ignored
        }
    }
    if (has_arrived(SIGINT)) {
        return SCREEN_QUIT;
    }
    if (has_arrived(SIGTSTP)) {
        set_unready();
        release_signals();
        raise(SIGTSTP);
        catch_signals();
        set_ready();
        return SCREEN_CHANGED;
    }
    if (has_arrived(
            SIGCONT)) { /* after another way of stopping, the terminal's mode may have changed */
        set_ready();
        return SCREEN_CHANGED;
    }
    return has_arrived(SIGWINCH) ? SCREEN_CHANGED : SCREEN_TIME;
}

/* Bytes of a key that begins with an escape: a function key, an arrow, a letter with Alt. */
static size_t sequence_length(const char *bytes, size_t count)
{
    size_t length = 2;

    if (count > 1 && bytes[1] == '[') {
        while (length < count && (bytes[length] < '@' || bytes[length] > '~')) {
            length++;
        }
    }
    return count > 1 && (bytes[1] == '[' || bytes[1] == 'O') ? length + 1 : length;
}

/* If there are several keys, the last one counts. @return whether there is one */
static bool screen_find_key(const char *bytes, size_t count, char *key)
{
    bool found = false;

    for (size_t i = 0; i < count;) {
        if (bytes[i] == ESCAPE) {
            i += sequence_length(bytes + i, count - i);
        } else {
            *key = bytes[i++];
            found = true;
        }
    }
    return found;
}

enum screen_event screen_wait(uint64_t until_ns, char *key)
{
    for (;;) {
        struct pollfd keys = {.fd = screen.keys, .events = POLLIN};
        uint64_t now_ns = clock_monotonic_ns(), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
        const struct timespec left = {(time_t)(left_ns / NS_PER_S), (long)(left_ns % NS_PER_S)};
        int count = ppoll(&keys, 1, &left, &screen.mask);
        enum screen_event event = screen_obey();

        if (event == SCREEN_TIME && count > 0) {
            char bytes[64];
            ssize_t size = read(screen.keys, bytes, sizeof bytes);

            event = size <= 0                                   ? SCREEN_QUIT
                    : screen_find_key(bytes, (size_t)size, key) ? SCREEN_KEY
                                                                : SCREEN_TIME;
        }
        if (event != SCREEN_TIME || count == 0) {
            return event;
        }
    }
}
