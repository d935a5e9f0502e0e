// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/report.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

#define TERMINAL_NS UINT64_C(100000000)
#define PLAIN_NS    UINT64_C(3000000000)

#define LABEL_WIDTH 29
#define LINE_BYTES  512

void report_begin(struct report *r, bool quiet) {
    *r = (struct report){.terminal = isatty(STDOUT_FILENO) != 0, .quiet = quiet};
}

bool report_due(const struct report *r, uint64_t now_ns) {
    uint64_t pause = r->terminal ? TERMINAL_NS : PLAIN_NS;
    return !r->quiet && now_ns - r->last_ns >= pause;
}

// A line that wraps could not be written over, so it ends before the terminal's last column.
static int demo_report_columns(const struct report *r) {
    struct winsize size;

    if (!r->terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2) {
        return r->terminal ? 79 : LINE_BYTES - 1;
    }
    return size.ws_col - 1;
}

void report_line(struct report *r, uint64_t now_ns, const char *format, ...) {
    char line[LINE_BYTES];
    va_list args;

    if (!report_due(r, now_ns)) {
        return;
    }
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    printf(r->terminal ? "\r\033[K%.*s" : "%.*s\n", demo_report_columns(r), line);
    fflush(stdout);
    r->unfinished = r->terminal;
    r->last_ns = now_ns;
}

void report_break(struct report *r) {
    if (r->unfinished) {
        fputs("\r\033[K", stdout);
        fflush(stdout);
        r->unfinished = false;
    }
}

__attribute__((format(printf, 3, 0))) static void
demo_report_labelled(struct report *r, const char *label, const char *format, va_list args) {
    report_break(r);
    printf("%-*s ", LABEL_WIDTH, label);
    vprintf(format, args);
    putchar('\n');
    fflush(stdout);
}

void report_done(struct report *r, const char *label, const char *format, ...) {
    va_list args;

    if (!r->quiet) {
        va_start(args, format);
        demo_report_labelled(r, label, format, args);
        va_end(args);
    }
}

void report_result(struct report *r, const char *label, const char *format, ...) {
    va_list args;

    va_start(args, format);
    demo_report_labelled(r, label, format, args);
    va_end(args);
}

int report_fail(struct report *r, const char *format, va_list args) {
    report_break(r);
    fputs("silken demo: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    return EXIT_FAILED;
}

const char *report_grouped(uint64_t n, char *buf) {
    char digits[21];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), out = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            buf[out++] = ',';
        }
        buf[out++] = digits[i];
    }
    buf[out] = 0;
    return buf;
}
