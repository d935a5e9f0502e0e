// SPDX-License-Identifier: Apache-2.0
//
// Small values of a scenario: numbers, ranges, words, names.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/scenario_impl.h"

double sim_draw(struct sim_random *r, const struct sim_range *range) {
    const double x = sim_random_real(r);
    if (range->low == range->high)
        return range->low;
    if (range->log)
        return exp(log(range->low) + x * (log(range->high) - log(range->low)));
    return range->low + x * (range->high - range->low);
}

void *scn_keep(const struct sk_at *at, size_t n, size_t size) {
    return sk_json_keep(at->doc, (n ? n : 1) * size);
}

static double scenario_values_number(const struct sk_at *at, double least, double most) {
    const double v = json_number_value(at->value);
    if (!json_is_number(at->value))
        sk_at_fail(at, "must be a number");
    else if (!(v >= least && v <= most))
        sk_at_fail(at, "is %g; it must be from %g to %g", v, least, most);
    else
        return v;
    return least;
}

double scn_number(const struct sk_at *at, const char *key, double least, double most,
                  double otherwise) {
    const struct sk_at m = sk_at_member(at, key);
    return m.value ? scenario_values_number(&m, least, most) : otherwise;
}

uint32_t scn_whole(const struct sk_at *at, const char *key, uint32_t least, uint32_t most,
                   uint32_t otherwise) {
    const struct sk_at m = sk_at_member(at, key);
    if (!m.value)
        return otherwise;
    if (!json_is_integer(m.value))
        sk_at_fail(&m, "must be a whole number");
    return (uint32_t)scenario_values_number(&m, least, most);
}

static bool read_pair(const struct sk_at *at, double least, double most, struct sim_range *out) {
    if (sk_at_length(at) != 2) {
        sk_at_fail(at, "must be two numbers, the smallest and the largest");
        return false;
    }
    const struct sk_at low = sk_at_item(at, 0), high = sk_at_item(at, 1);
    out->low = scenario_values_number(&low, least, most);
    out->high = scenario_values_number(&high, least, most);
    if (out->low > out->high)
        sk_at_fail(at, "starts with %g, which is more than %g", out->low, out->high);
    return out->low <= out->high;
}

struct sim_range scn_range(const struct sk_at *at, const char *key, double least, double most,
                           double otherwise) {
    const struct sk_at m = sk_at_member(at, key);
    struct sim_range r = {otherwise, otherwise, false};
    if (json_is_array(m.value)) {
        if (!read_pair(&m, least, most, &r))
            r = (struct sim_range){otherwise, otherwise, false};
    } else if (json_is_object(m.value)) {
        static const char *const keys[] = {"log", NULL};
        sk_at_keys(&m, keys);
        const struct sk_at pair = sk_at_member(&m, "log");
        r.log = true;
        if (!json_is_array(pair.value))
            sk_at_fail(&m,
                       "must be a number, [smallest, largest] or {\"log\": [smallest, largest]}");
        else if (read_pair(&pair, least, most, &r) && r.low <= 0)
            sk_at_fail(&pair, "must be above 0 to be drawn from all orders of magnitude");
        if (m.doc->failed)
            r = (struct sim_range){otherwise, otherwise, false};
    } else if (m.value) {
        r.low = r.high = scenario_values_number(&m, least, most);
    }
    return r;
}

bool scn_flag(const struct sk_at *at, const char *key, bool otherwise) {
    const struct sk_at m = sk_at_member(at, key);
    if (m.value && !json_is_boolean(m.value))
        sk_at_fail(&m, "must be true or false");
    return m.value ? json_is_true(m.value) : otherwise;
}

const char *scn_word(const struct sk_at *at, const char *key, const char *otherwise) {
    const struct sk_at m = sk_at_member(at, key);
    const char *word = m.value ? sk_at_string(&m, true) : NULL;
    return word ? word : otherwise;
}

unsigned scn_choice(const struct sk_at *at, const char *key, const char *const *words,
                    unsigned otherwise) {
    const struct sk_at m = sk_at_member(at, key);
    const char *word = m.value ? sk_at_string(&m, true) : NULL;
    char all[256] = "";
    if (!word)
        return otherwise;
    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0)
            return i;
        const size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", words[i]);
    }
    sk_at_fail(&m, "is '%s'; it must be one of %s", word, all);
    return otherwise;
}

// ---- names ----

uint32_t scn_station_named(const struct scenario *s, const struct sk_at *at, bool hosts,
                           bool switches) {
    const char *name = sk_at_string(at, true);
    for (uint32_t i = 0; name && i < s->n_stations; i++) {
        if (strcmp(s->stations[i].name, name) != 0)
            continue;
        if (s->stations[i].is_switch ? switches : hosts)
            return i;
        sk_at_fail(at, "'%s' is a %s", name, s->stations[i].is_switch ? "switch" : "host");
        return 0;
    }
    if (name)
        sk_at_fail(at, "there is no %s '%s'", hosts ? switches ? "station" : "host" : "switch",
                   name);
    return 0;
}

uint32_t *scn_stations(const struct scenario *s, const struct sk_at *list, bool hosts,
                       bool switches, size_t *n) {
    *n = sk_at_length(list);
    uint32_t *out = scn_keep(list, *n, sizeof *out);
    for (size_t i = 0; i < *n; i++) {
        const struct sk_at item = sk_at_item(list, i);
        out[i] = scn_station_named(s, &item, hosts, switches);
        for (size_t j = 0; j < i; j++)
            if (out[j] == out[i])
                sk_at_fail(&item, "is in the list twice");
    }
    return out;
}

uint32_t scn_cable_named(const struct scenario *s, const struct sk_at *at) {
    const char *name = sk_at_string(at, true);
    for (uint32_t i = 0; name && i < s->n_cables; i++) {
        const char *a = s->stations[s->cables[i].a].name, *b = s->stations[s->cables[i].b].name;
        const size_t na = strlen(a), nb = strlen(b);
        if (strlen(name) != na + nb + 1)
            continue;
        if ((strncmp(name, a, na) == 0 && name[na] == '-' && strcmp(name + na + 1, b) == 0) ||
            (strncmp(name, b, nb) == 0 && name[nb] == '-' && strcmp(name + nb + 1, a) == 0))
            return i;
    }
    if (name)
        sk_at_fail(at,
                   "there is no link '%s'; a link's name is that of its two ends, as in 'h0-s0'",
                   name);
    return 0;
}
