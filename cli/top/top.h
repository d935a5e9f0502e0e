// SPDX-License-Identifier: Apache-2.0
//
// top: `silken ctl top`, a running switch on a terminal, as it is now.
//
//     top.c       the command: asks the switch again and again, keys, when to draw
//     data.c      two replies of the request "watch" (control/socket/requests.h) made into rates
//     views.c     what is shown: totals, ports, drops, jobs, alarms
//     page.c      lines of a given width: text is cut, or goes on in the next, by columns
//     terminal.c  the terminal: raw keys, size, alternate screen, colours
//
// Rates are differences of counters over the difference of the switch's clock, which both are of
// the same moment. A counter that went back was set again, and counts from zero.
//
// Text of others (names of ports and jobs) never reaches the terminal as it is: what is not
// printable becomes '?'.
#ifndef SILKEN_CLI_TOP_TOP_H
#define SILKEN_CLI_TOP_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- page.c ----
enum top_colour { TOP_PLAIN, TOP_HEAD, TOP_GOOD, TOP_WARN, TOP_BAD, TOP_DIM };

struct top_page {
    unsigned width;           // columns; what is beyond is cut
    unsigned height;          // lines that are kept; 0: all
    bool colour, utf8;        // whether the terminal has them
    char *bytes;              // lines, each with '\n' at its end
    size_t n, room;           // bytes
    unsigned column, n_lines; // of the line that is being written; lines that are ended
};
void top_page_free(struct top_page *p);
// Of the rest of the line; an ellipsis stands for what is cut.
void top_put(struct top_page *p, enum top_colour c, const char *text);
// Word by word: what does not fit goes on in the next line, after 'indent' columns.
void top_flow(struct top_page *p, enum top_colour c, unsigned indent, const char *text);
// In one piece: on the next line, without the blanks before it, where the rest of this one is short
void top_group(struct top_page *p, enum top_colour c, const char *text);
// Exactly 'width' columns, cut or padded; right aligned, when negative left aligned.
void top_cell(struct top_page *p, enum top_colour c, int width, const char *text);
void top_line(struct top_page *p); // ends the line
// Columns that text takes on the terminal.
unsigned top_width(const struct top_page *p, const char *text);
#define TOP_NUMBER 16u
// "0", "7.5", "123", "1.23k", "45.6M": at most five characters.
const char *top_number(double v, char out[TOP_NUMBER]);

// ---- data.c ----
struct top_port {
    unsigned port;
    const char *name, *device;                         // "" without
    const char *link;                                  // "up", "down", "loop"
    double in_packets, in_bits, out_packets, out_bits; // per second
    double drops, consumed; // the same; what the program consumed is not lost, and no drop here
    const char *reason;     // of most of the drops; "" without
    double reason_rate;
    uint64_t cells;   // that wait in its queues
    unsigned deepest; // the queue with most of them
    uint64_t waiting; // packets that wait for the device
};
struct top_drop {
    bool consumed; // this is what the program consumed
    const char *reason;
    double rate;
    uint64_t total;
    unsigned port; // where most of them are dropped now
    const char *name;
};
struct top_queue_drop { // what a queue did not take
    const char *reason, *colour, *name;
    unsigned port, queue;
    double rate;
    uint64_t total;
};
struct top_job {
    const char *name, *kind, *state; // state: "running", "waiting", "idle", "stuck"
    uint64_t workers, size, waiting; // registered; wanted; slots or aggregators that wait
    double packets;                  // per second
    double complete; // share of the parts that those wait for which are there; 1: none waits
    bool has_straggler;
    uint64_t straggler, straggler_slots; // the worker that most of them wait for, and how many do
    double silent;                       // seconds since its last packet; negative: none came
    const char *where;                   // its address
    double oldest; // ATP: seconds since something came to its oldest aggregator; else -1
};
struct top_data {
    double seconds; // between the replies
    const char *program;
    uint64_t clock;
    struct top_port *ports;
    struct top_drop *drops;
    struct top_queue_drop *queue_drops; // what is dropped most first
    struct top_job *jobs;
    size_t n_ports, n_drops, n_queue_drops, n_jobs;
    double in_packets, in_bits, out_packets, out_bits, dropped, consumed, recirculated, copies;
    uint64_t inside;
    const json_t *alarms;
};
// Of two results of "watch", which must live as long. False when they are not two of one switch:
// its clock did not go on.
bool top_data_read(struct top_data *d, const json_t *before, const json_t *now);
void top_data_free(struct top_data *d);
// The same for programs: a new reference.
json_t *top_data_json(const struct top_data *d);

// ---- views.c ----
enum top_view { TOP_ALL, TOP_PORTS, TOP_DROPS, TOP_JOBS, TOP_ALARMS, TOP_VIEWS };
enum top_sort {
    TOP_BY_PORT,
    TOP_BY_IN,
    TOP_BY_OUT,
    TOP_BY_DROPS,
    TOP_BY_QUEUE,
    TOP_BY_NAME,
    TOP_SORTS
};
extern const char *const top_view_names[TOP_VIEWS], *const top_sort_names[TOP_SORTS];
struct top_choice {
    enum top_view view;
    enum top_sort sort;
    bool reverse, quiet_too; // 'quiet_too': ports without traffic
    unsigned from;           // the first port or job that is shown
};
// Sorts d->ports.
void top_draw(struct top_page *p, struct top_data *d, const struct top_choice *c);

// ---- terminal.c ----
struct top_terminal {
    bool alternate; // it is ours now
    bool colour, utf8;
    unsigned width, height;
};
// Takes the terminal over; false when standard input or output is none.
bool top_terminal_open(struct top_terminal *t);
void top_terminal_close(struct top_terminal *t);
bool top_terminal_utf8(void);
// Waits for a key at most so long: the key, 0: nothing came, -1: the size changed or it was stopped
// and went on: draw again, -2: the end. Keys with more than one byte are TOP_UP and so on.
enum { TOP_UP = 256, TOP_DOWN, TOP_PAGE_UP, TOP_PAGE_DOWN };
int top_terminal_key(struct top_terminal *t, int timeout_ms);
void top_terminal_show(const struct top_page *p);

#endif
