// SPDX-License-Identifier: Apache-2.0
//
// fuzz_setting: any bytes as a setting of `silken compare`, as its list of tensors, and as measured
// accuracies. What is read of a setting is a scenario for each system, which the simulator's reader
// takes or refuses with a sentence.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"
#include "sim/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_setting_refused(const struct sk_error *err) {
    if (!err->text[0] || strchr(err->text, '\n'))
        abort(); // without a word, or with too many
}

static void fuzz_setting_scenarios(struct compare_setting *s) {
    for (size_t i = 0; i < COMPARE_SYSTEMS; i++) {
        const char *why = NULL;
        struct sk_error err = {""};
        json_t *scenario = s->wanted[i] && s->sparse.draws < 10000
                               ? compare_scenario(s, (enum compare_system)i, &why)
                               : NULL;
        char *text = scenario ? json_dumps(scenario, 0) : NULL;
        struct scenario *sc = text ? sim_scenario_parse("s.json", text, strlen(text), &err) : NULL;
        if (text && !sc)
            fuzz_setting_refused(&err);
        if (!(compare_memory(s, (enum compare_system)i) >= 0))
            abort();
        sim_scenario_free(sc);
        free(text);
        json_decref(scenario);
    }
}

static void fuzz_setting_tensors(const char *text, size_t n) {
    struct sk_error err = {""};
    size_t i;
    json_t *layer, *work = compare_tensors_parse("fuzz", text, n, &err);
    if (!work)
        fuzz_setting_refused(&err);
    json_array_foreach(json_object_get(work, "layers"), i,
                       layer) if (!(json_number_value(json_object_get(layer, "compute_us")) >= 0) ||
                                  json_integer_value(json_object_get(layer, "bytes")) < 4) abort();
    json_decref(work);
}

static void fuzz_setting_accuracy(const char *text, size_t n) {
    struct sk_error err = {""};
    json_t *accuracy = compare_accuracy_parse("fuzz", text, n, &err);
    if (!accuracy)
        fuzz_setting_refused(&err);
    for (size_t i = 0; i < COMPARE_SYSTEMS; i++)
        for (int part = 0; part <= 10; part++) {
            const double a = compare_accuracy(accuracy, (enum compare_system)i, part / 10.0);
            if (!(a >= 0 && a <= 100))
                abort();
        }
    json_decref(accuracy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct sk_error err = {""};
    if (size > 65536)
        return 0;
    char *text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    fuzz_setting_tensors(text, size);
    fuzz_setting_accuracy(text, size);
    struct compare_setting *s = compare_setting_parse("fuzz/s.json", text, size, &err);
    if (s)
        fuzz_setting_scenarios(s);
    else
        fuzz_setting_refused(&err);
    compare_setting_free(s);
    free(text);
    return 0;
}
