// SPDX-License-Identifier: Apache-2.0
//
// The jobs of a scenario, what they do, and the traffic besides them.
#include <stdio.h>
#include <string.h>

#include "hosts/atp/worker.h"
#include "hosts/switchml/frame.h"
#include "sim/scenario_impl.h"

#define MAX_SECONDS 3600.0
#define MAX_MS      (MAX_SECONDS * 1e3)
#define MAX_US      (MAX_SECONDS * 1e6)

static const char *const job_keys[] = {
    "name",       "protocol",      "workers",       "work",     "rto_us",
    "rto_min_us", "rto_max_us",    "hard_limit_ms", "switch",   "elements",
    "slots",      "f16",           "servers",       "flows",    "window",
    "window_max", "first_index",   "indices",       "linear",   "congestion_control",
    "rehash",     "dynamic_scale", "repeat_us",     "sessions", "levels",
    NULL};
static const char *const only_switchml[] = {"switch", "elements", "slots", "f16", "levels", NULL};
static const char *const only_atp[] = {"servers",       "flows",       "window",
                                       "window_max",    "first_index", "indices",
                                       "linear",        "rehash",      "congestion_control",
                                       "dynamic_scale", "repeat_us",   NULL};

static void forbid(const struct sk_at *at, const char *const *keys, const char *protocol) {
    for (; *keys; keys++) {
        const struct sk_at m = sk_at_member(at, *keys);
        if (m.value)
            sk_at_fail(&m, "a job of %s has no such member", protocol);
    }
}

// ---- work ----

static void read_layers(const struct sk_at *at, struct scn_work *w) {
    static const char *const keys[] = {"bytes", "compute_us", NULL};
    const struct sk_at list = sk_at_member(at, "layers");
    double total = 0;
    w->n_layers = sk_at_length(&list);
    if (w->n_layers < 1 || w->n_layers > SCN_MAX_LAYERS) {
        sk_at_fail(&list, "must be 1 to %u layers, the last of the model first", SCN_MAX_LAYERS);
        return;
    }
    w->layers = scn_keep(&list, w->n_layers, sizeof *w->layers);
    for (size_t i = 0; i < w->n_layers; i++) {
        const struct sk_at item = sk_at_item(&list, i);
        if (!json_is_object(item.value))
            sk_at_fail(&item, "must be {\"bytes\": ..., \"compute_us\": ...}");
        sk_at_keys(&item, keys);
        w->layers[i].bytes = scn_number(&item, "bytes", 4, 1e9, 4);
        w->layers[i].share = scn_number(&item, "compute_us", 0, MAX_US, 0);
        total += w->layers[i].share;
    }
    // what is said is the backward pass of each layer; forward takes half as much, or as said
    w->compute_ns = total * 1.5 * 1000;
    if (sk_at_member(at, "forward_us").value) {
        const double forward = scn_number(at, "forward_us", 0, MAX_US, 0);
        w->compute_ns = (forward + total) * 1000;
        if (w->compute_ns > 0) {
            w->forward = forward;
            w->backward = total;
            w->whole = forward + total;
        }
    }
    for (size_t i = 0; i < w->n_layers; i++)
        w->layers[i].share = total > 0 ? w->layers[i].share / total : 1.0 / (double)w->n_layers;
}

static void read_model(const struct sk_at *at, const char *name, struct scn_work *w) {
    static _Thread_local struct scn_model model;
    const struct sk_at m = sk_at_member(at, "model");
    if (!scn_model(name, &model)) {
        char all[256] = "";
        for (size_t i = 0; scn_model_names[i]; i++)
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "",
                     scn_model_names[i]);
        sk_at_fail(&m, "there is no model '%s'; the models are: %s", name, all);
        return;
    }
    w->n_layers = model.n;
    w->compute_ns = model.compute_ns;
    w->layers = scn_keep(at, model.n, sizeof *w->layers);
    memcpy(w->layers, model.layers, model.n * sizeof *w->layers);
}

// One layer of so many, and as much less computing as there are bytes less: flows and their order
// stay what they are, and there are fewer of them.
static void thin_out(struct scn_work *w, uint32_t every) {
    double bytes = 0, kept_bytes = 0, kept_share = 0;
    size_t n = 0;
    for (size_t i = 0; i < w->n_layers; i++)
        bytes += w->layers[i].bytes;
    for (size_t i = every / 2; i < w->n_layers; i += every) {
        kept_bytes += w->layers[i].bytes;
        kept_share += w->layers[i].share;
        w->layers[n++] = w->layers[i];
    }
    w->n_layers = n;
    w->compute_ns *= kept_bytes / bytes;
    for (size_t i = 0; i < n; i++)
        w->layers[i].share = kept_share > 0 ? w->layers[i].share / kept_share : 1.0 / (double)n;
}

static void read_training(const struct sk_at *at, struct scn_work *w) {
    const char *model = scn_word(at, "model", NULL);
    const struct sk_at layers = sk_at_member(at, "layers"), before = sk_at_member(at, "forward_us");
    w->forward = 1;
    w->backward = 2;
    w->whole = 3;
    if (!model == !layers.value) {
        sk_at_fail(at, "training needs either \"model\" or \"layers\"");
        return;
    }
    if (model && before.value)
        sk_at_fail(&before, "is of \"layers\" only");
    if (model)
        read_model(at, model, w);
    else
        read_layers(at, w);
    const double scale = scn_number(at, "scale", 1, 1e9, 1);
    w->compute_ns /= scale;
    for (size_t i = 0; i < w->n_layers; i++)
        w->layers[i].bytes = w->layers[i].bytes / scale < 4 ? 4 : w->layers[i].bytes / scale;
    const struct sk_at every = sk_at_member(at, "every");
    const uint32_t thin = scn_whole(at, "every", 1, SCN_MAX_LAYERS, 1);
    if (thin / 2 >= w->n_layers)
        sk_at_fail(&every, "is %u, and leaves none of %zu layers", thin, w->n_layers);
    else if (thin > 1)
        thin_out(w, thin);
    if (sk_at_member(at, "compute_ms").value)
        w->compute_ns = scn_number(at, "compute_ms", 0, MAX_MS, 0) * 1e6;
    w->jitter = scn_number(at, "jitter", 0, 1, 0);
    static const char *const forward[] = {"whole", "by layer", NULL};
    w->by_layer = scn_choice(at, "forward", forward, 0) == 1;
}

void scn_read_work(const struct sk_at *at, struct scn_work *w) {
    static const char *const kinds[] = {"constant", "training", NULL};
    static const char *const types[] = {"integers", "floats", NULL};
    static const char *const constant[] = {"kind",        "bytes",     "count",    "outstanding",
                                           "values",      "magnitude", "start_ms", "stop_ms",
                                           "collectives", NULL};
    static const char *const training[] = {"kind",      "model",       "layers",     "iterations",
                                           "scale",     "jitter",      "compute_ms", "values",
                                           "magnitude", "start_ms",    "stop_ms",    "forward",
                                           "every",     "collectives", "forward_us", NULL};
    if (!json_is_object(at->value)) {
        sk_at_fail(at, at->value ? "must be an object" : "it is missing");
        return;
    }
    w->kind = (enum scn_work_kind)scn_choice(at, "kind", kinds, SCN_CONSTANT);
    sk_at_keys(at, w->kind == SCN_TRAINING ? training : constant);
    w->floats = scn_choice(at, "values", types, 0) == 1;
    w->collectives = scn_flag(at, "collectives", false);
    w->magnitude = scn_number(at, "magnitude", 1e-6, 1e6, 1);
    w->start_ms = scn_range(at, "start_ms", 0, MAX_MS, 0);
    w->stop_ms = scn_range(at, "stop_ms", 0, MAX_MS, 0);
    if (w->kind == SCN_TRAINING) {
        w->count = scn_range(at, "iterations", 0, 1e6, 1);
        read_training(at, w);
    } else {
        w->count = scn_range(at, "count", 0, 1e6, 1);
        w->bytes = scn_range(at, "bytes", 0, 1e9, 4000000);
        w->outstanding = scn_whole(at, "outstanding", 1, 64, 1);
    }
}

// What is to begin after the end, or to stop before it begins, would be a run in which nothing
// happens.
static void check_times(const struct scenario *s, const struct sk_at *at,
                        const struct sim_range *start, const struct sim_range *stop) {
    const struct sk_at from = sk_at_member(at, "start_ms"), to = sk_at_member(at, "stop_ms");
    if (start->high >= s->limit_ms)
        sk_at_fail(&from, "can be %g, but the run ends at limit_ms, which is %g", start->high,
                   s->limit_ms);
    else if (stop->high > 0 && stop->high <= start->low)
        sk_at_fail(&to, "is at most %g, but it starts at %g at the earliest", stop->high,
                   start->low);
}

// ---- jobs ----

static bool scenario_jobs_holds(const uint32_t *list, size_t n, uint32_t x) {
    for (size_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

static void read_workers(const struct scenario *s, const struct sk_at *at, struct scn_job *job) {
    const struct sk_at m = sk_at_member(at, "workers");
    size_t hosts = 0;
    for (size_t i = 0; i < s->n_stations; i++)
        hosts += !s->stations[i].is_switch &&
                 !scenario_jobs_holds(job->servers, job->n_servers, (uint32_t)i);
    const size_t limit = job->levels                     ? SCN_MAX_LEVELLED
                         : job->protocol == SIM_SWITCHML ? 32
                                                         : SCN_MAX_WORKERS,
                 most = hosts < limit ? hosts : limit;
    if (json_is_array(m.value) && json_is_string(json_array_get(m.value, 0))) {
        job->workers = scn_stations(s, &m, true, false, &job->n_workers);
        if (job->n_workers > limit)
            sk_at_fail(&m, "is %zu workers; there can be at most %zu", job->n_workers, limit);
        for (size_t i = 0; i < job->n_workers; i++)
            if (scenario_jobs_holds(job->servers, job->n_servers, job->workers[i]))
                sk_at_fail(&m, "'%s' is a server of the job, too",
                           s->stations[job->workers[i]].name);
        return;
    }
    if (!most)
        sk_at_fail(&m, "there is no host for a worker");
    else if (m.value)
        job->worker_count = scn_range(at, "workers", 1, (double)most, 1);
    else if (hosts > limit)
        sk_at_fail(at,
                   "there are %zu hosts, but a job can have %zu workers: choose them, or their "
                   "number, with \"workers\"",
                   hosts, limit);
    else
        job->worker_count = (struct sim_range){(double)most, (double)most, false};
}

static void scenario_jobs_read_switchml(const struct scenario *s, const struct sk_at *at,
                                        struct scn_job *job) {
    const struct sk_at where = sk_at_member(at, "switch"), k = sk_at_member(at, "elements");
    forbid(at, only_atp, "SwitchML");
    job->at = where.value ? scn_station_named(s, &where, false, true) : SCN_NONE;
    job->k = scn_whole(at, "elements", 32, 256, 256);
    if (swml_size_code(job->k) < 0)
        sk_at_fail(&k, "is %u; a packet has 32, 64, 128 or 256 elements", job->k);
    job->slots = scn_range(at, "slots", 1, 4096, 128);
    job->f16 = scn_flag(at, "f16", false);
    job->levels = scn_flag(at, "levels", false);
    if (job->levels && !where.value)
        sk_at_fail(at, "has \"levels\", so it needs \"switch\", the one at the top");
    if (job->levels && scn_flag(at, "sessions", false))
        sk_at_fail(at, "has \"levels\", which jobs with \"sessions\" cannot have");
    if (job->levels && job->f16)
        sk_at_fail(at, "has \"levels\", which jobs of 16-bit floats (\"f16\") cannot have");
}

static void scenario_jobs_read_atp(const struct scenario *s, const struct sk_at *at,
                                   struct scn_job *job) {
    const struct sk_at servers = sk_at_member(at, "servers"), window = sk_at_member(at, "window");
    forbid(at, only_switchml, "ATP");
    job->servers = scn_stations(s, &servers, true, false, &job->n_servers);
    if (!job->n_servers || job->n_servers > SCN_MAX_FLOWS)
        sk_at_fail(&servers, "must be 1 to %u hosts that are parameter servers", SCN_MAX_FLOWS);
    job->flows = scn_whole(at, "flows", 1, SCN_MAX_FLOWS,
                           job->n_servers <= SCN_MAX_FLOWS ? (uint32_t)job->n_servers : 1);
    if (job->flows < job->n_servers)
        sk_at_fail(&servers, "are %zu, but the job has only %u flows", job->n_servers, job->flows);
    job->window = scn_range(at, "window", 1, ATP_WINDOW_LIMIT, 200);
    job->window_max = scn_range(at, "window_max", 1, ATP_WINDOW_LIMIT, ATP_WINDOW_LIMIT);
    if (job->window.high > job->window_max.low)
        sk_at_fail(&window, "can be %g, which is above window_max", job->window.high);
    job->first_index = scn_range(at, "first_index", 0, ATP_INDICES - 1, 0);
    job->indices = scn_range(at, "indices", 1, ATP_INDICES, ATP_INDICES);
    if (job->first_index.high + job->indices.high > ATP_INDICES) {
        const struct sk_at m = sk_at_member(at, "indices");
        sk_at_fail(&m, "extends beyond the last of %d aggregators", ATP_INDICES);
    }
    job->repeat_us = scn_number(at, "repeat_us", 0, MAX_US, 500);
    job->linear = scn_flag(at, "linear", false);
    job->fixed_window = !scn_flag(at, "congestion_control", true);
    job->rehash = scn_flag(at, "rehash", true);
    job->dynamic_scale = scn_flag(at, "dynamic_scale", false);
}

// What the communicators of real hosts cannot be told, and what has no meaning for a job that
// begins again.
static void scenario_jobs_read_sessions(const struct sk_at *at, struct scn_job *job) {
    static const char *const no[] = {"flows", "linear", "congestion_control", "repeat_us", NULL};
    for (size_t i = 0; no[i]; i++) {
        const struct sk_at m = sk_at_member(at, no[i]);
        if (m.value)
            sk_at_fail(&m, "a job with sessions has no such member");
    }
    if (job->work.count.low < 1) {
        const struct sk_at work = sk_at_member(at, "work");
        sk_at_fail(&work, "of a job with sessions needs %s of at least 1",
                   job->work.kind == SCN_TRAINING ? "\"iterations\"" : "\"count\"");
    }
}

// 'i': in the list, where jobs of Libra are, too.
static void scenario_jobs_read(struct scenario *s, const struct sk_at *at, size_t i) {
    // Of these the first two are read here.
    static const char *const protocols[] = {"switchml", "atp",   "libra", "own",
                                            "newreno",  "cubic", "dctcp", "pias",
                                            "pfabric",  "dlcp",  NULL};
    struct scn_job *job = &s->jobs[s->n_jobs++];
    if (!scn_is_exchange(at))
        sk_at_keys(at, job_keys);
    char *name = scn_keep(at, 32, 1);
    snprintf(name, 32, "job%zu", i);
    job->name = scn_word(at, "name", name);
    if (scn_is_exchange(at)) {
        const struct sk_at carried = sk_at_member(at, "work");
        scn_read_exchange(s, at, job);
        check_times(s, &carried, &job->work.start_ms, &job->work.stop_ms);
        return;
    }
    job->protocol = scn_choice(at, "protocol", protocols, 0) ? SIM_ATP : SIM_SWITCHML;
    if (!sk_at_member(at, "protocol").value)
        sk_at_fail(at, "it has no protocol (switchml, atp, libra, own or a transport)");
    const bool atp = job->protocol == SIM_ATP;
    if (atp)
        scenario_jobs_read_atp(s, at, job);
    else
        scenario_jobs_read_switchml(s, at, job);
    read_workers(s, at, job);
    job->rto_initial_us = scn_range(at, "rto_us", 1, MAX_US, atp ? 10000 : 1000);
    job->rto_min_us = scn_range(at, "rto_min_us", 1, MAX_US, atp ? 1000 : 100);
    job->rto_max_us = scn_range(at, "rto_max_us", 1, MAX_US, atp ? 1000000 : 10000);
    if (job->rto_min_us.high > job->rto_max_us.low) {
        const struct sk_at m = sk_at_member(at, "rto_min_us");
        sk_at_fail(&m, "can be more than rto_max_us");
    }
    job->hard_limit_ms = scn_range(at, "hard_limit_ms", 0, MAX_MS, 0);
    const struct sk_at work = sk_at_member(at, "work");
    scn_read_work(&work, &job->work);
    if (job->work.by_layer)
        sk_at_fail(&work, "has \"forward\": \"by layer\", which only jobs of a transport have");
    if (job->f16 && (!job->work.floats || job->work.collectives))
        sk_at_fail(&work, "of a job of 16-bit floats (\"f16\") needs \"values\": \"floats\", and "
                          "has no \"collectives\"");
    if (job->work.collectives && job->levels)
        sk_at_fail(&work, "has \"collectives\", which jobs with \"levels\" cannot have");
    if (job->work.collectives && atp)
        sk_at_fail(&work, "has \"collectives\", which only jobs of SwitchML have");
    check_times(s, &work, &job->work.start_ms, &job->work.stop_ms);
    job->sessions = scn_flag(at, "sessions", false);
    if (job->sessions)
        scenario_jobs_read_sessions(at, job);
}

// The name of item i is none of those before.
static void scenario_jobs_check_name(const struct sk_at *list, size_t i) {
    const struct sk_at item = sk_at_item(list, i);
    char usual[32], others[32];
    snprintf(usual, sizeof usual, "job%zu", i);
    const char *name = scn_word(&item, "name", usual);
    for (size_t j = 0; j < i; j++) {
        const struct sk_at other = sk_at_item(list, j);
        snprintf(others, sizeof others, "job%zu", j);
        if (strcmp(scn_word(&other, "name", others), name) == 0)
            sk_at_fail(&item, "there are two jobs '%s'", name);
    }
}

void scn_read_jobs(struct scenario *s, const struct sk_at *root) {
    const struct sk_at list = sk_at_member(root, "jobs");
    const size_t n = sk_at_length(&list);
    if (n > 64) {
        sk_at_fail(&list, "more than 64 jobs");
        return;
    }
    s->jobs = scn_keep(&list, n, sizeof *s->jobs);
    for (size_t i = 0; i < n && !root->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&list, i);
        if (!json_is_object(item.value))
            sk_at_fail(&item, "must be an object");
        else if (strcmp(scn_word(&item, "protocol", ""), "libra") == 0)
            scn_read_libra(s, &item, i);
        else if (strcmp(scn_word(&item, "protocol", ""), "own") == 0)
            scn_read_own(s, &item, i);
        else
            scenario_jobs_read(s, &item, i);
        scenario_jobs_check_name(&list, i);
    }
}

void scn_read_background(struct scenario *s, const struct sk_at *root) {
    static const char *const keys[] = {"name", "from",        "to",       "gbps",    "dscp",
                                       "ecn",  "frame_bytes", "start_ms", "stop_ms", NULL};
    const struct sk_at list = sk_at_member(root, "background");
    s->n_background = sk_at_length(&list);
    s->background = scn_keep(&list, s->n_background, sizeof *s->background);
    for (size_t i = 0; i < s->n_background && !root->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&list, i), from = sk_at_member(&item, "from"),
                           to = sk_at_member(&item, "to");
        struct scn_background *b = &s->background[i];
        if (!json_is_object(item.value)) {
            sk_at_fail(&item, "must be an object");
            return;
        }
        sk_at_keys(&item, keys);
        char *name = scn_keep(&item, 40, 1);
        snprintf(name, 40, "background%zu", i);
        b->name = scn_word(&item, "name", name);
        b->from = scn_station_named(s, &from, true, false);
        b->to = scn_station_named(s, &to, true, false);
        if (b->from == b->to)
            sk_at_fail(&to, "is the source of the traffic");
        b->gbps = scn_range(&item, "gbps", 0, 400, 0);
        if (b->gbps.low > 0 && b->gbps.low < 0.001) {
            const struct sk_at m = sk_at_member(&item, "gbps");
            sk_at_fail(&m, "is %g; it is 0 (as fast as the link) or at least 0.001", b->gbps.low);
        }
        b->frame_bytes = scn_whole(&item, "frame_bytes", 64, 1514, 1500);
        b->tos =
            (uint8_t)(scn_whole(&item, "dscp", 0, 63, 0) << 2 | scn_whole(&item, "ecn", 0, 3, 0));
        b->start_ms = scn_range(&item, "start_ms", 0, MAX_MS, 0);
        b->stop_ms = scn_range(&item, "stop_ms", 0, MAX_MS, 0);
        check_times(s, &item, &b->start_ms, &b->stop_ms);
    }
}
