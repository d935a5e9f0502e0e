// SPDX-License-Identifier: Apache-2.0
#include "cli/top/top.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/ctl/ctl_impl.h"

#define MS       1000000u
#define SHORTEST 100u // ms between two questions
#define LONGEST  60000u

struct top {
    struct sk_client *client;
    unsigned interval; // ms
    bool once, json;
    struct top_choice choice;
    json_t *before, *now; // results of "watch"
    bool paused;
    struct sk_error err; // of the last question
};

// ---- the command line ----

static int top_index_of(const char *word, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        if (ctl_is(word, names[i]))
            return i;
    return -1;
}

static bool top_choose(struct ctl *c, const char *what, const char *const *names, int n, int *out) {
    const char *word = ctl_next_word(c, what);
    *out = top_index_of(word, names, n);
    if (*out < 0 && !c->bad) {
        cli_misused("ctl", "there is no %s '%s'", what, word);
        c->bad = true;
    }
    return *out >= 0;
}

static void take_interval(struct ctl *c, struct top *t) {
    const char *word = ctl_next_word(c, "the seconds");
    char *end;
    const double seconds = strtod(word, &end);
    if (*word && !*end && seconds * 1000 >= SHORTEST && seconds * 1000 <= LONGEST)
        t->interval = (unsigned)(seconds * 1000);
    else if (!c->bad)
        c->bad = cli_misused("ctl", "'%s' must be seconds, 0.1 to 60", word);
}

static bool top_take_words(struct ctl *c, struct top *t) {
    int n;
    while (*c->words && !c->bad) {
        const char *word = *c->words++;
        if (ctl_is(word, "--once"))
            t->once = true;
        else if (ctl_is(word, "--quiet-too"))
            t->choice.quiet_too = true;
        else if (ctl_is(word, "--reverse"))
            t->choice.reverse = true;
        else if (ctl_is(word, "--interval"))
            take_interval(c, t);
        else if (ctl_is(word, "--view")) {
            if (top_choose(c, "view", top_view_names, TOP_VIEWS, &n))
                t->choice.view = (enum top_view)n;
        } else if (ctl_is(word, "--sort")) {
            if (top_choose(c, "order", top_sort_names, TOP_SORTS, &n))
                t->choice.sort = (enum top_sort)n;
        } else {
            cli_misused("ctl", "unexpected argument '%s'", word);
            c->bad = true;
        }
    }
    return !c->bad;
}

// ---- asking ----

static bool top_ask(struct top *t) {
    json_t *reply = sk_client_call(t->client, json_pack("{s:s}", "op", "watch"), &t->err);
    if (!reply)
        return false;
    json_decref(t->before);
    t->before = t->now;
    t->now = reply;
    return true;
}

// ---- without a terminal ----

static void top_print(struct top *t, struct top_data *d) {
    struct top_page page = {.width = 250, .utf8 = top_terminal_utf8()};
    const char *columns = getenv("COLUMNS");
    const long n = columns ? strtol(columns, NULL, 10) : 0;
    if (n >= 40 && n <= 1000)
        page.width = (unsigned)n;
    if (t->json) {
        json_t *out = top_data_json(d);
        json_dumpf(out, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(out);
    } else {
        top_draw(&page, d, &t->choice);
        fputs(page.bytes, stdout);
        top_page_free(&page);
    }
    fflush(stdout);
}

static void sleep_ms(unsigned ms) {
    struct timespec rest = {ms / 1000, (long)(ms % 1000) * MS};
    while (nanosleep(&rest, &rest) && errno == EINTR) {
    }
}

// JSON without --once goes on, an object a line, until the reader or the switch goes away.
static int run_plain(struct top *t) {
    for (;;) {
        struct top_data d;
        sleep_ms(t->interval);
        if (!top_ask(t))
            return EXIT_FAILED;
        if (top_data_read(&d, t->before, t->now))
            top_print(t, &d);
        top_data_free(&d);
        if (t->once || !t->json || ferror(stdout))
            return EXIT_GOOD;
    }
}

// ---- on a terminal ----

static const char keys[] =
    "q quit  tab view  s sort  r reverse  z idle ports  space pause  +/- rate";

static void last_line(struct top *t, struct top_page *p) {
    char text[160];
    snprintf(text, sizeof text, "%s, by %s, every %g s%s  ", top_view_names[t->choice.view],
             top_sort_names[t->choice.sort], t->interval / 1000.0, t->paused ? ", paused" : "");
    while (p->n_lines + 1 < p->height)
        top_line(p);
    top_put(p, TOP_DIM, text);
    top_put(p, TOP_DIM, keys);
    top_line(p);
}

static void top_show(struct top *t, const struct top_terminal *terminal) {
    struct top_data d;
    struct top_page page = {.width = terminal->width,
                            .height = terminal->height,
                            .colour = terminal->colour,
                            .utf8 = terminal->utf8};
    const unsigned height = page.height;
    if (top_data_read(&d, t->before, t->now)) {
        page.height = height > 1 ? height - 1 : 1;
        top_draw(&page, &d, &t->choice);
        page.n_lines = page.n_lines < page.height ? page.n_lines : page.height;
    } else {
        top_put(&page, TOP_PLAIN, "the first second...");
        top_line(&page);
    }
    page.height = height;
    last_line(t, &page);
    top_terminal_show(&page);
    top_page_free(&page);
    top_data_free(&d);
}

static void scroll(struct top *t, int by) {
    const int from = (int)t->choice.from + by;
    const size_t most = json_array_size(json_object_get(t->now, "ports"));
    t->choice.from = from < 0 ? 0 : (size_t)from > most ? (unsigned)most : (unsigned)from;
}

static void pace(struct top *t, unsigned interval) {
    t->interval = interval < SHORTEST ? SHORTEST : interval > LONGEST ? LONGEST : interval;
}

static void do_key(struct top *t, int key, unsigned height) {
    static const char views[] = "apdjl"; // of enum top_view
    const char *view = key > 0 && key < 256 ? strchr(views, key) : NULL;
    const int page = height > 12 ? (int)height - 10 : 2;
    if (view && *view) {
        t->choice.view = (enum top_view)(view - views);
        t->choice.from = 0;
    } else if (key == '\t') {
        t->choice.view = (t->choice.view + 1) % TOP_VIEWS;
        t->choice.from = 0;
    } else if (key == 's') {
        t->choice.sort = (t->choice.sort + 1) % TOP_SORTS;
    } else if (key == 'r') {
        t->choice.reverse = !t->choice.reverse;
    } else if (key == 'z') {
        t->choice.quiet_too = !t->choice.quiet_too;
    } else if (key == ' ') {
        t->paused = !t->paused;
    } else if (key == '+' || key == '-') {
        pace(t, key == '+' ? t->interval / 2 : t->interval * 2);
    } else if (key == TOP_UP || key == TOP_DOWN) {
        scroll(t, key == TOP_UP ? -1 : 1);
    } else if (key == TOP_PAGE_UP || key == TOP_PAGE_DOWN) {
        scroll(t, key == TOP_PAGE_UP ? -page : page);
    }
}

static int run_live(struct top *t, struct top_terminal *terminal) {
    uint64_t due = sk_clock_now() + (uint64_t)SHORTEST * MS; // the first rates are of a short time
    for (;;) {
        top_show(t, terminal);
        const uint64_t now = sk_clock_now();
        const int key = top_terminal_key(terminal, now < due ? (int)((due - now) / MS) + 1 : 0);
        if (key == -2 || key == 'q' || key == 'Q')
            return EXIT_GOOD;
        do_key(t, key, terminal->height);
        if (sk_clock_now() < due)
            continue;
        due = sk_clock_now() + (uint64_t)t->interval * MS;
        if (!t->paused && !top_ask(t))
            return EXIT_FAILED;
    }
}

// silken ctl top [--once] [--json] [--view V] [--sort S] [--reverse] [--quiet-too]
//                [--interval SECONDS]
int ctl_top(struct ctl *c) {
    struct top t = {.client = c->client, .interval = 1000, .json = c->json};
    struct top_terminal terminal;
    if (!top_take_words(c, &t))
        return EXIT_UNUSABLE;
    int status = top_ask(&t) ? EXIT_GOOD : EXIT_FAILED;
    if (status == EXIT_GOOD && (t.once || t.json || !top_terminal_open(&terminal))) {
        status = run_plain(&t);
    } else if (status == EXIT_GOOD) {
        status = run_live(&t, &terminal);
        top_terminal_close(&terminal);
    }
    if (status == EXIT_FAILED) // not on the screen that is gone now
        fprintf(stderr, "silken ctl: %s\n", t.err.text);
    json_decref(t.before);
    json_decref(t.now);
    return status;
}
