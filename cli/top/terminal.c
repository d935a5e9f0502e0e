// SPDX-License-Identifier: Apache-2.0
#include "cli/top/top.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cli.h"

// What every terminal of the last decades does (ECMA-48, and xterm's alternate screen).
#define ENTER "\033[?1049h\033[?25l\033[H"
#define LEAVE "\033[0m\033[?25h\033[?1049l"

static volatile sig_atomic_t ended, resized, stopped;
static struct termios before;

static void top_terminal_note(int signal_number) {
    if (signal_number == SIGWINCH)
        resized = 1;
    else if (signal_number == SIGTSTP)
        stopped = 1;
    else
        ended = 1;
}

static void top_terminal_say(const char *bytes, size_t n) {
    while (n > 0) {
        const ssize_t written = write(STDOUT_FILENO, bytes, n);
        if (written < 0 && errno != EINTR)
            return;
        bytes += written > 0 ? written : 0;
        n -= written > 0 ? (size_t)written : 0;
    }
}

bool top_terminal_utf8(void) {
    setlocale(LC_CTYPE, "");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void top_terminal_measure(struct top_terminal *t) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0 || size.ws_row == 0)
        size = (struct winsize){.ws_col = 80, .ws_row = 24};
    t->width = size.ws_col;
    t->height = size.ws_row;
}

static void top_terminal_take(struct top_terminal *t) {
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    top_terminal_say(ENTER, strlen(ENTER));
    t->alternate = true;
    top_terminal_measure(t);
}

static void top_terminal_give_back(struct top_terminal *t) {
    if (!t->alternate)
        return;
    top_terminal_say(LEAVE, strlen(LEAVE));
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    t->alternate = false;
}

bool top_terminal_open(struct top_terminal *t) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};
    *t = (struct top_terminal){0};
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before))
        return false;
    const struct sigaction action = {.sa_handler =
                                         top_terminal_note}; // no SA_RESTART: waiting ends
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    t->colour = cli_in_colour(STDOUT_FILENO);
    t->utf8 = top_terminal_utf8();
    top_terminal_take(t);
    return true;
}

void top_terminal_close(struct top_terminal *t) {
    top_terminal_give_back(t);
}

// The shell gets its terminal back until it continues us.
static void stop_here(struct top_terminal *t) {
    top_terminal_give_back(t);
    stopped = 0;
    raise(SIGSTOP);
    top_terminal_take(t);
}

// A key of several bytes, as terminals send them: ESC [ A ... ; others are 0.
static int top_terminal_key_of(const char *bytes, ssize_t n) {
    static const struct {
        const char *bytes;
        int key;
    } keys[] = {{"\033[A", TOP_UP},   {"\033[B", TOP_DOWN},     {"\033OA", TOP_UP},
                {"\033OB", TOP_DOWN}, {"\033[5~", TOP_PAGE_UP}, {"\033[6~", TOP_PAGE_DOWN}};
    if (n > 0 && bytes[0] != '\033')
        return (unsigned char)bytes[0];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if ((size_t)n == strlen(keys[i].bytes) && memcmp(bytes, keys[i].bytes, (size_t)n) == 0)
            return keys[i].key;
    return 0;
}

int top_terminal_key(struct top_terminal *t, int timeout_ms) {
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char bytes[16];
    if (!ended && !resized && !stopped && poll(&in, 1, timeout_ms) > 0) {
        const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n <= 0)
            return -2; // the terminal is gone
        return top_terminal_key_of(bytes, n);
    }
    if (ended)
        return -2;
    if (!stopped && !resized)
        return 0;
    if (stopped)
        stop_here(t);
    resized = 0;
    top_terminal_measure(t);
    return -1;
}

// In one write, line by line over what is there: nothing flickers.
void top_terminal_show(const struct top_page *p) {
    const size_t room = p->n + 8 * (p->n_lines + 2);
    char *bytes = malloc(room), *at = bytes;
    if (!bytes)
        abort();
    at += strlen(strcpy(at, "\033[H"));
    for (size_t i = 0; i < p->n; i++) {
        if (p->bytes[i] == '\n') { // the last line has no end: it would scroll
            at += strlen(strcpy(at, i + 1 < p->n ? "\033[K\r\n" : "\033[K"));
        } else {
            *at++ = p->bytes[i];
        }
    }
    at += strlen(strcpy(at, "\033[J"));
    top_terminal_say(bytes, (size_t)(at - bytes));
    free(bytes);
}
