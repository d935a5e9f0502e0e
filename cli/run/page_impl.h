// SPDX-License-Identifier: Apache-2.0
//
// page: a page for browsers that shows the running switch. What its two files share.
//
//     page.c         what is asked for: files, events, traces; who may ask; who follows
//     page_events.c  what events say
//     page.html, page.css, page.js, icon.svg   the page, written into the program as they are;
//                    its design is that of `silken check --html`, whose style it loads first
//
//     GET /          the page             /check.css, /page.css, /page.js, /icon.svg: its parts
//     GET /events    a stream: "program" at its beginning and when another one runs, "now" every
//                    PAGE_EVERY_NS
//     GET /trace?port=N or ?table=NAME   a stream: "state", then "packet" or "failed", and the end
//
// Nobody looks: nothing is read from the switch. Readers change nothing; but a trace holds packets
// for a moment, and shows them, so the configuration can forbid it.
//
// Requests are refused whose Host is a name that is not known (http.h), which come from a page of
// another origin, and for a trace without the field X-Silken, which such a page cannot send.
//
// Thread-safety: the control thread.
#ifndef SILKEN_CLI_RUN_PAGE_IMPL_H
#define SILKEN_CLI_RUN_PAGE_IMPL_H

#include "cli/run/run.h"

#define PAGE_EVERY_NS UINT64_C(500000000)

// Made by the Makefile, as is the style of `silken check --html`.
extern const char run_page_html[], run_page_css[], run_page_js[], run_page_icon[];

// An event of a stream, malloc'ed.
struct page_event {
    char *text;
    size_t length;
};
// 'data' is taken over.
struct page_event page_event_of(const char *name, json_t *data);

// The request's result, or null after filling 'err'. 'request' is taken over.
json_t *page_ask(struct run *r, json_t *request, struct sk_error *err);

// The next "now", of what was asked last time ('*before', null at first) and is asked now, which
// takes its place. Its text is null when there are no rates yet.
struct page_event page_event_now(struct run *r, json_t **before);
// "program": 'report' is the text of `silken check --json` for it, or null, and then 'error' says
// why it has not been made, or is "".
struct page_event page_event_program(struct run *r, const char *report, const char *error);

// A packet's way, of a text of lines of JSON (tracer.h), as an array; null if 'table' is not ""
// and the packet does not look it up.
json_t *page_packet(const char *text, const char *table);

#endif
