// SPDX-License-Identifier: Apache-2.0
//
// report: what the user of the demo sees.
//
// On a terminal, what goes on is one line that is written over; elsewhere a plain line every few
// seconds, so that a log stays readable. Results are always plain lines with a label in front.
#ifndef SILKEN_CLI_DEMO_REPORT_H
#define SILKEN_CLI_DEMO_REPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report {
    bool terminal;
    bool quiet;       // results only
    bool unfinished;  // a line on the terminal awaits being written over
    uint64_t last_ns; // when something was shown last
};

void report_begin(struct report *r, bool quiet);

// True when report_line() would show something now: callers need not make the text otherwise.
bool report_due(const struct report *r, uint64_t now_ns);

// What goes on.
__attribute__((format(printf, 3, 4))) void report_line(struct report *r, uint64_t now_ns,
                                                       const char *format, ...);

// A step that is done; 'label' is its name. Not shown when quiet.
__attribute__((format(printf, 3, 4))) void report_done(struct report *r, const char *label,
                                                       const char *format, ...);

// A result. Always shown.
__attribute__((format(printf, 3, 4))) void report_result(struct report *r, const char *label,
                                                         const char *format, ...);

// Says on stderr what has gone wrong; returns EXIT_FAILED.
__attribute__((format(printf, 2, 0))) int report_fail(struct report *r, const char *format,
                                                      va_list args);

// Ends a line that was to be written over, before something else is printed.
void report_break(struct report *r);

// "1,234,567". The buffer must have room for 27 characters.
const char *report_grouped(uint64_t n, char *buf);

#endif
