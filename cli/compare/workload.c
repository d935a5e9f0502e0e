// SPDX-License-Identifier: Apache-2.0
//
// What is to be summed: tensors of a file.
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/compare/compare.h"

#define WORKLOAD_MOST_ELEMENTS UINT64_C(250000000) // of a tensor: a scenario's layer has 1e9 bytes
#define WORKLOAD_MOST_US       3.6e9

struct workload_tensor {
    uint64_t elements;
    double ready_us;
    size_t number; // in the file: of two that are ready at a time the first one goes first
};

static int workload_order(const void *a, const void *b) {
    const struct workload_tensor *x = a, *y = b;
    if (x->ready_us < y->ready_us || x->ready_us > y->ready_us)
        return x->ready_us < y->ready_us ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void workload_read_tensor(const struct sk_at *at, struct workload_tensor *t) {
    static const char *const keys[] = {"name", "elements", "ready_us", NULL};
    if (!json_is_object(at->value)) {
        sk_at_fail(at, "must be {\"name\": ..., \"elements\": ..., \"ready_us\": ...}");
        return;
    }
    const struct sk_at name = sk_at_member(at, "name"), elements = sk_at_member(at, "elements"),
                       ready = sk_at_member(at, "ready_us");
    sk_at_keys(at, keys);
    sk_at_string(&name, false);
    t->elements = sk_at_between(&elements, true, 1, WORKLOAD_MOST_ELEMENTS);
    t->ready_us = json_number_value(ready.value);
    if (!json_is_number(ready.value))
        sk_at_fail(ready.value ? &ready : at, "needs \"ready_us\", a number");
    else if (!(t->ready_us >= 0 && t->ready_us <= WORKLOAD_MOST_US))
        sk_at_fail(&ready, "is %g; it must be from 0 to %g", t->ready_us, WORKLOAD_MOST_US);
}

// A layer's computing ends when its tensor is ready; nothing comes before the first one.
static json_t *workload_layers(const struct workload_tensor *t, size_t n) {
    json_t *layers = json_array();
    double before = 0;
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(layers,
                              json_pack("{s:I, s:f}", "bytes", (json_int_t)t[i].elements * 4,
                                        "compute_us", t[i].ready_us - before));
        before = t[i].ready_us;
    }
    return json_pack("{s:o, s:i}", "layers", layers, "forward_us", 0);
}

json_t *compare_tensors_parse(const char *name, const char *text, size_t length,
                              struct sk_error *err) {
    json_t *value = sk_json_parse(name, text, length, err), *out = NULL;
    if (!value)
        return NULL;
    struct sk_json doc = {.name = name, .text = text, .length = length, .err = err};
    const struct sk_at top = {.doc = &doc, .value = value};
    const size_t n = json_array_size(value);
    struct workload_tensor *t = calloc(COMPARE_MOST_TENSORS, sizeof *t);
    if (!t)
        abort();
    if (!json_is_array(value) || n < 1 || n > COMPARE_MOST_TENSORS)
        sk_at_fail(&top, "must be a list of 1 to %u tensors", COMPARE_MOST_TENSORS);
    for (size_t i = 0; i < n && !doc.failed; i++) {
        const struct sk_at item = sk_at_item(&top, i);
        t[i].number = i;
        workload_read_tensor(&item, &t[i]);
    }
    if (!doc.failed) {
        qsort(t, n, sizeof *t, workload_order);
        out = workload_layers(t, n);
    }
    free(t);
    sk_json_release(&doc);
    json_decref(value);
    return out;
}
