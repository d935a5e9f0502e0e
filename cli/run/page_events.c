// SPDX-License-Identifier: Apache-2.0
#include "cli/run/page_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/top/top.h"
#include "control/state/jobs.h"
#include "control/watch/hits.h"

#ifndef SILKEN_VERSION
#define SILKEN_VERSION "unknown"
#endif

struct page_event page_event_of(const char *name, json_t *data) {
    struct page_event e = {0};
    char *text = json_dumps(data, JSON_COMPACT);
    json_decref(data);
    // text without line ends: JSON escapes them
    const int n = asprintf(&e.text, "event: %s\ndata: %s\n\n", name, text ? text : "null");
    if (n < 0)
        abort();
    free(text);
    e.length = (size_t)n;
    return e;
}

json_t *page_ask(struct run *r, json_t *request, struct sk_error *err) {
    const struct sk_service service = run_service(r, run_now());
    char *text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    if (!text)
        abort();
    json_t *reply = sk_request(&service, text, strlen(text)), *result = NULL;
    free(text);
    if (json_is_true(json_object_get(reply, "ok")))
        result = json_incref(json_object_get(reply, "result"));
    else
        sk_fail(err, "%s", sk_json_text(reply, "error"));
    json_decref(reply);
    return result;
}

// ---- now ----

// Those in which something waits, by port.
static json_t *page_queues(const json_t *watch) {
    json_t *list = json_array(), *p;
    size_t i;
    json_array_foreach(json_object_get(watch, "ports"), i, p) {
        json_t *queues = json_object_get(p, "queues");
        if (json_array_size(queues) > 0)
            json_array_append_new(list,
                                  json_pack("{s:O, s:s, s:O}", "port", json_object_get(p, "port"),
                                            "name", sk_json_text(p, "name"), "queues", queues));
    }
    return list;
}

struct page_event page_event_now(struct run *r, json_t **before) {
    struct sk_error ignored;
    struct top_data d;
    struct page_event e = {0};
    json_t *now = page_ask(r, json_pack("{s:s}", "op", "watch"), &ignored);
    if (!now)
        return e;
    if (*before && top_data_read(&d, *before, now)) {
        struct sk_pauses pauses = run_pauses(r);
        json_t *out = json_pack("{s:o, s:O, s:O, s:o}", "top", top_data_json(&d), "stats",
                                json_object_get(now, "stats"), "jobs", json_object_get(now, "jobs"),
                                "queues", page_queues(now));
        json_object_set_new(out, "slots", sk_jobs_map(r->sw, run_now(), &pauses));
        json_object_set_new(out, "tables", sk_hits_json(r->sw, &pauses));
        e = page_event_of("now", out);
    }
    if (*before)
        top_data_free(&d);
    json_decref(*before);
    *before = now;
    return e;
}

// ---- program ----

// Of a unit of the chip what the map shows.
static json_t *page_unit(const json_t *unit) {
    static const char *const keys[] = {"name", "gress", "kind", "id", "stages", "entries"};
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set(out, keys[i], json_object_get(unit, keys[i]));
    return out;
}

static json_t *page_pipeline(const json_t *pipeline) {
    json_t *units = json_array(), *unit;
    size_t i;
    json_array_foreach(json_object_get(pipeline, "tables"), i, unit) {
        json_array_append_new(units, page_unit(unit));
    }
    const json_t *resources = json_object_get(pipeline, "resources");
    return json_pack("{s:s, s:O?, s:o, s:O?, s:O?}", "name", sk_json_text(pipeline, "name"),
                     "stages", json_object_get(pipeline, "stages"), "units", units, "limits",
                     json_object_get(resources, "limits"), "used",
                     json_object_get(resources, "stages"));
}

static json_t *page_chip(const char *report) {
    json_t *whole = report ? json_loads(report, 0, NULL) : NULL, *pipeline;
    json_t *pipelines = json_array();
    size_t i;
    json_array_foreach(json_object_get(whole, "pipelines"), i, pipeline) {
        json_array_append_new(pipelines, page_pipeline(pipeline));
    }
    json_t *out =
        whole ? json_pack("{s:O?, s:O?, s:O?, s:o}", "target", json_object_get(whole, "target"),
                          "verdict", json_object_get(whole, "verdict"), "stages_limit",
                          json_object_get(whole, "stages_limit"), "pipelines", pipelines)
              : json_null();
    if (!whole)
        json_decref(pipelines);
    json_decref(whole);
    return out;
}

struct page_event page_event_program(struct run *r, const char *report, const char *error) {
    json_t *path = json_string(sk_switch_program(r->sw)->path);
    json_t *out =
        json_pack("{s:o?, s:s, s:b, s:o, s:s}", "program", path, "version", SILKEN_VERSION, "trace",
                  (int)r->config->page.trace, "chip", page_chip(report), "error", error);
    return page_event_of("program", out);
}

// ---- a packet's way ----

static bool page_looks_up(const json_t *event, const char *table) {
    return strcmp(sk_json_text(event, "event"), "table") == 0 &&
           strcmp(sk_json_text(event, "name"), table) == 0;
}

json_t *page_packet(const char *text, const char *table) {
    json_t *events = json_array();
    bool found = !*table;
    for (const char *line = text; *line;) {
        const size_t n = strcspn(line, "\n");
        json_t *event = json_loadb(line, n, 0, NULL);
        if (event) {
            found |= page_looks_up(event, table);
            json_array_append_new(events, event);
        }
        line += n + (line[n] == '\n');
    }
    if (!found)
        json_decref(events);
    return found ? events : NULL;
}
