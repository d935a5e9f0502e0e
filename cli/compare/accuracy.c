// SPDX-License-Identifier: Apache-2.0
//
// What training loses by a system's sums, from a file of measurements.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/compare/compare.h"

static void accuracy_check(const struct sk_at *at) {
    if (!json_is_number(at->value) || !(json_number_value(at->value) >= 0) ||
        json_number_value(at->value) > 100)
        sk_at_fail(at, "must be an accuracy in %%, 0 to 100");
}

static void accuracy_read_sums(const struct sk_at *at) {
    const char *name;
    json_t *value;
    if (at->value && !json_is_object(at->value))
        sk_at_fail(at, "must be an object");
    json_object_foreach(at->value, name, value) {
        size_t k = 0;
        const struct sk_at one = sk_at_member(at, name);
        while (compare_names[k] && strcmp(name, compare_names[k]) != 0)
            k++;
        if (!compare_names[k] && strcmp(name, "exact") != 0)
            sk_at_fail(&one, "is neither a system's name nor \"exact\"");
        accuracy_check(&one);
    }
}

// Pairs of a part that is lost and an accuracy, in order.
static void accuracy_read_lost(const struct sk_at *at) {
    double before = -1;
    const size_t n = sk_at_length(at);
    for (size_t i = 0; i < n && !at->doc->failed; i++) {
        const struct sk_at pair = sk_at_item(at, i), lost = sk_at_item(&pair, 0),
                           accuracy = sk_at_item(&pair, 1);
        if (json_array_size(pair.value) != 2) {
            sk_at_fail(&pair, "must be [part that is lost, accuracy in %%]");
            return;
        }
        const double part = json_number_value(lost.value);
        if (!json_is_number(lost.value) || !(part > before && part <= 1))
            sk_at_fail(&lost, "must be a part of 1, larger than the one before");
        accuracy_check(&accuracy);
        before = part;
    }
}

json_t *compare_accuracy_parse(const char *name, const char *text, size_t length,
                               struct sk_error *err) {
    static const char *const keys[] = {"about", "sums", "lost", NULL};
    json_t *value = sk_json_parse(name, text, length, err);
    if (!value)
        return NULL;
    struct sk_json doc = {.name = name, .text = text, .length = length, .err = err};
    const struct sk_at top = {.doc = &doc, .value = value};
    if (!json_is_object(value)) {
        sk_at_fail(&top, "must be an object");
    } else {
        const struct sk_at sums = sk_at_member(&top, "sums"), lost = sk_at_member(&top, "lost");
        sk_at_keys(&top, keys);
        accuracy_read_sums(&sums);
        accuracy_read_lost(&lost);
    }
    sk_json_release(&doc);
    if (!doc.failed)
        return value;
    json_decref(value);
    return NULL;
}

json_t *compare_accuracy_read(const char *path, struct sk_error *err) {
    size_t length;
    char *text = sk_read_regular_file(path, &length, err);
    json_t *value = text ? compare_accuracy_parse(path, text, length, err) : NULL;
    free(text);
    return value;
}

static double accuracy_number(const json_t *pair, size_t i) {
    return json_number_value(json_array_get(pair, i));
}

static double accuracy_by_loss(const json_t *list, double lost) {
    const json_t *before = NULL, *after = NULL;
    for (size_t i = 0; i < json_array_size(list) && !after; i++) {
        const json_t *pair = json_array_get(list, i);
        if (accuracy_number(pair, 0) >= lost)
            after = pair;
        else
            before = pair;
    }
    if (!after || (!before && accuracy_number(after, 0) > lost))
        return 0;
    if (!before)
        return accuracy_number(after, 1);
    const double from = accuracy_number(before, 0), to = accuracy_number(after, 0);
    return accuracy_number(before, 1) +
           (lost - from) / (to - from) * (accuracy_number(after, 1) - accuracy_number(before, 1));
}

double compare_accuracy(const json_t *accuracy, enum compare_system system, double lost) {
    const json_t *sums = json_object_get(accuracy, "sums");
    if (system == COMPARE_DLCP || system == COMPARE_DLCP_RING)
        return accuracy_by_loss(json_object_get(accuracy, "lost"), lost);
    const json_t *own = json_object_get(sums, compare_names[system]);
    const bool exact = system != COMPARE_SWITCHML && system != COMPARE_SWITCHML_F16 &&
                       system != COMPARE_ATP && system != COMPARE_LIBRA;
    return json_number_value(own || !exact ? own : json_object_get(sums, "exact"));
}
