// SPDX-License-Identifier: Apache-2.0
#include "cli/run/page_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "compiler/chip/report/html.h"
#include "control/watch/http.h"

#define PAGE_FIRST_NS UINT64_C(200000000) // of which the first rates are
#define TRACE_READ_NS UINT64_C(20000000)
#define TRACE_SECONDS 30u
#define TRACE_LOOKED  1000u      // packets that are traced for one that looks up a table
#define PAGE_CLIENT   UINT64_MAX // the page, as a client of traces
#define NO_PORT       UINT32_MAX
#define TABLE_NAME    160u

// What every reply says: no part of the page is made of what somebody wrote into it, nothing is
// loaded from elsewhere, and no other page shows it.
static const char page_headers[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Frame-Options: DENY\r\n";

// A trace that a reader asked for; stream 0: none.
struct page_trace {
    uint64_t stream;
    uint32_t port; // or NO_PORT
    char table[TABLE_NAME];
    uint64_t due;
    unsigned looked; // packets that did not look up the table
    char state[16];  // that was told
};

struct run_page {
    struct http_server *http;
    uint64_t followers[HTTP_STREAMS], greeted[HTTP_STREAMS]; // streams of events; 0: a free place
    uint64_t due;
    json_t *before;                // result of "watch"
    struct run_compiler *reporter; // of the report, while it is made
    char *report, *report_error;   // of the program; null: not yet
    struct page_trace trace, wanted;
};

// ---- streams ----

// The event is freed.
static void page_send(struct run_page *p, uint64_t stream, struct page_event e, uint64_t now) {
    if (e.text)
        http_stream_send(p->http, stream, e.text, e.length, now);
    free(e.text);
}

static bool page_has_followers(struct run_page *p) {
    bool any = false;
    for (size_t i = 0; i < HTTP_STREAMS; i++) {
        if (p->followers[i] && !http_stream_is_open(p->http, p->followers[i]))
            p->followers[i] = 0;
        any |= p->followers[i] != 0;
    }
    return any;
}

// ---- the program's report ----

void run_page_program_changed(struct run *r) {
    struct run_page *p = r->page;
    if (!p)
        return;
    run_compiler_free(p->reporter);
    free(p->report);
    free(p->report_error);
    p->reporter = NULL;
    p->report = p->report_error = NULL;
    memset(p->greeted, 0, sizeof p->greeted);
}

// By a process of its own, once for a program.
static void page_make_report(struct run *r) {
    struct run_page *p = r->page;
    struct sk_error err = {""};
    if (p->report || p->report_error)
        return;
    if (!p->reporter && run_source_next(r->source))
        sk_fail(&err, "the switch runs several programs, and a report is of one: `silken check`");
    else if (!p->reporter)
        p->reporter = run_compiler_report(r, run_source_options(r->source), &err);
    if (p->reporter && !run_compiler_ended(p->reporter))
        return;
    p->report = p->reporter ? run_compiler_text(p->reporter, &err) : NULL;
    if (!p->report && !(p->report_error = strdup(err.text)))
        abort();
    run_compiler_free(p->reporter);
    p->reporter = NULL;
}

// Those who have not been told which program runs, as soon as its report is there.
static void page_greet(struct run *r, uint64_t now) {
    struct run_page *p = r->page;
    page_make_report(r);
    if (!p->report && !p->report_error)
        return;
    for (size_t i = 0; i < HTTP_STREAMS; i++) {
        if (!p->followers[i] || p->greeted[i] == p->followers[i])
            continue;
        p->greeted[i] = p->followers[i];
        page_send(p, p->followers[i],
                  page_event_program(r, p->report, p->report_error ? p->report_error : ""), now);
    }
}

// ---- now ----

static void page_tell_now(struct run *r, uint64_t now) {
    struct run_page *p = r->page;
    if (now < p->due)
        return;
    run_watch_look_now(r, now); // alarms are as new as all else
    const bool first = !p->before;
    struct page_event e = page_event_now(r, &p->before);
    p->due = now + (first ? PAGE_FIRST_NS : PAGE_EVERY_NS);
    for (size_t i = 0; i < HTTP_STREAMS && e.text; i++)
        if (p->followers[i])
            http_stream_send(p->http, p->followers[i], e.text, e.length, now);
    free(e.text);
}

// ---- traces ----

static void page_trace_fail(struct run_page *p, uint64_t stream, const char *why, uint64_t now) {
    page_send(p, stream, page_event_of("failed", json_pack("{s:s}", "error", why)), now);
    http_stream_end(p->http, stream);
}

static void page_trace_end(struct run *r) {
    r->page->trace = (struct page_trace){0};
    run_trace_left(r, PAGE_CLIENT);
}

static void page_trace_start(struct run *r, uint64_t now) {
    struct run_page *p = r->page;
    struct sk_error err;
    if (p->trace.stream) {
        page_trace_fail(p, p->trace.stream, "another trace was asked for", now);
        page_trace_end(r);
    }
    p->trace = p->wanted;
    p->wanted = (struct page_trace){0};
    const struct page_trace *t = &p->trace;
    json_t *request =
        json_pack("{s:s, s:s, s:i, s:i}", "op", "trace.start", "form", "json", "count",
                  *t->table ? (int)TRACE_LOOKED : 1, "timeout", (int)TRACE_SECONDS);
    if (t->port != NO_PORT)
        json_object_set_new(request, "ports", json_pack("[i]", (int)t->port));
    const uint64_t client = r->control.client;
    r->control.client = PAGE_CLIENT;
    json_t *reply = page_ask(r, request, &err);
    r->control.client = client;
    if (!reply) {
        page_trace_fail(p, t->stream, err.text, now);
        p->trace = (struct page_trace){0};
    }
    json_decref(reply);
}

// True when the packet was one that was asked for.
static bool page_trace_show(struct run_page *p, const json_t *reply, uint64_t now) {
    struct page_trace *t = &p->trace;
    size_t i;
    json_t *text;
    json_array_foreach(json_object_get(reply, "packets"), i, text) {
        json_t *events = page_packet(json_string_value(text), t->table);
        t->looked++;
        if (!events)
            continue;
        page_send(p, t->stream,
                  page_event_of("packet", json_pack("{s:o, s:i, s:I}", "events", events, "looked",
                                                    (int)t->looked, "differing",
                                                    sk_json_number(reply, "differing"))),
                  now);
        http_stream_end(p->http, t->stream);
        return true;
    }
    return false;
}

static void page_trace_read(struct run *r, uint64_t now) {
    struct run_page *p = r->page;
    struct page_trace *t = &p->trace;
    struct sk_error err;
    char why[160];
    json_t *reply = page_ask(r, json_pack("{s:s}", "op", "trace.read"), &err);
    const char *state = reply ? sk_json_text(reply, "state") : "failed";
    const char *error = reply ? sk_json_text(reply, "error") : err.text;
    const bool over = strcmp(state, "done") == 0 || strcmp(state, "failed") == 0;
    if (!over && strcmp(state, t->state) != 0) {
        snprintf(t->state, sizeof t->state, "%s", state);
        page_send(p, t->stream, page_event_of("state", json_pack("{s:s}", "state", state)), now);
    }
    const bool shown = reply && page_trace_show(p, reply, now);
    if (over && !shown) {
        if (t->looked > 0)
            snprintf(why, sizeof why, "none of %u packets looked up this table", t->looked);
        else
            snprintf(why, sizeof why, "no packet came within %u s", TRACE_SECONDS);
        page_trace_fail(p, t->stream, *error ? error : why, now);
    }
    if (over || shown)
        page_trace_end(r);
    json_decref(reply);
}

static void page_trace_turn(struct run *r, uint64_t now) {
    struct run_page *p = r->page;
    if (p->wanted.stream)
        page_trace_start(r, now);
    if (p->trace.stream && !http_stream_is_open(p->http, p->trace.stream))
        page_trace_end(r);
    if (!p->trace.stream || now < p->trace.due)
        return;
    p->trace.due = now + TRACE_READ_NS;
    page_trace_read(r, now);
}

// ---- requests ----

static struct http_page page_stream(void) {
    static const char begin[] = ": silken\n\n"; // a comment: the stream is open
    return (struct http_page){.type = "text/event-stream",
                              .body = begin,
                              .length = sizeof begin - 1,
                              .headers = page_headers,
                              .stream = true};
}

static struct http_page page_status(unsigned status) {
    return (struct http_page){.status = status, .headers = page_headers};
}

static struct http_page page_follow(struct run_page *p, const struct http_request *q, uint64_t id) {
    page_has_followers(p); // those that are gone leave their places
    for (size_t i = 0; i < HTTP_STREAMS && !q->head; i++)
        if (!p->followers[i]) {
            p->followers[i] = id;
            return page_stream();
        }
    return q->head ? page_stream() : page_status(503);
}

static struct http_page page_want_trace(struct run *r, const struct http_request *q, uint64_t id) {
    struct page_trace t = {.stream = id, .port = NO_PORT};
    char port[8];
    if (!r->config->page.trace || !q->by_page)
        return page_status(403);
    if (http_query_value(q->query, "port", port, sizeof port)) {
        char *end;
        const unsigned long number = strtoul(port, &end, 10);
        if (port[0] < '0' || port[0] > '9' || *end || number >= SK_PORTS)
            return page_status(400);
        t.port = (uint32_t)number;
    } else if (!http_query_value(q->query, "table", t.table, sizeof t.table) || !*t.table) {
        return page_status(400);
    }
    if (!q->head)
        r->page->wanted = t;
    return page_stream();
}

static struct http_page page_answer(void *aux, const struct http_request *q, uint64_t id) {
    static const struct {
        const char *path, *type, *body;
    } files[] = {
        {"/", "text/html; charset=utf-8", run_page_html},
        {"/check.css", "text/css; charset=utf-8", report_page_css},
        {"/page.css", "text/css; charset=utf-8", run_page_css},
        {"/page.js", "text/javascript; charset=utf-8", run_page_js},
        {"/icon.svg", "image/svg+xml", run_page_icon},
    };
    struct run *r = aux;
    if (!http_host_is_own(q->host, r->config->page.names))
        return page_status(421);
    if (!http_is_same_origin(q))
        return page_status(403);
    if (strcmp(q->path, "/events") == 0)
        return page_follow(r->page, q, id);
    if (strcmp(q->path, "/trace") == 0)
        return page_want_trace(r, q, id);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(q->path, files[i].path) == 0)
            return (struct http_page){.type = files[i].type,
                                      .body = files[i].body,
                                      .length = strlen(files[i].body),
                                      .headers = page_headers};
    return page_status(404);
}

// ---- from start to end ----

bool run_page_start(struct run *r) {
    struct sk_error err;
    if (!r->config->page.listen)
        return true;
    r->page = calloc(1, sizeof *r->page);
    if (!r->page)
        abort();
    r->page->http = http_open(&r->config->page.address, "the page", &err);
    return r->page->http || run_say(err.text);
}

void run_page_turn(struct run *r, uint64_t now) {
    struct run_page *p = r->page;
    if (!p)
        return;
    http_poll(p->http, now, page_answer, r);
    page_trace_turn(r, now);
    if (!page_has_followers(p)) {
        json_decref(p->before); // the next reader's first rates are not of the time till then
        p->before = NULL;
        p->due = 0;
        return;
    }
    page_greet(r, now);
    page_tell_now(r, now);
}

uint16_t run_page_port(const struct run *r) {
    return r->page ? http_port(r->page->http) : 0;
}

void run_page_end(struct run *r) {
    struct run_page *p = r->page;
    if (!p)
        return;
    http_close(p->http);
    run_compiler_free(p->reporter);
    json_decref(p->before);
    free(p->report);
    free(p->report_error);
    free(p);
    r->page = NULL;
}
