// SPDX-License-Identifier: Apache-2.0
#include "pcap/replay/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/clock.h"

#define NS_PER_S UINT64_C(1000000000)
#define FIRST_NS NS_PER_S // shorter replays show nothing
#define EVERY_NS (NS_PER_S / 5)
#define BAR      "##############################"
#define BAR_LESS 72u // columns below which there is no bar

struct replay_progress {
    int fd;
    FILE *messages;
    bool shown;
    uint64_t start, next; // times; start 0: nothing was said yet
    // of the rate: since a second or so ago, so that it follows what happens
    uint64_t mark, mark_packets;
    double rate;
};

// A terminal that takes nothing is nobody's to look at.
static void replay_progress_put(const struct replay_progress *p, const char *text, size_t n) {
    ssize_t done = write(p->fd, text, n);
    (void)done;
}

static void replay_progress_clear(struct replay_progress *p) {
    static const char to_the_end[] = "\r\033[K";
    if (p->shown)
        replay_progress_put(p, to_the_end, sizeof to_the_end - 1);
    p->shown = false;
}

static ssize_t write_message(void *cookie, const char *text, size_t n) {
    struct replay_progress *p = cookie;
    replay_progress_clear(p);
    return write(p->fd, text, n);
}

struct replay_progress *replay_progress_new(int fd) {
    struct replay_progress *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->fd = fd;
    p->messages = fopencookie(p, "w", (cookie_io_functions_t){.write = write_message});
    if (!p->messages || setvbuf(p->messages, NULL, _IOLBF, 0))
        abort();
    return p;
}

void replay_progress_free(struct replay_progress *p) {
    if (!p)
        return;
    replay_progress_clear(p);
    fclose(p->messages);
    free(p);
}

FILE *replay_progress_messages(struct replay_progress *p) {
    return p->messages;
}

void replay_progress_begin(struct replay_progress *p) {
    if (!p)
        return;
    replay_progress_clear(p);
    p->start = p->mark_packets = 0;
    p->rate = 0;
}

// "1.23 M"
static void short_number(char out[24], double v) {
    static const char *const units[] = {"", " k", " M", " G"};
    unsigned u = 0;
    for (; v >= 1000 && u < 3; u++)
        v /= 1000;
    snprintf(out, 24, u ? "%.2f%s" : "%.0f%s", v, units[u]);
}

// "0:07", "1:02:03"
static void duration(char out[32], double seconds) {
    unsigned long s = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 1000000000;
    if (s >= 3600)
        snprintf(out, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, 32, "%lu:%02lu", s / 60, s % 60);
}

static void update_rate(struct replay_progress *p, uint64_t now, uint64_t packets) {
    if (now - p->mark < FIRST_NS && p->rate > 0)
        return;
    p->rate = (double)(packets - p->mark_packets) * (double)NS_PER_S / (double)(now - p->mark + 1);
    p->mark = now;
    p->mark_packets = packets;
}

static void replay_progress_draw(struct replay_progress *p, uint64_t now, double part,
                                 uint64_t packets) {
    struct winsize w = {0};
    char line[256], rate[24], number[24], left[32] = "";
    unsigned columns = ioctl(p->fd, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 80;
    int n;
    short_number(rate, p->rate);
    if (part > 0) {
        const unsigned bar = columns < BAR_LESS ? 0 : sizeof BAR - 1;
        duration(left, (double)(now - p->start) * 1e-9 * (1 - part) / part);
        n = snprintf(line, sizeof line, "%s%-*.*s%s%3.0f %%  %s packets/s  %s left", bar ? "[" : "",
                     (int)bar, (int)(part * bar), BAR, bar ? "] " : "", part * 100, rate, left);
    } else {
        short_number(number, (double)packets);
        n = snprintf(line, sizeof line, "%s packets  %s packets/s", number, rate);
    }
    if (n >= (int)columns) // would go on in the next line
        n = (int)columns - 1;
    replay_progress_clear(p);
    replay_progress_put(p, line, (size_t)n);
    p->shown = true;
}

void replay_progress_show(struct replay_progress *p, uint64_t done, uint64_t size, uint64_t packets,
                          uint64_t limit) {
    uint64_t now = sk_clock_now();
    if (!p->start) {
        p->start = p->mark = now;
        p->next = now + FIRST_NS;
    }
    if (now < p->next)
        return;
    p->next = now + EVERY_NS;
    update_rate(p, now, packets);
    double part = size ? (double)done / (double)size : 0;
    if (limit && (double)packets / (double)limit > part)
        part = (double)packets / (double)limit;
    replay_progress_draw(p, now, part < 1 ? part : 1, packets);
}
