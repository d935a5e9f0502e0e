// SPDX-License-Identifier: Apache-2.0
#include "control/state/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "control/tables/names.h"
#include "control/tables/values.h"

#define MAX_WAITING 256 // slots listed per job
#define MAX_WORKERS 32
#define OBJECT_NAME 512
#define TSTAMP_MASK ((UINT64_C(1) << 48) - 1)

// The names of everything this file looks at.
static const char *const bitmap_names[2] = {"seen.bitmap0", "seen.bitmap1"};
#define WORKERS_TABLE "admission.workers"
#define ADMIT_ACTION  "admit"
#define RECEIVERS     "receivers"
#define ADDRESS       "address"
#define TALLY         "tally0.cells"
#define WRITERS_TABLE "writes.writers"
#define BEGIN_ACTION  "begin"
#define TALLY_MISSING "missing"
// Beside the control that has the table. Wrong checksums, by replication id, need not be there.
#define DROPS           "drops"
#define WRONG_CHECKSUMS "admission.wrong_checksums"
static const char *const drop_reasons[] = {
    NULL,
    "parser error",
    NULL,
    "bad length",
    "unknown worker",
    "bad pool index",
    "repeated before the slot was complete",
    "the program has no step for it",
    "from another session, or between two",
    "for an audience that the job does not have",
};

struct worker {
    unsigned number;
    uint64_t port, packets, last_hit, wrong_checksums;
    char address[48];
};

// Entries of the workers' table with the same slots are one job, whatever numbers it goes by.
struct job {
    uint64_t number, size, first_slot, last_slot;
    unsigned numbers; // how many job numbers
    struct worker workers[MAX_WORKERS];
    unsigned n_workers;
    // of the slots that wait: how many there are, parts they want and have, and by worker how many
    // want one of it
    uint64_t waits, wanted, there, missing[MAX_WORKERS];
    uint64_t fingerprint; // of all that those hold
};

struct view {
    struct sk_switch *sw;
    struct sk_error *err;
    struct sk_object table, bitmaps[2], tally, drops, wrong_checksums;
    bool has_wrong_checksums;
    const struct sk_table_desc *desc;
    uint32_t action, missing_word;
    uint64_t versions; // cells of a version in the tally: half of it
    bool has_writers;  // jobs by RoCEv2, too: then the version is the lowest bit of a cell's number
    struct sk_object writers;
    struct job *jobs;
    size_t n_jobs;
    struct sk_pauses *pauses;
    uint64_t now;  // ns; after state_jobs_read() 48 bits, as time stamps are
    bool counting; // in the first pipe: all have the same entries
};

// ---- finding the objects ----

static json_t *not_this_program(struct view *v) {
    struct sk_error why = *v->err;
    sk_fail(v->err, "the running program has no aggregation jobs like those of p4/switchml: %.300s",
            why.text);
    return NULL;
}

// Of the same program as the workers' table: another one in the switch may have such a counter,
// too.
static const char *state_jobs_beside(const struct view *v, const char *counter,
                                     char name[OBJECT_NAME]) {
    const char *table = sk_object_name(&v->table);
    const size_t n = strlen(table) - strlen(WORKERS_TABLE);
    snprintf(name, OBJECT_NAME, "%.*s%s", (int)n, table, counter);
    return name;
}

static bool state_jobs_find_counter(const struct view *v, const char *counter,
                                    struct sk_object *out) {
    char name[OBJECT_NAME];
    return sk_has_object(v->sw, SK_COUNTER, state_jobs_beside(v, counter, name), out);
}

static bool find_objects(struct view *v) {
    if (sk_find_object(v->sw, SK_TABLE, WORKERS_TABLE, &v->table, v->err) ||
        sk_find_object(v->sw, SK_REGISTER, bitmap_names[0], &v->bitmaps[0], v->err) ||
        sk_find_object(v->sw, SK_REGISTER, bitmap_names[1], &v->bitmaps[1], v->err) ||
        sk_find_object(v->sw, SK_REGISTER, TALLY, &v->tally, v->err))
        return false;
    char drops[OBJECT_NAME];
    if (sk_find_object(v->sw, SK_COUNTER, state_jobs_beside(v, DROPS, drops), &v->drops, v->err))
        return false;
    v->has_wrong_checksums = state_jobs_find_counter(v, WRONG_CHECKSUMS, &v->wrong_checksums);
    v->desc = v->table.desc->tables[v->table.index];
    int action = sk_find_action(v->desc, ADMIT_ACTION, v->err);
    if (action < 0)
        return false;
    v->action = (uint32_t)action;
    const struct sk_register_desc *d = &v->tally.desc->registers[v->tally.index];
    v->missing_word =
        d->words == 2 && d->word_names[1] && strcmp(d->word_names[1], TALLY_MISSING) == 0;
    v->versions = d->size / 2;
    v->has_writers = sk_has_object(v->sw, SK_TABLE, WRITERS_TABLE, &v->writers);
    return true;
}

// The number of a slot's cell.
static uint64_t state_jobs_cell(const struct view *v, uint64_t slot, unsigned version) {
    return v->has_writers ? 2 * slot + version : version * v->versions + slot;
}

// ---- reading the workers ----

static uint64_t state_jobs_word_of(const struct sk_field_desc *fields, uint32_t n,
                                   const uint64_t *words, const char *name) {
    struct sk_error ignored;
    int index = sk_find_field("field", fields, n, name, &ignored);
    if (index < 0)
        return 0;
    for (int i = 0; i < index; i++)
        words += sk_words(fields[i].width);
    return *words;
}

static uint64_t argument(const struct view *v, const struct sk_entry *e, const char *name) {
    const struct sk_action_desc *a = v->desc->actions[v->action];
    return state_jobs_word_of(a->params, a->n_params, e->data, name);
}

static uint64_t state_jobs_key_field(const struct view *v, const struct sk_entry *e,
                                     const char *name) {
    return state_jobs_word_of(v->desc->keys, v->desc->n_keys, e->value, name);
}

static struct job *state_jobs_find(struct view *v, uint64_t first_slot) {
    for (size_t i = 0; i < v->n_jobs; i++)
        if (v->jobs[i].first_slot == first_slot)
            return &v->jobs[i];
    v->jobs = sk_resize(v->jobs, v->n_jobs + 1, sizeof *v->jobs);
    v->jobs[v->n_jobs] = (struct job){.first_slot = first_slot, .number = UINT64_MAX};
    return &v->jobs[v->n_jobs++];
}

// Of a worker, in all pipes: job numbers of one worker have the same replication id.
static uint64_t read_wrong_checksums(const struct view *v, uint64_t rid) {
    struct sk_counter_cell sum;
    struct sk_error ignored;
    return sk_control_counter_read(v->sw, sk_object_name(&v->wrong_checksums), rid, &sum, &ignored)
               ? 0
               : sum.packets;
}

static bool read_worker(void *aux, const struct sk_entry *e) {
    struct view *v = aux;
    uint64_t bit = argument(v, e, "worker_bit");
    if (e->action != v->action || bit == 0)
        return true;
    struct job *j = state_jobs_find(v, argument(v, e, "pool_base"));
    uint64_t number = state_jobs_key_field(v, e, "job_number");
    j->number = number < j->number ? number : j->number;
    j->size = argument(v, e, "num_workers");
    j->last_slot = j->first_slot + argument(v, e, "pool_last");
    unsigned w = (unsigned)__builtin_ctzll(bit), i = 0;
    while (i < j->n_workers && j->workers[i].number != w)
        i++;
    j->numbers += i == 0 && v->counting;
    if (i == MAX_WORKERS)
        return true;
    if (i == j->n_workers) {
        j->workers[j->n_workers++] = (struct worker){.number = w, .port = argument(v, e, "port")};
        if (v->has_wrong_checksums)
            j->workers[i].wrong_checksums = read_wrong_checksums(v, argument(v, e, "rid"));
    }
    uint64_t ip = state_jobs_key_field(v, e, "src_addr");
    snprintf(j->workers[i].address, sizeof j->workers[i].address, "%u.%u.%u.%u",
             (unsigned)(ip >> 24 & 255), (unsigned)(ip >> 16 & 255), (unsigned)(ip >> 8 & 255),
             (unsigned)(ip & 255));
    sk_pauses_breathe(v->pauses);
    j->workers[i].packets += e->packets;
    if (sk_entry_last_hit(e) > j->workers[i].last_hit)
        j->workers[i].last_hit = sk_entry_last_hit(e);
    return true;
}

// Entries are the same in all pipes, their counters are not.
static void state_jobs_read(struct view *v) {
    v->counting = true;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        if (!sk_object_in_pipe(v->sw, &v->table, pipe))
            continue;
        sk_table_each(v->table.desc->table(sk_switch_pipe(v->sw, pipe), v->table.index),
                      read_worker, v);
        v->counting = false;
    }
    const uint64_t latest = sk_switch_now(v->sw); // of a packet that is counted here
    v->now = (v->now > latest ? v->now : latest) & TSTAMP_MASK;
}

// All pipes have the same entries.
static void each_in_first_pipe(struct view *v, bool (*fn)(void *aux, const struct sk_entry *e),
                               void *aux) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(v->sw, &v->table, pipe)) {
            sk_table_each(v->table.desc->table(sk_switch_pipe(v->sw, pipe), v->table.index), fn,
                          aux);
            return;
        }
}

struct worker_search {
    const struct view *v;
    unsigned number;
    uint32_t address;
    struct sk_job_worker *out;
    uint64_t rid;
    bool found;
};

static bool match_worker(void *aux, const struct sk_entry *e) {
    struct worker_search *s = aux;
    const struct view *v = s->v;
    const uint64_t bit = e->action == v->action ? argument(v, e, "worker_bit") : 0;
    if (bit == 0 || state_jobs_key_field(v, e, "job_number") != s->number ||
        state_jobs_key_field(v, e, "src_addr") != s->address)
        return true;
    *s->out = (struct sk_job_worker){.rank = (unsigned)__builtin_ctzll(bit),
                                     .workers = (unsigned)argument(v, e, "num_workers"),
                                     .port = (uint16_t)argument(v, e, "port"),
                                     .first_slot = (uint32_t)argument(v, e, "pool_base"),
                                     .slots = (uint32_t)argument(v, e, "pool_last") + 1};
    s->rid = argument(v, e, "rid");
    s->found = true;
    return false;
}

// The address that results for the worker are sent to.
struct receiver_search {
    const struct sk_table_desc *desc;
    int action;
    uint64_t rid;
    struct sk_job_worker *out;
};

static bool match_receiver(void *aux, const struct sk_entry *e) {
    const struct receiver_search *s = aux;
    if ((int)e->action != s->action ||
        state_jobs_word_of(s->desc->keys, s->desc->n_keys, e->value, "rid") != s->rid)
        return true;
    const struct sk_action_desc *a = s->desc->actions[s->action];
    const uint64_t mac = state_jobs_word_of(a->params, a->n_params, e->data, "mac");
    for (unsigned i = 0; i < sizeof s->out->mac; i++)
        s->out->mac[i] = (uint8_t)(mac >> (40 - 8 * i));
    s->out->has_mac = true;
    return false;
}

// In any pipeline: a program may have such a table in several.
static void find_receiver(struct view *v, uint64_t rid, struct sk_job_worker *out) {
    struct view receivers = *v;
    for (size_t i = 0; !out->has_mac && sk_object_at(v->sw, SK_TABLE, i, &receivers.table); i++) {
        const struct sk_table_desc *desc = receivers.table.desc->tables[receivers.table.index];
        struct receiver_search search = {.desc = desc, .rid = rid, .out = out};
        if (!sk_name_matches(sk_object_name(&receivers.table), RECEIVERS))
            continue;
        search.action = sk_find_action(desc, ADDRESS, v->err);
        if (search.action >= 0)
            each_in_first_pipe(&receivers, match_receiver, &search);
    }
}

struct number_list {
    const struct view *v;
    bool *numbers;
    unsigned n;
};

static bool note_number(void *aux, const struct sk_entry *e) {
    struct number_list *l = aux;
    const uint64_t number = state_jobs_key_field(l->v, e, "job_number");
    if (e->action != l->v->action || number >= SK_JOB_NUMBERS || l->numbers[number])
        return true;
    l->numbers[number] = true;
    l->n++;
    return true;
}

// ---- for those who coordinate sessions ----

bool sk_jobs_worker(struct sk_switch *sw, unsigned number, uint32_t address,
                    struct sk_job_worker *out) {
    struct sk_error ignored;
    struct view v = {.sw = sw, .err = &ignored};
    if (!find_objects(&v))
        return false;
    struct worker_search search = {.v = &v, .number = number, .address = address, .out = out};
    each_in_first_pipe(&v, match_worker, &search);
    if (search.found)
        find_receiver(&v, search.rid, out);
    return search.found;
}

unsigned sk_jobs_numbers(struct sk_switch *sw, bool numbers[SK_JOB_NUMBERS]) {
    struct sk_error ignored;
    struct view v = {.sw = sw, .err = &ignored};
    struct number_list list = {.v = &v, .numbers = numbers};
    memset(numbers, 0, SK_JOB_NUMBERS * sizeof *numbers);
    if (find_objects(&v))
        each_in_first_pipe(&v, note_number, &list);
    return list.n;
}

// ---- for those who admit jobs ----

struct taken_list {
    const struct view *v;
    uint32_t n_slots;
    struct sk_jobs_taken *out;
};

static bool note_taken(void *aux, const struct sk_entry *e) {
    const struct taken_list *l = aux;
    if (e->action != l->v->action)
        return true;
    const uint64_t first = argument(l->v, e, "pool_base"), last = argument(l->v, e, "pool_last"),
                   rid = argument(l->v, e, "rid");
    for (uint64_t slot = first; slot < l->n_slots && slot <= first + last; slot++)
        l->out->slots[slot] = true;
    if (rid < SK_JOB_RIDS)
        l->out->rids[rid] = true;
    return true;
}

// The same of a job by RoCEv2: 'first' is 0x8000 + 2 * its first slot, 'last' 2 * slots - 1.
static bool state_jobs_note_written(void *aux, const struct sk_entry *e) {
    const struct taken_list *l = aux;
    const struct sk_table_desc *desc = l->v->writers.desc->tables[l->v->writers.index];
    const struct sk_action_desc *a = desc->actions[e->action];
    if (!sk_name_matches(a->name, BEGIN_ACTION))
        return true;
    const uint64_t first =
                       (state_jobs_word_of(a->params, a->n_params, e->data, "first") & 0x7fff) / 2,
                   slots = (state_jobs_word_of(a->params, a->n_params, e->data, "last") + 1) / 2,
                   rid = state_jobs_word_of(a->params, a->n_params, e->data, "rid");
    for (uint64_t slot = first; slot < l->n_slots && slot < first + slots; slot++)
        l->out->slots[slot] = true;
    if (rid < SK_JOB_RIDS)
        l->out->rids[rid] = true;
    return true;
}

void sk_jobs_taken(struct sk_switch *sw, uint32_t n_slots, struct sk_jobs_taken *out) {
    struct sk_error ignored;
    struct view v = {.sw = sw, .err = &ignored};
    struct taken_list list = {.v = &v, .n_slots = n_slots, .out = out};
    memset(out->rids, 0, sizeof out->rids);
    out->slots = sk_resize(NULL, n_slots, sizeof *out->slots);
    memset(out->slots, 0, n_slots * sizeof *out->slots);
    if (!find_objects(&v))
        return;
    each_in_first_pipe(&v, note_taken, &list);
    if (v.has_writers)
        sk_table_each(v.writers.desc->table(sk_switch_pipe(sw, 0), v.writers.index),
                      state_jobs_note_written, &list);
}

struct packet_sum {
    const struct view *v;
    uint32_t first_slot;
    uint64_t packets;
};

static bool add_packets(void *aux, const struct sk_entry *e) {
    struct packet_sum *s = aux;
    if (e->action == s->v->action && argument(s->v, e, "pool_base") == s->first_slot)
        s->packets += e->packets;
    return true;
}

uint64_t sk_jobs_packets(struct sk_switch *sw, uint32_t first_slot) {
    struct sk_error ignored;
    struct view v = {.sw = sw, .err = &ignored};
    struct packet_sum sum = {.v = &v, .first_slot = first_slot};
    if (!find_objects(&v))
        return 0;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(sw, &v.table, pipe))
            sk_table_each(v.table.desc->table(sk_switch_pipe(sw, pipe), v.table.index), add_packets,
                          &sum);
    return sum.packets;
}

// ---- reading the slots ----

static uint64_t state_jobs_read_word(const struct view *v, const struct sk_object *o, unsigned pipe,
                                     uint64_t index, uint32_t word) {
    if (index >= o->desc->registers[o->index].size)
        return 0;
    return o->desc->register_read(sk_switch_pipe(v->sw, pipe), o->index, index, word);
}

// Pipes in which the slot waits for the same workers as in 'pipe', from that one on.
static unsigned alike_pipes(const struct view *v, unsigned pipe, uint64_t slot, unsigned version) {
    if (!sk_object_in_pipe(v->sw, &v->tally, pipe))
        return 0; // another pipeline is there
    uint64_t bits = state_jobs_read_word(v, &v->bitmaps[version], pipe, slot, 0), cell;
    unsigned pipes = 0;
    cell = state_jobs_cell(v, slot, version);
    for (unsigned p = pipe; p < SK_PIPES; p++)
        if (sk_object_in_pipe(v->sw, &v->tally, p) &&
            state_jobs_read_word(v, &v->tally, p, cell, v->missing_word) != 0 &&
            state_jobs_read_word(v, &v->bitmaps[version], p, slot, 0) == bits)
            pipes |= 1u << p;
    return pipes;
}

static json_t *bits_json(uint64_t bits, unsigned n) {
    json_t *list = json_array();
    for (unsigned i = 0; i < n; i++)
        if (bits >> i & 1)
            json_array_append_new(list, json_integer(i));
    return list;
}

static json_t *slot_json(const struct view *v, const struct job *j, unsigned pipes, uint64_t slot,
                         unsigned version) {
    unsigned pipe = (unsigned)__builtin_ctz(pipes);
    unsigned n = j->size < MAX_WORKERS ? (unsigned)j->size : MAX_WORKERS;
    uint64_t bits = state_jobs_read_word(v, &v->bitmaps[version], pipe, slot, 0);
    return json_pack("{s:I, s:i, s:o, s:o, s:o}", "slot", (json_int_t)(slot - j->first_slot),
                     "version", (int)version, "pipes", bits_json(pipes, SK_PIPES), "present",
                     bits_json(bits, n), "missing", bits_json(~bits, n));
}

static unsigned add_slot(const struct view *v, const struct job *j, json_t *waiting, uint64_t slot,
                         unsigned version) {
    unsigned seen = 0, more = 0;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        unsigned pipes = alike_pipes(v, pipe, slot, version);
        if (!(pipes >> pipe & 1) || seen >> pipe & 1)
            continue;
        seen |= pipes;
        if (json_array_size(waiting) < MAX_WAITING)
            json_array_append_new(waiting, slot_json(v, j, pipes, slot, version));
        else
            more++;
    }
    return more;
}

static void add_slots(const struct view *v, const struct job *j, json_t *out) {
    json_t *waiting = json_array();
    json_int_t more = 0;
    for (uint64_t slot = j->first_slot; slot <= j->last_slot; slot++)
        for (unsigned version = 0; version < 2; version++) {
            more += add_slot(v, j, waiting, slot, version);
            sk_pauses_breathe(v->pauses);
        }
    json_object_set_new(out, "waiting", waiting);
    json_object_set_new(out, "more", json_integer(more));
}

// What waits, counted instead of listed.
static void count_slot(const struct view *v, struct job *j, unsigned pipe, uint64_t slot,
                       unsigned version) {
    const unsigned n = j->size < MAX_WORKERS ? (unsigned)j->size : MAX_WORKERS;
    if (state_jobs_read_word(v, &v->tally, pipe, state_jobs_cell(v, slot, version),
                             v->missing_word) == 0)
        return;
    const uint64_t bits = state_jobs_read_word(v, &v->bitmaps[version], pipe, slot, 0);
    const uint64_t cell = state_jobs_cell(v, slot, version);
    const uint64_t words[] = {slot,
                              version,
                              pipe,
                              bits,
                              state_jobs_read_word(v, &v->tally, pipe, cell, 0),
                              state_jobs_read_word(v, &v->tally, pipe, cell, v->missing_word)};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        j->fingerprint = (j->fingerprint ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) >> 1;
    j->waits++;
    j->wanted += n;
    for (unsigned i = 0; i < n; i++) {
        j->there += bits >> i & 1;
        j->missing[i] += !(bits >> i & 1);
    }
}

static void count_slots(const struct view *v, struct job *j) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        for (uint64_t slot = j->first_slot;
             sk_object_in_pipe(v->sw, &v->tally, pipe) && slot <= j->last_slot; slot++)
            for (unsigned version = 0; version < 2; version++) {
                count_slot(v, j, pipe, slot, version);
                sk_pauses_breathe(v->pauses);
            }
}

// ---- the answer ----

static json_t *workers_json(const struct view *v, const struct job *j) {
    json_t *workers = json_array();
    for (unsigned i = 0; i < j->n_workers; i++) {
        const struct worker *w = &j->workers[i];
        json_t *worker = json_pack("{s:i, s:I, s:s}", "worker", (int)w->number, "port",
                                   (json_int_t)w->port, "ip", w->address);
        if (v->desc->has_counter)
            json_object_set_new(worker, "packets", json_integer((json_int_t)w->packets));
        if (v->has_wrong_checksums)
            json_object_set_new(worker, "wrong_checksums",
                                json_integer((json_int_t)w->wrong_checksums));
        if (w->last_hit)
            json_object_set_new(
                worker, "idle_ms",
                json_integer((json_int_t)(((v->now - w->last_hit) & TSTAMP_MASK) / 1000000)));
        json_array_append_new(workers, worker);
    }
    return workers;
}

static json_t *state_jobs_json(const struct view *v, const struct job *j) {
    json_t *workers = workers_json(v, j);
    json_t *out = json_pack("{s:I, s:i, s:I, s:I, s:I, s:o}", "job", (json_int_t)j->number,
                            "numbers", (int)j->numbers, "size", (json_int_t)j->size, "first_slot",
                            (json_int_t)j->first_slot, "slots",
                            (json_int_t)(j->last_slot - j->first_slot + 1), "workers", workers);
    add_slots(v, j, out);
    return out;
}

static json_t *state_jobs_drops_json(const struct view *v) {
    json_t *list = json_array();
    uint64_t size = v->drops.desc->counters[v->drops.index].size;
    for (uint64_t i = 0; i < size; i++) {
        struct sk_counter_cell sum;
        if (sk_control_counter_read(v->sw, sk_object_name(&v->drops), i, &sum, v->err) ||
            sum.packets == 0)
            continue;
        char number[32];
        snprintf(number, sizeof number, "reason %llu", (unsigned long long)i);
        bool known = i < sizeof drop_reasons / sizeof *drop_reasons && drop_reasons[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:I}", "reason", known ? drop_reasons[i] : number,
                                        "packets", (json_int_t)sum.packets));
    }
    return list;
}

static void state_jobs_slots(struct view *v, int64_t job, json_t **jobs, json_t **drops) {
    *jobs = json_array();
    if (!find_objects(v)) {
        *drops = json_array();
        return;
    }
    sk_pauses_begin(v->pauses);
    state_jobs_read(v);
    *drops = state_jobs_drops_json(v);
    for (size_t i = 0; i < v->n_jobs; i++)
        if (job < 0 || v->jobs[i].number == (uint64_t)job)
            json_array_append_new(*jobs, state_jobs_json(v, &v->jobs[i]));
    sk_pauses_end(v->pauses);
    free(v->jobs);
}

json_t *sk_jobs(struct sk_switch *sw, int64_t job, uint64_t now, struct sk_pauses *pauses,
                struct sk_error *err) {
    struct view v = {.sw = sw, .err = err, .pauses = pauses, .now = now};
    json_t *jobs, *drops, *libra_drops = NULL;
    json_t *libra = sk_jobs_libra(sw, job, now, pauses, &libra_drops);
    if (!libra && !find_objects(&v))
        return not_this_program(&v);
    state_jobs_slots(&v, job, &jobs, &drops);
    if (job >= 0 && json_array_size(jobs) + json_array_size(libra) == 0) {
        json_decref(jobs);
        json_decref(drops);
        json_decref(libra);
        json_decref(libra_drops);
        sk_fail(err, "no worker is registered for job %lld", (long long)job);
        return NULL;
    }
    json_t *out = json_pack("{s:o, s:o}", "jobs", jobs, "drops", drops);
    if (libra) {
        json_object_set_new(out, "libra", libra);
        json_object_set_new(out, "libra_drops", libra_drops);
    }
    return out;
}

static json_t *brief_json(const struct view *v, struct job *j) {
    char name[24];
    json_t *workers = workers_json(v, j), *w;
    size_t i;
    count_slots(v, j);
    json_array_foreach(workers, i, w) {
        const uint64_t number = (uint64_t)json_integer_value(json_object_get(w, "worker"));
        json_object_set_new(w, "missing",
                            json_integer((json_int_t)j->missing[number % MAX_WORKERS]));
    }
    snprintf(name, sizeof name, "%llu", (unsigned long long)j->number);
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "name", name, "kind",
                     "switchml", "size", (json_int_t)j->size, "slots",
                     (json_int_t)(j->last_slot - j->first_slot + 1), "waits", (json_int_t)j->waits,
                     "wanted", (json_int_t)j->wanted, "there", (json_int_t)j->there, "fingerprint",
                     (json_int_t)j->fingerprint, "workers", workers);
}

// What 'one' says of each job.
static json_t *state_jobs_list(struct sk_switch *sw, uint64_t now, struct sk_pauses *pauses,
                               json_t *(*one)(const struct view *v, struct job *j)) {
    struct sk_error ignored;
    struct view v = {.sw = sw, .err = &ignored, .pauses = pauses, .now = now};
    json_t *jobs = json_array();
    if (!find_objects(&v))
        return jobs;
    sk_pauses_begin(pauses);
    state_jobs_read(&v);
    for (size_t i = 0; i < v.n_jobs; i++)
        json_array_append_new(jobs, one(&v, &v.jobs[i]));
    sk_pauses_end(pauses);
    free(v.jobs);
    return jobs;
}

json_t *sk_jobs_brief(struct sk_switch *sw, uint64_t now, struct sk_pauses *pauses) {
    json_t *jobs = state_jobs_list(sw, now, pauses, brief_json),
           *libra = sk_jobs_libra(sw, -1, now, pauses, NULL);
    json_array_extend(jobs, libra);
    json_decref(libra);
    return jobs;
}

static json_t *map_json(const struct view *v, struct job *j) {
    char name[24];
    json_t *waiting = json_array();
    json_int_t more = 0;
    for (uint64_t slot = j->first_slot; slot <= j->last_slot; slot++)
        for (unsigned version = 0; version < 2; version++) {
            unsigned seen = 0;
            for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
                const unsigned pipes = alike_pipes(v, pipe, slot, version);
                if (!(pipes >> pipe & 1) || seen >> pipe & 1)
                    continue;
                seen |= pipes;
                if (json_array_size(waiting) == SK_JOBS_MAP) {
                    more++;
                    continue;
                }
                const uint64_t bits = state_jobs_read_word(v, &v->bitmaps[version], pipe, slot, 0);
                json_array_append_new(waiting,
                                      json_pack("[I, i, I]", (json_int_t)(slot - j->first_slot),
                                                (int)version, (json_int_t)bits));
            }
            sk_pauses_breathe(v->pauses);
        }
    snprintf(name, sizeof name, "%llu", (unsigned long long)j->number);
    return json_pack("{s:s, s:I, s:I, s:I, s:o, s:I}", "name", name, "size", (json_int_t)j->size,
                     "first_slot", (json_int_t)j->first_slot, "slots",
                     (json_int_t)(j->last_slot - j->first_slot + 1), "waiting", waiting, "more",
                     more);
}

json_t *sk_jobs_map(struct sk_switch *sw, uint64_t now, struct sk_pauses *pauses) {
    return state_jobs_list(sw, now, pauses, map_json);
}
