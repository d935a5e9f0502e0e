// SPDX-License-Identifier: Apache-2.0
//
// fdb: who is where.
//
// The switch tells of each packet whose source it does not know in the VLAN, or knows elsewhere, by
// a digest. The address is then written into 'sources', with a time to live, and 'destinations'.
// When that time may be over the entry is asked how long no packet has matched it
// (control/tables/idle.h): it goes, or is asked again when its time may be over then. So each entry
// is looked at once in a while, and no one waits for a look at all of them. Which one goes when
// there are too many is Open vSwitch's choice: the one of the link that has most that was not used
// for the longest time. An address that packets came from since it was last looked at is passed
// over, some times.
//
// An address that moves FDB_MOVES times in FDB_MOVE_SECONDS is held: it stays where it was seen
// last for FDB_HOLD_SECONDS, an alarm tells it, and another one when it may move again. A loop or
// two hosts with one address cost a write every few seconds then, not one for each packet.
//
// Nobody but the switch has its address: it is never learned, and an alarm tells where it came in.
//
// Everything here is on the control thread, so that the lock of mac-learning is not taken.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/attached.h"
#include "control/tables/names.h"
#include "control/tor/fdb_impl.h"
#include "control/tor/links_impl.h"
#include "hash.h"
#include "mac-learning.h"
#include "util.h"

#define SECOND          UINT64_C(1000000000)
#define MS              UINT64_C(1000000)
#define PASSED_OVER     8u  // addresses in use that an eviction passes over
#define MOVES_TOLD      20u // events a second
#define WARN_SECONDS    60u
#define GROUPS_SHARE    16u // of 'destinations', for joined groups: one in so many
#define TTL_SECONDS_MAX (UINT32_MAX / 1000u)
#define LOOKS           64u // in one run

struct fdb *tor_fdb(struct tor *t) {
    return t->states[TOR_MODULE_FDB];
}

static void *fdb_create(struct tor *t) {
    struct fdb *f = xzalloc(sizeof *f);
    f->learning = mac_learning_create(MAC_ENTRY_DEFAULT_IDLE_TIME);
    f->credit = (struct fdb_credit){UINT64_MAX, t->now};
    f->hash_secret = t->host.hash_secret;
    hmap_init(&f->places);
    ovs_list_init(&f->held);
    heap_init(&f->due);
    return f;
}

static void fdb_destroy(struct tor *t, void *state) {
    (void)t;
    struct fdb *f = state;
    struct fdb_place *p;
    HMAP_FOR_EACH_POP(p, node, &f->places) free(p);
    hmap_destroy(&f->places);
    heap_destroy(&f->due);
    mac_learning_unref(f->learning);
    free(f);
}

// ---- places ----

static uint32_t fdb_hash_of(const struct fdb *f, uint16_t vid, const uint8_t mac[6]) {
    return hash_bytes(mac, 6, hash_2words(vid, f->hash_secret));
}

struct fdb_place *tor_fdb_place(const struct fdb *f, uint16_t vid, const uint8_t mac[6]) {
    struct fdb_place *p;
    HMAP_FOR_EACH_WITH_HASH(p, node, fdb_hash_of(f, vid, mac), &f->places)
    if (p->vid == vid && memcmp(p->mac, mac, sizeof p->mac) == 0)
        return p;
    return NULL;
}

static struct eth_addr ethernet(const uint8_t mac[6]) {
    struct eth_addr a;
    memcpy(&a, mac, sizeof a);
    return a;
}

static struct fdb_place *add_place(struct tor *t, struct fdb *f, uint16_t vid,
                                   const uint8_t mac[6]) {
    struct fdb_place *p = xzalloc(sizeof *p);
    p->vid = vid;
    memcpy(p->mac, mac, sizeof p->mac);
    p->since = p->used = t->now;
    hmap_insert(&f->places, &p->node, fdb_hash_of(f, vid, mac));
    return p;
}

static uint32_t ttl_of(const struct tor *t, const struct fdb_place *p) {
    const struct tor_vlan *v = tor_section_vlan(t->section, p->vid);
    const uint32_t seconds = v && !p->fixed ? v->aging : 0;
    return (seconds < TTL_SECONDS_MAX ? seconds : TTL_SECONDS_MAX) * 1000;
}

// ---- when it is looked at ----

static uint64_t priority(uint64_t due) {
    return UINT64_MAX - due;
}

static void look_never(struct fdb *f, struct fdb_place *p) {
    if (p->ttl)
        heap_remove(&f->due, &p->due_node);
    p->ttl = 0;
}

static void fdb_look_at(struct fdb *f, struct fdb_place *p, uint32_t ttl, uint64_t due) {
    if (!ttl)
        look_never(f, p);
    else if (p->ttl)
        heap_change(&f->due, &p->due_node, priority(due));
    else
        heap_insert(&f->due, &p->due_node, priority(due));
    p->ttl = ttl;
}

// ---- in the tables ----

// Its entry begins its time again where that, or the link, is another one.
static void fdb_say(struct tor *t, struct fdb *f, struct fdb_place *p, bool again) {
    const uint32_t ttl = ttl_of(t, p);
    if (again || ttl != p->ttl)
        fdb_look_at(f, p, ttl, t->now + (uint64_t)ttl * MS);
    const enum tor_set set = p->fixed ? TOR_FDB_STATIC : TOR_FDB_LEARNED;
    char mac[TOR_TEXT];
    tor_mac_text(p->mac, mac);
    tor_want(t->wanted, set, "entry sources vid=%u src_addr=%s -> known interface=%u $ENTRY_TTL=%u",
             p->vid, mac, p->link->interface, ttl);
    tor_want(t->wanted, set, "entry destinations vid=%u dst_addr=%s -> bridge interface=%u", p->vid,
             mac, p->link->interface);
}

static void fdb_release(struct fdb_place *p) {
    if (!p->held)
        return;
    p->held = false;
    ovs_list_remove(&p->held_node);
}

// Out of mac-learning, too.
static void unlearn(struct fdb *f, const struct fdb_place *p) {
    struct mac_entry *e = mac_learning_lookup(f->learning, ethernet(p->mac), p->vid);
    if (e)
        mac_learning_expire(f->learning, e);
}

static void fdb_forget(struct tor *t, struct fdb *f, struct fdb_place *p) {
    char mac[TOR_TEXT];
    const uint16_t vid = p->vid;
    uint8_t bytes[6];
    memcpy(bytes, p->mac, sizeof bytes);
    tor_mac_text(p->mac, mac);
    tor_unwant(t->wanted, "entry sources vid=%u src_addr=%s", vid, mac);
    tor_unwant(t->wanted, "entry destinations vid=%u dst_addr=%s", vid, mac);
    fdb_release(p);
    look_never(f, p);
    unlearn(f, p);
    f->n_fixed -= p->fixed;
    if (!p->fixed)
        p->link->use[TOR_LIMIT_ADDRESSES].entries--;
    hmap_remove(&f->places, &p->node);
    free(p);
    tor_moved(t, vid, bytes, NULL);
}

struct tor_link *tor_fdb_find(struct tor *t, uint16_t vid, const uint8_t mac[6]) {
    const struct fdb_place *p = tor_fdb_place(tor_fdb(t), vid, mac);
    return p ? p->link : NULL;
}

size_t tor_fdb_count(struct tor *t, uint16_t vid, const struct tor_link *link) {
    const struct fdb_filter filter = {.vid = vid, .link = link};
    const struct fdb_place *p;
    size_t n = 0;
    HMAP_FOR_EACH(p, node, &tor_fdb(t)->places)
    n += tor_fdb_passes(&filter, p);
    return n;
}

bool tor_fdb_passes(const struct fdb_filter *filter, const struct fdb_place *p) {
    return (!filter->vid || p->vid == filter->vid) && (!filter->link || p->link == filter->link) &&
           (!filter->has_mac || memcmp(p->mac, filter->mac, sizeof p->mac) == 0);
}

size_t tor_fdb_flush(struct tor *t, const struct fdb_filter *filter) {
    struct fdb *f = tor_fdb(t);
    struct fdb_place *p, *next;
    size_t n = 0;
    HMAP_FOR_EACH_SAFE(p, next, node, &f->places)
    if (!p->fixed && tor_fdb_passes(filter, p)) {
        fdb_forget(t, f, p);
        n++;
    }
    return n;
}

void tor_fdb_flush_link(struct tor *t, const struct tor_link *link) {
    tor_fdb_flush(t, &(struct fdb_filter){.link = link});
}

// ---- how many there may be ----

static uint64_t fdb_size_of(const struct tor *t, const char *table) {
    struct sk_object o;
    struct sk_error err;
    return sk_find_object(t->host.sw, SK_TABLE, table, &o, &err) ? 0
                                                                 : o.desc->tables[o.index]->size;
}

static void set_most(struct tor *t, struct fdb *f) {
    const uint64_t sources = fdb_size_of(t, "sources"), all = fdb_size_of(t, "destinations");
    uint64_t taken = f->n_fixed, most = all - all / GROUPS_SHARE;
    for (size_t i = 0; i < t->section->n_vlans; i++)
        taken += t->section->vlans[i].n_addresses > 0;
    if (sources < most)
        most = sources;
    mac_learning_set_max_entries(f->learning, most > taken ? most - taken : 0);
    f->sized = t->now;
}

uint64_t tor_fdb_age(struct tor *t, const struct fdb_place *p) {
    char mac[TOR_TEXT], vid[8];
    const struct sk_named_value key[] = {{"vid", vid}, {"src_addr", tor_mac_text(p->mac, mac)}};
    const struct sk_entry_spec e = {.table = "sources", .keys = key, .n_keys = 2, .pipe = -1};
    const uint64_t ttl = p->ttl;
    struct sk_data data;
    struct sk_error err;
    snprintf(vid, sizeof vid, "%u", p->vid);
    if (!ttl || sk_control_entry_read(t->host.sw, &e, &data, &err))
        return UINT64_MAX;
    const char *left = sk_data_find(&data, "ttl");
    const uint64_t ms = left ? strtoull(left, NULL, 10) : 0;
    return ms < ttl ? ttl - ms : 0;
}

static bool was_used(struct tor *t, const struct fdb_place *p) {
    const uint64_t age = tor_fdb_age(t, p);
    return age != UINT64_MAX && t->now - p->used > age * MS;
}

static struct mac_entry *first_to_go(struct fdb *f) {
    struct mac_learning_port *most =
        CONTAINER_OF(heap_max(&f->learning->ports_by_usage), struct mac_learning_port, heap_node);
    return CONTAINER_OF(ovs_list_front(&most->port_lrus), struct mac_entry, port_lru_node);
}

// Of the link's own; null: it has none.
static struct mac_entry *first_of_link(struct fdb *f, const struct tor_link *link) {
    struct mac_learning_port *p;
    HMAP_FOR_EACH(p, hmap_node, &f->learning->ports_by_ptr)
    if (p->port == link)
        return CONTAINER_OF(ovs_list_front(&p->port_lrus), struct mac_entry, port_lru_node);
    return NULL;
}

static bool link_is_full(const struct tor_link *link) {
    return link->use[TOR_LIMIT_ADDRESSES].entries >=
           link->section->limits[TOR_LIMIT_ADDRESSES].most;
}

// For one more address of the link. What mac-learning would do by itself without telling which one
// goes; a link that has all that it may have gives one of its own.
// 'moves': the address is another link's until now.
static void fdb_make_room(struct tor *t, struct fdb *f, struct tor_link *link, bool moves) {
    unsigned passed_over = 0;
    bool over = false, own;
    while ((own = link_is_full(link)) ||
           (!moves && hmap_count(&f->learning->table) >= f->learning->max_entries)) {
        const struct mac_entry *e = own ? first_of_link(f, link) : first_to_go(f);
        if (own && !over)
            tor_limits_over(t, link, TOR_LIMIT_ADDRESSES, TOR_LIMIT_MOST);
        over |= own;
        if (!e)
            return;
        struct fdb_place *p = tor_fdb_place(f, e->vlan, e->mac.ea);
        if (passed_over < PASSED_OVER && was_used(t, p)) {
            passed_over++;
            p->used = t->now;
            mac_learning_insert(f->learning, e->mac, e->vlan);
        } else {
            f->n_evicted++;
            fdb_forget(t, f, p);
        }
    }
}

// ---- learning ----

static bool can_pay(struct fdb_credit *c, uint64_t now, uint64_t cost, uint64_t most) {
    const uint64_t earned = now - c->at;
    c->left = c->left < most && earned < most - c->left ? c->left + earned : most;
    c->at = now;
    return c->left >= cost;
}

static bool may_learn_now(struct tor *t, struct fdb *f, struct tor_link *link) {
    const uint64_t cost = SECOND / FDB_RATE;
    if (!can_pay(&f->credit, t->now, cost, cost * FDB_BURST) ||
        !tor_limits_take(t, link, TOR_LIMIT_ADDRESSES)) {
        f->n_limited++;
        return false;
    }
    f->credit.left -= cost;
    return true;
}

static void tell_held(struct tor *t, const struct fdb_place *p, bool on) {
    char mac[TOR_TEXT], why[2 * TOR_TEXT];
    snprintf(why, sizeof why, "%s of VLAN %u moved %u times within %u s, and is held there",
             tor_mac_text(p->mac, mac), p->vid, FDB_MOVES, FDB_MOVE_SECONDS);
    tor_event(t, "alarm", "{s:s, s:i, s:s, s:s, s:b, s:s}", "alarm", "flapping address", "vid",
              (int)p->vid, "mac", mac, "link", p->link->name, "on", on, "why", why);
}

static void fdb_hold(struct tor *t, struct fdb *f, struct fdb_place *p) {
    p->held = true;
    p->held_until = t->now + FDB_HOLD_SECONDS * SECOND;
    p->moves = 0;
    ovs_list_push_back(&f->held, &p->held_node);
    tell_held(t, p, true);
}

static void tell_move(struct tor *t, struct fdb *f, const struct fdb_place *p,
                      const struct tor_link *to) {
    char mac[TOR_TEXT];
    if (t->now - f->told >= SECOND) {
        f->told = t->now;
        f->n_told = 0;
    }
    if (f->n_told++ < MOVES_TOLD)
        tor_event(t, "moved", "{s:i, s:s, s:s, s:s}", "vid", (int)p->vid, "mac",
                  tor_mac_text(p->mac, mac), "from", p->link->name, "to", to->name);
}

static void count_move(struct tor *t, struct fdb *f, struct fdb_place *p) {
    if (p->moves == 0 || t->now - p->first > FDB_MOVE_SECONDS * SECOND) {
        p->first = t->now;
        p->moves = 0;
    }
    if (++p->moves == FDB_MOVES)
        fdb_hold(t, f, p);
}

// It is there for the first time, or was somewhere else.
static void fdb_settle(struct tor *t, struct fdb *f, struct fdb_place *p, struct tor_link *link) {
    const bool moved = p->link;
    if (moved)
        tell_move(t, f, p, link);
    mac_learning_update(f->learning, ethernet(p->mac), p->vid, false, false, link);
    if (moved)
        p->link->use[TOR_LIMIT_ADDRESSES].entries--;
    link->use[TOR_LIMIT_ADDRESSES].entries++;
    p->link = link;
    p->since = p->used = t->now;
    fdb_say(t, f, p, true);
    if (moved) {
        f->n_moved++;
        count_move(t, f, p);
    } else {
        f->n_learned++;
    }
    tor_moved(t, p->vid, p->mac, link);
}

static bool fdb_is_own(const struct tor *t, const uint8_t mac[6]) {
    return memcmp(mac, t->section->mac.bytes, 6) == 0;
}

// Somebody uses the switch's address, or what it sends comes back.
static void warn_of_own(struct tor *t, struct fdb *f, uint16_t vid, const struct tor_link *link) {
    f->n_refused++;
    if (f->warned && t->now - f->warned < WARN_SECONDS * SECOND)
        return;
    f->warned = t->now;
    char why[2 * TOR_TEXT];
    snprintf(why, sizeof why, "a frame of VLAN %u has the switch's own address as source", vid);
    tor_event(t, "alarm", "{s:s, s:i, s:s, s:s}", "alarm", "own address seen", "vid", (int)vid,
              "link", link->name, "why", why);
}

static void fdb_learn(struct tor *t, struct fdb *f, uint16_t vid, const uint8_t mac[6],
                      struct tor_link *link) {
    struct fdb_place *p = tor_fdb_place(f, vid, mac);
    if (fdb_is_own(t, mac)) {
        warn_of_own(t, f, vid, link);
        return;
    }
    if (p && p->link == link)
        return; // it waits to be written
    if (p && (p->fixed || p->held)) {
        f->n_refused += p->fixed;
        f->n_damped += p->held;
        return;
    }
    if (!may_learn_now(t, f, link))
        return;
    fdb_make_room(t, f, link, p != NULL);
    if (!p)
        p = add_place(t, f, vid, mac);
    fdb_settle(t, f, p, link);
}

static bool fdb_is_group(const uint8_t mac[6]) {
    return mac[0] & 1;
}

static bool fdb_is_nobody(const uint8_t mac[6]) {
    static const uint8_t zero[6];
    return memcmp(mac, zero, sizeof zero) == 0;
}

// A digest may be of a configuration that is no more.
static void fdb_digest(struct tor *t, void *state, const struct sk_digest *d, uint64_t now_ns) {
    uint64_t vid, address, interface;
    uint8_t mac[6];
    (void)now_ns;
    if (!sk_name_matches(d->desc->name, "learned") || d->desc->n_fields != 3)
        return;
    sk_digest_field(d, 0, &vid);
    sk_digest_field(d, 1, &address);
    sk_digest_field(d, 2, &interface);
    for (unsigned i = 0; i < 6; i++)
        mac[i] = (uint8_t)(address >> (40 - 8 * i));
    struct tor_link *link = tor_link_by_interface(t, (uint16_t)interface);
    if (link && link->section->learn && tor_link_carries(link, (uint16_t)vid) &&
        !fdb_is_group(mac) && !fdb_is_nobody(mac))
        fdb_learn(t, state, (uint16_t)vid, mac, link);
}

// ---- ageing ----

// What is not in the switch, since it did not take it or has not been given it yet, is as old as it
// looks from here.
static void fdb_look(struct tor *t, struct fdb *f, struct fdb_place *p) {
    uint64_t age = tor_fdb_age(t, p);
    if (age == UINT64_MAX)
        age = (t->now - p->used) / MS;
    if (age < p->ttl) {
        fdb_look_at(f, p, p->ttl, t->now + (p->ttl - age) * MS);
        return;
    }
    f->n_aged++;
    fdb_forget(t, f, p);
}

static void fdb_age(struct tor *t, struct fdb *f) {
    for (unsigned i = 0; i < LOOKS && !heap_is_empty(&f->due); i++) {
        struct heap_node *first = heap_max(&f->due);
        if (UINT64_MAX - first->priority > t->now)
            return;
        fdb_look(t, f, CONTAINER_OF(first, struct fdb_place, due_node));
    }
}

static void fdb_run(struct tor *t, void *state, uint64_t now_ns) {
    struct fdb *f = state;
    while (!ovs_list_is_empty(&f->held)) {
        struct fdb_place *p = CONTAINER_OF(ovs_list_front(&f->held), struct fdb_place, held_node);
        if (p->held_until > now_ns)
            break;
        fdb_release(p);
        tell_held(t, p, false);
    }
    if (now_ns - f->sized >= SECOND)
        set_most(t, f); // another program may have tables of other sizes
    fdb_age(t, f);
}

// ---- a section comes ----

// Of the addresses that were learned those stay whose link is there, up, in the VLAN, and learns.
static bool fdb_place_stays(struct tor *t, const struct fdb_place *p) {
    return tor_link_by_interface(t, p->link->interface) == p->link && p->link->up &&
           p->link->section->learn && tor_section_vlan(t->section, p->vid) &&
           tor_link_carries(p->link, p->vid) && !fdb_is_own(t, p->mac);
}

static void fix(struct tor *t, struct fdb *f, const struct tor_static_mac *m) {
    struct tor_link *link = tor_link_by_index(t, m->link);
    struct fdb_place *p = tor_fdb_place(f, m->vid, m->mac.bytes);
    if (!p)
        p = add_place(t, f, m->vid, m->mac.bytes);
    const bool moved = p->link != link;
    if (!p->fixed) {
        fdb_release(p);
        unlearn(f, p);
        if (p->link)
            p->link->use[TOR_LIMIT_ADDRESSES].entries--;
        p->fixed = true;
        f->n_fixed++;
    }
    p->link = link;
    p->said = true;
    fdb_say(t, f, p, false);
    if (moved)
        tor_moved(t, p->vid, p->mac, link);
}

static void fdb_configure(struct tor *t, void *state, const struct tor_section *old) {
    const struct tor_section *s = t->section;
    struct fdb *f = state;
    struct fdb_place *p, *next;
    char mac[TOR_TEXT];
    (void)old;
    tor_begin(t->wanted, TOR_FDB_STATIC);
    HMAP_FOR_EACH(p, node, &f->places) p->said = false;
    for (size_t i = 0; i < s->n_macs; i++)
        fix(t, f, &s->macs[i]);
    HMAP_FOR_EACH_SAFE(p, next, node, &f->places) {
        if (p->fixed ? !p->said : !fdb_place_stays(t, p))
            fdb_forget(t, f, p);
        else
            fdb_say(t, f, p, false); // its VLAN may age otherwise now
    }
    for (size_t i = 0; i < s->n_vlans; i++)
        if (s->vlans[i].n_addresses > 0)
            tor_want(t->wanted, TOR_FDB_STATIC, "entry destinations vid=%u dst_addr=%s -> route",
                     s->vlans[i].vid, tor_mac_text(s->mac.bytes, mac));
    tor_end(t->wanted, TOR_FDB_STATIC);
    set_most(t, f);
}

const struct tor_module tor_fdb_module = {.name = "fdb",
                                          .create = fdb_create,
                                          .destroy = fdb_destroy,
                                          .configure = fdb_configure,
                                          .run = fdb_run,
                                          .digest = fdb_digest,
                                          .request = tor_fdb_request};
