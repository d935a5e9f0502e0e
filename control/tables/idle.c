// SPDX-License-Identifier: Apache-2.0
#include "control/tables/idle.h"

#include "control/tables/names.h"

#define CLOCK_MASK ((UINT64_C(1) << 48) - 1)
#define NS_PER_MS  UINT64_C(1000000)

// ---- one entry ----------------------------------------------------------------------------------

void sk_idle_start(struct sk_entry *e, uint32_t ttl_ms, uint64_t now) {
    e->idle.ttl_ms = ttl_ms;
    e->idle.idle = false;
    e->idle.hits_seen = sk_entry_hits(e);
    e->idle.active = now;
}

uint64_t sk_idle_age(const struct sk_entry *e, uint64_t now) {
    if (sk_entry_hits(e) != e->idle.hits_seen)
        return (now - sk_entry_last_hit(e)) & CLOCK_MASK;
    return now - e->idle.active;
}

void sk_idle_freeze(struct sk_entry *e, uint64_t stopped, uint64_t now) {
    const uint64_t last = now - sk_idle_age(e, now);
    e->idle.hits_seen = sk_entry_hits(e);
    e->idle.active = last >= stopped ? now : now - (stopped - last);
}

uint64_t sk_idle_left(const struct sk_entry *e, uint64_t now) {
    uint64_t age = sk_idle_age(e, now) / NS_PER_MS;
    return age >= e->idle.ttl_ms ? 0 : e->idle.ttl_ms - age;
}

bool sk_idle_hit(const struct sk_entry *e) {
    return e->idle.hit;
}

// Remembers the latest match in the switch's clock, which does not wrap.
static void idle_look(struct sk_entry *e, uint64_t now) {
    uint64_t age = sk_idle_age(e, now);
    e->idle.hits_seen = sk_entry_hits(e);
    e->idle.active = now - age;
}

// ---- all of them --------------------------------------------------------------------------------

struct poll {
    struct sk_switch *sw;
    struct sk_pauses *pauses;
    const struct sk_object *object;
    unsigned pipe; // whose entries are walked
    uint64_t now;
    const struct sk_idle_listener *listener; // or null
    bool is_asymmetric;                      // each pipe's entries are its own
    size_t events;
};

static struct sk_entry *twin(const struct poll *p, unsigned pipe, const struct sk_entry *e) {
    if (!sk_object_in_pipe(p->sw, p->object, pipe))
        return NULL;
    struct sk_table *t = p->object->desc->table(sk_switch_pipe(p->sw, pipe), p->object->index);
    return sk_table_find(t, e->value, e->mask, e->priority);
}

// An entry is looked at once, in the first pipe that has it, for all its pipes; where pipes have
// entries of their own, in each.
static bool idle_look_at(void *aux, const struct sk_entry *walked) {
    struct poll *p = aux;
    struct sk_entry *twins[SK_PIPES] = {NULL};
    uint64_t youngest = UINT64_MAX;
    sk_pauses_breathe(p->pauses);
    p->now = sk_switch_now(p->sw); // not before the packets that are counted here
    if (walked->idle.ttl_ms == 0)
        return true;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        if (p->is_asymmetric && pipe != p->pipe)
            continue;
        struct sk_entry *e = twins[pipe] = twin(p, pipe, walked);
        if (e && pipe < p->pipe)
            return true;
        if (!e)
            continue;
        idle_look(e, p->now);
        if (sk_idle_age(e, p->now) < youngest)
            youngest = sk_idle_age(e, p->now);
    }
    const uint64_t times = youngest / NS_PER_MS / walked->idle.ttl_ms;
    const bool idle = times > 0, changes = idle != walked->idle.idle;
    if (!changes && (!idle || (uint16_t)times == walked->idle.times))
        return true;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (twins[pipe]) {
            twins[pipe]->idle.idle = idle;
            twins[pipe]->idle.times = (uint16_t)times;
        }
    p->events += changes;
    const struct sk_idle_event event = {.table = p->object->desc->tables[p->object->index],
                                        .entry = walked,
                                        .pipe = p->pipe,
                                        .idle = idle};
    if (p->listener && changes)
        p->listener->fn(p->listener->aux, &event);
    else if (p->listener && p->listener->again)
        p->listener->again(p->listener->aux, &event);
    return true;
}

static bool idle_ages(const struct sk_object *o) {
    return o->desc->tables[o->index]->idle_timeout;
}

size_t sk_control_idle_poll(struct sk_switch *sw, struct sk_pauses *pauses,
                            const struct sk_idle_listener *listener) {
    struct sk_object o;
    struct poll p = {.sw = sw, .pauses = pauses, .object = &o, .listener = listener};
    sk_pauses_begin(pauses);
    for (size_t i = 0; sk_object_at(sw, SK_TABLE, i, &o); i++) {
        if (!idle_ages(&o))
            continue;
        p.is_asymmetric = listener && listener->is_asymmetric &&
                          listener->is_asymmetric(listener->aux, o.desc->tables[o.index]);
        for (p.pipe = 0; p.pipe < SK_PIPES; p.pipe++)
            if (sk_object_in_pipe(sw, &o, p.pipe))
                sk_table_each(o.desc->table(sk_switch_pipe(sw, p.pipe), o.index), idle_look_at, &p);
    }
    sk_pauses_end(pauses);
    return p.events;
}

bool sk_control_idle_used(const struct sk_switch *sw) {
    struct sk_object o;
    for (size_t i = 0; sk_object_at(sw, SK_TABLE, i, &o); i++)
        if (idle_ages(&o))
            return true;
    return false;
}

struct resumed {
    struct poll poll;
    uint64_t stopped;
};

static bool idle_resume(void *aux, const struct sk_entry *walked) {
    const struct resumed *r = aux;
    sk_pauses_breathe(r->poll.pauses);
    struct sk_entry *e = twin(&r->poll, r->poll.pipe, walked);
    if (e) // not before the packets that have hit it
        sk_idle_freeze(e, r->stopped, sk_switch_now(r->poll.sw));
    return true;
}

void sk_control_idle_resume(struct sk_switch *sw, struct sk_pauses *pauses,
                            const struct sk_object *table, uint64_t stopped) {
    struct resumed r = {.poll = {.sw = sw, .pauses = pauses, .object = table}, .stopped = stopped};
    struct poll *p = &r.poll;
    for (p->pipe = 0; p->pipe < SK_PIPES; p->pipe++)
        if (sk_object_in_pipe(sw, table, p->pipe))
            sk_table_each(table->desc->table(sk_switch_pipe(sw, p->pipe), table->index),
                          idle_resume, &r);
}

static bool update_hit(void *aux, const struct sk_entry *walked) {
    const struct poll *p = aux;
    sk_pauses_breathe(p->pauses);
    struct sk_entry *e = twin(p, p->pipe, walked);
    if (!e)
        return true;
    e->idle.hit = sk_entry_hits(e) != e->idle.hits_polled;
    e->idle.hits_polled = sk_entry_hits(e);
    return true;
}

int sk_control_hit_update(struct sk_switch *sw, struct sk_pauses *pauses, const char *table,
                          struct sk_error *err) {
    struct sk_object o;
    struct poll p = {.sw = sw, .pauses = pauses, .object = &o};
    int rc = sk_find_object(sw, SK_TABLE, table, &o, err);
    if (rc)
        return rc;
    if (!idle_ages(&o))
        return sk_fail(err, "table '%s' has no 'idle_timeout'", sk_object_name(&o));
    for (p.pipe = 0; p.pipe < SK_PIPES; p.pipe++)
        if (sk_object_in_pipe(sw, &o, p.pipe))
            sk_table_each(o.desc->table(sk_switch_pipe(sw, p.pipe), o.index), update_hit, &p);
    return 0;
}
