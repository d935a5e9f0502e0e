// SPDX-License-Identifier: Apache-2.0
//
// A comparison's setting, from a JSON file.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/compare/compare.h"

const char *const compare_names[] = {"switchml",  "switchml f16", "atp",     "libra",
                                     "dlcp",      "dlcp ring",    "servers", "sparse servers",
                                     "ring",      "gather pairs", "halving", "tree",
                                     "two trees", "hierarchical", NULL};

bool compare_for_sparse(enum compare_system system) {
    return system == COMPARE_LIBRA || system == COMPARE_SPARSE_SERVERS || system == COMPARE_GATHER;
}

static char *setting_text(const struct sk_at *at, const char *key, const char *otherwise) {
    const struct sk_at m = sk_at_member(at, key);
    const char *s = sk_at_string(&m, false);
    char *out = strdup(s ? s : otherwise);
    if (!out)
        abort();
    return out;
}

static uint64_t setting_number(const struct sk_at *at, const char *key, uint64_t min, uint64_t max,
                               uint64_t otherwise) {
    const struct sk_at m = sk_at_member(at, key);
    return m.value ? sk_at_between(&m, true, min, max) : otherwise;
}

// What the scenario takes as it is; its own reader looks at it.
static json_t *setting_kept(const struct sk_at *at, const char *key, bool list) {
    const struct sk_at m = sk_at_member(at, key);
    if (m.value && (list ? !json_is_array(m.value) : !json_is_object(m.value)))
        sk_at_fail(&m, "must be %s", list ? "a list" : "an object");
    return m.value ? json_deep_copy(m.value) : NULL;
}

static void setting_network(const struct sk_at *at, struct compare_setting *s) {
    static const char *const keys[] = {"racks", "hosts",     "spines", "link",
                                       "trunk", "ecn_bytes", NULL};
    const struct sk_at n = sk_at_member(at, "network");
    if (!json_is_object(n.value)) {
        sk_at_fail(n.value ? &n : at, n.value ? "must be an object" : "needs \"network\"");
        return;
    }
    sk_at_keys(&n, keys);
    s->racks = (uint32_t)setting_number(&n, "racks", 1, 16, 1);
    s->hosts = (uint32_t)setting_number(&n, "hosts", 1, 32, 8);
    s->spines = (uint32_t)setting_number(&n, "spines", 0, 16, 0);
    s->link = setting_kept(&n, "link", false);
    s->trunk = setting_kept(&n, "trunk", false);
    const struct sk_at ecn = sk_at_member(&n, "ecn_bytes");
    s->ecn = ecn.value ? json_integer((json_int_t)sk_at_between(&ecn, true, 0, 1000000000)) : NULL;
    const struct sk_at spines = sk_at_member(&n, "spines");
    if (s->spines && s->racks == 1)
        sk_at_fail(&spines, "are between racks; there is one");
    if (s->racks * s->hosts < 2)
        sk_at_fail(&n, "has one worker; there must be two");
}

static double setting_real(const struct sk_at *at, const char *key, double min, double max,
                           double otherwise) {
    const struct sk_at m = sk_at_member(at, key);
    const double x = json_number_value(m.value);
    if (m.value && (!json_is_number(m.value) || !(x >= min && x <= max))) {
        sk_at_fail(&m, "must be a number from %g to %g", min, max);
        return otherwise;
    }
    return m.value ? x : otherwise;
}

// A table: hosts that do not know that its gradients are sparse send all of it when the batch is
// computed.
static void setting_sparse(const struct sk_at *work, struct compare_setting *s) {
    static const char *const keys[] = {"parameters", "zipf", "draws", "hot", NULL};
    static const char *const no[] = {"scale", "every", NULL};
    const struct sk_at at = sk_at_member(work, "sparse"), hot = sk_at_member(&at, "hot");
    struct compare_sparse *p = &s->sparse;
    if (!json_is_object(at.value)) {
        sk_at_fail(&at, "must be an object");
        return;
    }
    sk_at_keys(&at, keys);
    for (size_t i = 0; no[i]; i++) {
        const struct sk_at m = sk_at_member(work, no[i]);
        if (m.value)
            sk_at_fail(&m, "is not for \"sparse\"");
    }
    p->parameters = setting_number(&at, "parameters", 1, 250000000, 1000000);
    p->zipf = setting_real(&at, "zipf", 0.1, 3, 1);
    p->draws = setting_number(&at, "draws", 1, 1000000, 1000);
    p->hot = setting_number(&at, "hot", 1, 262144, p->parameters < 30000 ? p->parameters : 30000);
    p->compute_us = 1000 * setting_real(work, "compute_ms", 0, 3600000, 0);
    p->jitter = setting_real(work, "jitter", 0, 1, 0);
    if (p->hot > p->parameters)
        sk_at_fail(&hot, "is more than there are parameters");
    json_object_set_new(s->work, "layers",
                        json_pack("[{s:I, s:f}]", "bytes", (json_int_t)p->parameters * 4,
                                  "compute_us", p->compute_us));
    json_object_set_new(s->work, "forward_us", json_integer(0));
    json_object_del(s->work, "sparse");
    json_object_del(s->work, "compute_ms");
}

// A file beside the setting.
static char *setting_beside(const char *path, const char *name) {
    const char *slash = name[0] == '/' ? NULL : strrchr(path, '/');
    char *out = malloc((slash ? (size_t)(slash - path) + 1 : 0) + strlen(name) + 1);
    if (!out)
        abort();
    memcpy(out, path, slash ? (size_t)(slash - path) + 1 : 0);
    strcpy(out + (slash ? slash - path + 1 : 0), name);
    return out;
}

static void setting_tensors(const struct sk_at *work, struct compare_setting *s) {
    const struct sk_at m = sk_at_member(work, "tensors");
    const char *name = sk_at_string(&m, true);
    size_t length;
    if (!name)
        return;
    char *path = setting_beside(m.doc->name, name);
    struct sk_error err;
    char *text = sk_read_regular_file(path, &length, &err);
    json_t *layers = text ? compare_tensors_parse(path, text, length, &err) : NULL;
    if (!layers)
        sk_at_fail(&m, "%s", err.text);
    json_object_update(s->work, layers);
    json_object_del(s->work, "tensors");
    json_decref(layers);
    free(text);
    free(path);
}

static void setting_work(const struct sk_at *at, struct compare_setting *s) {
    static const char *const keys[] = {"model",      "layers", "tensors", "sparse",
                                       "scale",      "every",  "jitter",  "compute_ms",
                                       "iterations", "values", NULL};
    static const char *const kinds[] = {"model", "layers", "tensors", "sparse", NULL};
    const struct sk_at w = sk_at_member(at, "work");
    unsigned n = 0;
    if (!json_is_object(w.value)) {
        sk_at_fail(w.value ? &w : at, w.value ? "must be an object" : "needs \"work\"");
        return;
    }
    sk_at_keys(&w, keys);
    for (size_t i = 0; kinds[i]; i++)
        n += json_object_get(w.value, kinds[i]) != NULL;
    if (n != 1)
        sk_at_fail(&w, "needs one of model, layers, tensors, sparse");
    const struct sk_at values = sk_at_member(&w, "values");
    const char *kind = sk_at_string(&values, false);
    s->integers = kind && strcmp(kind, "integers") == 0;
    if (kind && !s->integers && strcmp(kind, "floats") != 0)
        sk_at_fail(&values, "must be floats or integers");
    s->iterations = setting_number(&w, "iterations", 1, 1000, 3);
    s->work = json_deep_copy(w.value);
    json_object_del(s->work, "values");
    json_object_set_new(s->work, "kind", json_string("training"));
    json_object_set_new(s->work, "iterations", json_integer((json_int_t)s->iterations));
    if (!at->doc->failed && json_object_get(w.value, "tensors"))
        setting_tensors(&w, s);
    if (!at->doc->failed && json_object_get(w.value, "sparse"))
        setting_sparse(&w, s);
}

static void setting_systems(const struct sk_at *at, struct compare_setting *s) {
    const struct sk_at list = sk_at_member(at, "systems");
    size_t n;
    const char *const *names = sk_at_strings(&list, &n);
    for (size_t k = 0; k < COMPARE_SYSTEMS; k++)
        s->wanted[k] = !list.value && (s->sparse.parameters || !compare_for_sparse(k));
    for (size_t i = 0; i < n; i++) {
        const struct sk_at one = sk_at_item(&list, i);
        size_t k = 0;
        while (compare_names[k] && strcmp(names[i], compare_names[k]) != 0)
            k++;
        if (!compare_names[k])
            sk_at_fail(&one,
                       "'%s' is not one of switchml, switchml f16, atp, libra, dlcp, dlcp ring, "
                       "servers, sparse servers, ring, gather pairs, halving, tree, two trees, "
                       "hierarchical",
                       names[i]);
        else
            s->wanted[k] = true;
    }
    if (list.value && n == 0)
        sk_at_fail(&list, "must name a system");
}

static void setting_rest(const struct sk_at *at, struct compare_setting *s) {
    static const char *const keys[] = {"name",    "about",      "network", "work",      "faults",
                                       "jobs",    "seeds",      "slots",   "transport", "limit_ms",
                                       "systems", "background", NULL};
    static const char *const transports[] = {"newreno", "cubic", "dctcp", NULL};
    const struct sk_at jobs = sk_at_member(at, "jobs"), transport = sk_at_member(at, "transport");
    size_t k = 0;
    sk_at_keys(at, keys);
    s->faults = setting_kept(at, "faults", true);
    s->background = setting_kept(at, "background", true);
    s->jobs = (uint32_t)setting_number(at, "jobs", 1, COMPARE_MOST_JOBS, 1);
    s->seeds = setting_number(at, "seeds", 1, 1000, 3);
    s->slots = setting_number(at, "slots", 1, 4096, 128);
    s->limit_ms = setting_number(at, "limit_ms", 1, 3600000, 600000);
    while (transports[k] && strcmp(transports[k], s->transport) != 0)
        k++;
    if (!transports[k])
        sk_at_fail(&transport, "must be one of newreno, cubic, dctcp");
    if (s->jobs && (s->jobs > s->hosts || s->hosts % s->jobs)) // 0: refused before
        sk_at_fail(&jobs, "must share the %u workers of a rack evenly", s->hosts);
    if (s->racks * s->hosts / (s->jobs ? s->jobs : 1) < 2)
        sk_at_fail(&jobs, "leave one worker to a job; there must be two");
}

struct compare_setting *compare_setting_read(const char *path, struct sk_error *err) {
    size_t length;
    char *text = sk_read_regular_file(path, &length, err);
    struct compare_setting *s = text ? compare_setting_parse(path, text, length, err) : NULL;
    free(text);
    return s;
}

struct compare_setting *compare_setting_parse(const char *path, const char *text, size_t length,
                                              struct sk_error *err) {
    json_t *value = sk_json_parse(path, text, length, err);
    if (!value)
        return NULL;
    struct sk_json doc = {.name = path, .text = text, .length = length, .err = err};
    const struct sk_at top = {.doc = &doc, .value = value};
    struct compare_setting *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    if (!json_is_object(value))
        sk_at_fail(&top, "must be an object");
    s->name = setting_text(&top, "name", path);
    s->transport = setting_text(&top, "transport", "cubic");
    if (!doc.failed) {
        setting_network(&top, s);
        setting_work(&top, s);
        setting_systems(&top, s);
        setting_rest(&top, s);
    }
    sk_json_release(&doc);
    json_decref(value);
    if (!doc.failed)
        return s;
    compare_setting_free(s);
    return NULL;
}

void compare_setting_free(struct compare_setting *s) {
    if (!s)
        return;
    free(s->name);
    free(s->transport);
    json_decref(s->link);
    json_decref(s->trunk);
    json_decref(s->ecn);
    json_decref(s->work);
    json_decref(s->faults);
    json_decref(s->background);
    free(s);
}
