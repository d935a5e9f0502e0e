// SPDX-License-Identifier: Apache-2.0
//
// What the sums of a job must be, from what its workers pushed (libra.h), against what its cells
// and servers hold at the end; and what else has to hold then.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/control.h"
#include "control/tables/names.h"
#include "hosts/core/float_bits.h"
#include "sim/cpu.h"
#include "sim/libra/job.h"
#include "sim/real.h"

#define POSSIBLE 14u   // of random integers: so many are tried in all combinations
#define ADDER    2e-4  // error of an addition, relative to the sum (hosts/libra/adder.h)
#define FLOATS   1e-12 // of a server's
#define REASONS  16u

struct sums_key {
    uint64_t rank;
    uint32_t terms;
    uint64_t certain;                                  // integers
    double least, most;                                // floats
    uint8_t tags[LSIM_TAGS], tags_possible[LSIM_TAGS]; // certain; certain and possible
    uint8_t n_possible;                                // POSSIBLE + 1: more
    uint32_t possible[POSSIBLE];
};
struct sums {
    struct lsim_job *job;
    struct libra_key_map map; // rank -> index
    struct sums_key *keys;
    size_t room;
    json_t *registers; // of the switch that has the job; null: none has it
};

// ---- what was pushed ----

static struct sums_key *lsim_sums_at(struct sums *s, uint64_t rank) {
    int added;
    const uint64_t *at = libra_key_map_add(&s->map, rank, s->map.n, &added);
    if (!at)
        abort();
    const size_t index = *at;
    if (index >= s->room) {
        s->room = 2 * (index + 512);
        s->keys = realloc(s->keys, s->room * sizeof *s->keys);
        if (!s->keys)
            abort();
    }
    if (added)
        s->keys[index] = (struct sums_key){.rank = rank};
    return &s->keys[index];
}

// A push has several packets, and those that were acknowledged first may be lost where the last one
// is not: so one that had begun before the server crashed, or the dead switch was replaced, may be.
static bool lsim_sums_is_certain(const struct lsim_job *j, const struct lsim_log *log,
                                 uint32_t link, const struct lsim_server *server) {
    const uint64_t acked = log->acked[link];
    const bool server_lost = server->crashed_at && log->began <= server->crashed_at,
               switch_lost =
                   j->lost_to != LSIM_NEVER && acked > j->lost_from && log->began <= j->lost_to;
    if (acked == LSIM_NEVER)
        return false;
    return link ? !server_lost : !switch_lost && !(j->as->collects && server->crashed_at);
}

static void lsim_sums_add(struct sums_key *k, const struct lsim_job *j, uint32_t worker,
                          uint32_t batch, bool certain) {
    k->terms++;
    if (j->as->floats) {
        const double real = (double)lsim_float(j, worker, batch, k->rank);
        k->most += real;
        k->least += certain ? real : 0;
        return;
    }
    const uint32_t value = lsim_integer(j, worker, batch, k->rank);
    if (j->tagged) {
        k->tags[worker] += certain;
        k->tags_possible[worker]++;
    } else if (certain) {
        k->certain += value;
    } else if (k->n_possible < POSSIBLE) {
        k->possible[k->n_possible++] = value;
    } else {
        k->n_possible = POSSIBLE + 1;
    }
}

static void lsim_sums_add_batch(struct sums *s, uint32_t worker, uint32_t batch, uint64_t *ranks) {
    struct lsim_job *j = s->job;
    const struct lsim_log *log = j->workers[worker].log[batch];
    const size_t n = log ? lsim_ranks(j, worker, batch, ranks) : 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t server = lsim_server_of(j, lsim_key(j, ranks[i])),
                       link = ranks[i] < j->as->hot ? 0 : server + 1;
        const bool certain = lsim_sums_is_certain(j, log, link, &j->servers[server]);
        lsim_sums_add(lsim_sums_at(s, ranks[i]), j, worker, batch, certain);
        j->hot_pairs += link == 0;
        j->all_pairs++;
    }
}

// ---- what there is ----

static uint32_t lsim_sums_cell(const struct sums *s, uint64_t rank) {
    const char *text = json_string_value(json_array_get(s->registers, rank % LIBRA_PLACES));
    char word[9] = "";
    if (text && strlen(text) >= 8 * (rank / LIBRA_PLACES + 1))
        memcpy(word, text + 8 * (rank / LIBRA_PLACES), 8);
    return (uint32_t)strtoul(word, NULL, 16);
}

// False: it cannot be told, since its server or switch is gone.
static bool lsim_sums_find(const struct sums *s, uint64_t rank, double *real, uint64_t *integer) {
    const struct lsim_job *j = s->job;
    const uint64_t key = lsim_key(j, rank);
    const bool hot = rank < j->as->hot;
    const struct libra_server *server = lsim_server_state(&j->servers[lsim_server_of(j, key)]);
    if ((hot && !s->registers) || ((!hot || j->as->collects) && !server))
        return false;
    const uint32_t cell = hot ? lsim_sums_cell(s, rank) : 0;
    *real = hot ? (double)sk_float_of_bits(cell) : libra_server_sum(server, key);
    if (hot && j->as->collects)
        *real += libra_server_sum(server, key);
    *integer = hot ? cell : (uint64_t)*real;
    return true;
}

// ---- comparing ----

static bool lsim_sums_tags_fit(const struct sums_key *k, uint64_t sum) {
    for (uint32_t w = 0; w < LSIM_TAGS; w++) {
        const uint32_t n = (uint32_t)(sum >> LSIM_TAG_BITS * w) & ((1u << LSIM_TAG_BITS) - 1);
        if (n < k->tags[w] || n > k->tags_possible[w])
            return false;
    }
    return sum >> LSIM_TAG_BITS * LSIM_TAGS == 0;
}

// Whether some of the possible ones make the difference; of hot ones modulo 2^32.
static bool lsim_sums_some_fit(const struct sums_key *k, uint64_t sum, bool hot) {
    const uint64_t mask = hot ? UINT32_MAX : UINT64_MAX;
    for (uint32_t some = 0; some < 1u << k->n_possible; some++) {
        uint64_t x = k->certain;
        for (unsigned i = 0; i < k->n_possible; i++)
            x += some >> i & 1 ? k->possible[i] : 0;
        if ((x & mask) == (sum & mask))
            return true;
    }
    return false;
}

static bool lsim_sums_floats_fit(const struct lsim_job *j, const struct sums_key *k, double sum) {
    const double error = k->rank < j->as->hot ? k->terms * ADDER : FLOATS,
                 room = error * k->most + FLOATS;
    return sum >= k->least - room && sum <= k->most + room;
}

static void lsim_sums_wrong(struct lsim_job *j, const struct sums_key *k, double real,
                            uint64_t integer) {
    char must[200];
    if (j->as->floats)
        snprintf(must, sizeof must, "%.9g, and must be %.9g to %.9g", real, k->least, k->most);
    else if (j->tagged)
        snprintf(must, sizeof must,
                 "%08" PRIx64 "; of worker 0 %u to %u, 1 %u to %u, 2 %u to %u, 3 %u to %u, 4 %u to "
                 "%u, 5 %u to %u are to be in it",
                 integer, k->tags[0], k->tags_possible[0], k->tags[1], k->tags_possible[1],
                 k->tags[2], k->tags_possible[2], k->tags[3], k->tags_possible[3], k->tags[4],
                 k->tags_possible[4], k->tags[5], k->tags_possible[5]);
    else
        snprintf(must, sizeof must, "%08" PRIx64 ", and must be %08" PRIx64 " with some of %u more",
                 integer, k->rank < j->as->hot ? k->certain & UINT32_MAX : k->certain,
                 k->n_possible);
    sim_violate(
        j->sim, NULL, "job %s: the sum of rank %" PRIu64 " (parameter %" PRIu64 ", %s) is %s",
        j->as->name, k->rank, lsim_key(j, k->rank), k->rank < j->as->hot ? "hot" : "cold", must);
}

static void lsim_sums_compare(struct sums *s, const struct sums_key *k) {
    struct lsim_job *j = s->job;
    const bool hot = k->rank < j->as->hot;
    double real;
    uint64_t integer;
    if ((hot && j->ended) || !lsim_sums_find(s, k->rank, &real, &integer) ||
        (!j->as->floats && k->n_possible > POSSIBLE)) {
        j->unchecked++;
        return;
    }
    j->verified++;
    const bool whole = hot || j->as->floats || real == floor(real);
    const bool fits = j->as->floats ? lsim_sums_floats_fit(j, k, real)
                      : j->tagged   ? whole && lsim_sums_tags_fit(k, integer)
                                    : whole && lsim_sums_some_fit(k, integer, hot);
    if (!fits)
        lsim_sums_wrong(j, k, real, integer);
}

// Cells that nobody pushed to are 0.
static void lsim_sums_check_others(struct sums *s) {
    struct lsim_job *j = s->job;
    for (uint64_t r = 0; s->registers && r < j->as->hot && !j->sim->violated; r++)
        if (!libra_key_map_find(&s->map, r) && lsim_sums_cell(s, r))
            sim_violate(j->sim, NULL,
                        "job %s: the sum of rank %" PRIu64
                        " is %08x although no worker pushed to it",
                        j->as->name, r, lsim_sums_cell(s, r));
}

static json_t *lsim_sums_registers(struct lsim_job *j) {
    if (lsim_is_admitted(j))
        return j->here == SCN_NONE ? NULL : lsim_admitted_cells(j);
    const struct sim_real *real = j->sim->real;
    struct libra_s *l = j->here == SCN_NONE || real ? NULL : lsim_switch(j->sim, j->here);
    struct sk_error err;
    json_t *request =
        json_pack("{s:s, s:s, s:b}", "op", "libra.save", "name", j->as->name, "anyway", 1);
    json_t *state = NULL;
    if (real && j->here != SCN_NONE)
        state = real->ask(real->aux, j->here, request, &err);
    else if (l)
        state = lsim_ask(l, request, &err);
    else
        json_decref(request);
    if (real && !state)
        sim_violate(j->sim, NULL, "job %s: the switch does not tell its sums: %s", j->as->name,
                    err.text);
    json_t *registers = json_incref(json_object_get(state, "registers"));
    json_decref(state);
    return registers;
}

void lsim_sums_check(struct lsim_job *j) {
    struct sums s = {.job = j, .registers = j->as->hot ? lsim_sums_registers(j) : NULL};
    uint64_t *ranks = malloc(j->as->draws * sizeof *ranks);
    if (!ranks)
        abort();
    for (uint32_t w = 0; w < j->n_workers; w++)
        for (uint32_t b = 0; b < j->n_batches; b++)
            lsim_sums_add_batch(&s, w, b, ranks);
    for (size_t i = 0; i < s.map.n && !j->sim->violated; i++)
        lsim_sums_compare(&s, &s.keys[i]);
    if (!j->ended)
        lsim_sums_check_others(&s);
    free(ranks);
    free(s.keys);
    libra_key_map_clear(&s.map);
    json_decref(s.registers);
}

// ---- what is left, and reasons ----

static bool lsim_sums_has_failed_member(const struct sim *s) {
    for (size_t i = 0; i < s->libra->n; i++) {
        const struct lsim_job *j = &s->libra->jobs[i];
        bool gone = j->failed || j->ended;
        for (uint32_t k = 0; k < j->n_servers; k++)
            gone |= j->servers[k].gone;
        if (gone)
            return true;
    }
    return false;
}

static uint64_t lsim_sums_reasons(const struct sim_node *n, const char *counter) {
    struct sk_object object;
    struct sk_error err;
    uint64_t all = 0;
    if (sk_find_object(n->sw, SK_COUNTER, counter, &object, &err) < 0)
        return 0;
    for (uint32_t r = 1; r < REASONS; r++) {
        struct sk_counter_cell cell = {0};
        if (sk_control_counter_read(n->sw, counter, r, &cell, &err) == 0)
            all += cell.packets;
    }
    return all;
}

// What p4/libra drops it has counted by reason; only frames to an address that it does not know
// have none, and there are none while its servers' entries are there from the beginning to the end.
static void lsim_sums_check_reasons(struct sim *s, const struct sim_station *st) {
    const struct sim_node *n = st->node;
    struct sk_switch_stats x;
    uint64_t counted =
        lsim_sums_reasons(n, "pipe.Ingress.drops") + lsim_sums_reasons(n, "pipe.Egress.drops");
    node_stats(n, &x);
    const uint64_t dropped = x.drops[SK_DROP_INGRESS_DROP] + x.drops[SK_DROP_EGRESS_DROP] +
                             x.drops[SK_DROP_CONSUMED] + x.drops[SK_DROP_NO_DESTINATION];
    bool constant = n->cpu->on_at == 0 && n->restarts == 0 && !s->scenario->any_sums;
    for (size_t i = 0; i < s->libra->n; i++)
        constant &= s->libra->jobs[i].at != st->id || s->libra->jobs[i].here == st->id;
    if (constant ? counted != dropped : counted > dropped)
        sim_violate(s, NULL,
                    "switch %s: the program dropped %" PRIu64 " packets, and has counted %" PRIu64
                    " by reason",
                    st->as->name, dropped, counted);
}

void libra_check_sums(struct sim *s) {
    for (size_t i = 0; i < s->libra->n && !s->violated; i++)
        if (s->libra->jobs[i].over && !s->scenario->any_sums)
            lsim_sums_check(&s->libra->jobs[i]);
}

void libra_check_end(struct sim *s) {
    libra_check_sums(s);
    for (uint32_t i = 0; i < s->scenario->n_stations && !s->violated; i++) {
        struct libra_s *l = s->scenario->n_libra ? lsim_switch(s, i) : NULL;
        const struct sim_station *st = &s->stations[i];
        if (st->node && st->node->cpu && !cpu_conserves(st->node->cpu))
            sim_violate(s, NULL, "switch %s: frames to its CPU port are not those handled or lost",
                        st->as->name);
        if (!l)
            continue;
        if (s->done_at && libra_s_waiting(l) > 0 && !lsim_sums_has_failed_member(s))
            sim_violate(s, NULL, "switch %s: %zu copies are left at its CPU though all are done",
                        st->as->name, libra_s_waiting(l));
        lsim_sums_check_reasons(s, st);
    }
}
