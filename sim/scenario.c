// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/own/own.h"
#include "sim/scenario_impl.h"

static const char *const keys[] = {"name",       "about",    "seed",       "limit_ms",
                                   "sample_us",  "quiet_ms", "expect",     "check_aggregators",
                                   "topology",   "jobs",     "background", "faults",
                                   "controller", NULL};

// A SwitchML job forgets a worker's packet for a slot when a later one has come
// (hosts/switchml/worker.h, "what the network must keep"): reordering towards its switch would be
// the scenario's mistake.
static void scenario_check_order(const struct scenario *s, const struct sk_at *root) {
    bool switchml = false;
    for (size_t i = 0; i < s->n_jobs; i++)
        switchml |= s->jobs[i].protocol == SIM_SWITCHML;
    const struct sk_at list = sk_at_member(root, "faults");
    for (size_t i = 0; i < s->n_faults && switchml; i++) {
        const struct sk_at item = sk_at_item(&list, i);
        if (s->faults[i].kind == SCN_REORDER && s->faults[i].way != SCN_TO_HOST)
            sk_at_fail(&item, "SwitchML needs the order of packets to its switch: reorder them "
                              "\"to\": \"hosts\" only");
    }
}

static void scenario_read_all(struct scenario *s, const struct sk_at *root) {
    static const char *const outcomes[] = {"sums", "sums or failure", "anything", NULL};
    if (!json_is_object(root->value)) {
        sk_at_fail(root, "must be an object");
        return;
    }
    sk_at_keys(root, keys);
    s->name = scn_word(root, "name", "unnamed");
    s->about = scn_word(root, "about", "");
    const struct sk_at seed = sk_at_member(root, "seed");
    s->seed = seed.value ? sk_at_number(&seed, false, INT64_MAX) : 1;
    s->limit_ms = scn_number(root, "limit_ms", 0.001, 3.6e6, 10000);
    s->sample_us = scn_number(root, "sample_us", 0, 3.6e9, 0);
    if (s->sample_us > 0 && s->sample_us < 1) {
        const struct sk_at sample = sk_at_member(root, "sample_us");
        sk_at_fail(&sample, "is %g; the distance of samples is at least 1, or 0 for none",
                   s->sample_us);
    }
    s->quiet_ms = scn_number(root, "quiet_ms", 0, 1e5, 10);
    const unsigned expect = scn_choice(root, "expect", outcomes, 0);
    s->may_fail = expect >= 1;
    s->any_sums = expect == 2;
    s->check_aggregators = scn_flag(root, "check_aggregators", true);
    scn_read_topology(s, root);
    if (!root->doc->failed)
        scn_read_jobs(s, root);
    if (!root->doc->failed)
        scn_read_controller(s, root);
    if (!root->doc->failed)
        scn_read_background(s, root);
    if (!root->doc->failed)
        scn_read_faults(s, root);
    if (!root->doc->failed)
        scenario_check_order(s, root);
}

struct scenario *sim_scenario_parse(const char *path, const char *text, size_t length,
                                    struct sk_error *err) {
    struct scenario *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->doc = (struct sk_json){.name = path, .text = text, .length = length, .err = err};
    s->root = sk_json_parse(path, text, length, err);
    if (!s->root) {
        s->doc.failed = true;
    } else {
        const struct sk_at root = {.doc = &s->doc, .value = s->root};
        scenario_read_all(s, &root);
    }
    s->doc.text = NULL; // the caller's
    if (!s->doc.failed)
        return s;
    sim_scenario_free(s);
    return NULL;
}

struct scenario *sim_scenario_read(const char *path, struct sk_error *err) {
    size_t length;
    char *text = sk_read_file(path, &length, err);
    struct scenario *s = text ? sim_scenario_parse(path, text, length, err) : NULL;
    free(text);
    return s;
}

void sim_scenario_free(struct scenario *s) {
    if (!s)
        return;
    own_close(s);
    json_decref(s->root);
    sk_json_release(&s->doc);
    free(s);
}
