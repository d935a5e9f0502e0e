// SPDX-License-Identifier: Apache-2.0
//
// neighbours: entries and their timers. There are at most 2047, so a timer that fires looks at all
// of them; between two that fire, nobody does.
#include "control/tor/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "util.h"

// RFC 4861 10
enum { ASK_MOST = 3 };
#define ASK_EVERY      (1 * NS_PER_S)
#define REACHABLE_BASE (30 * NS_PER_S) // and from a half to three halves of it
#define DELAY_TIME     (5 * NS_PER_S)
// Ours
#define STALE_TIME   (30 * NS_PER_S)
#define LOCK_TIME    (1 * NS_PER_S)
#define FAILED_HOLD  (1 * NS_PER_S) // doubled each time
#define FAILED_HOLDS 5              // times
#define FAILED_KEPT  (60 * NS_PER_S)

const char *neighbour_state_text(enum neighbour_state state) {
    static const char *const text[] = {"failed", "incomplete", "stale",    "delay",
                                       "probe",  "reachable",  "permanent"};
    return text[state];
}

uint64_t neighbours_random(struct neighbours *n, uint64_t below) {
    n->random ^= n->random << 13;
    n->random ^= n->random >> 7;
    n->random ^= n->random << 17;
    return n->random % below;
}

static uint32_t neighbours_hash_of(const struct neighbours *all, uint16_t vid,
                                   const struct in6_addr *address) {
    return hash_bytes(address, sizeof *address, hash_2words(vid, all->hash_secret));
}

static struct neighbour *neighbours_find(const struct neighbours *all, uint16_t vid,
                                         const struct in6_addr *address) {
    struct neighbour *n;
    HMAP_FOR_EACH_WITH_HASH(n, node, neighbours_hash_of(all, vid, address), &all->entries)
    if (n->vid == vid && ip_equal(&n->address, address))
        return n;
    return NULL;
}

static bool is_unanswered(const struct neighbour *n) {
    return !neighbour_is_known(n);
}

// ---- what counts for a link
static void count_unanswered(struct neighbours *all, const struct neighbour *n, int by) {
    if (!is_unanswered(n))
        return;
    all->n_unanswered += (unsigned)by;
    if (n->by)
        all->of_link[n->by->interface].unanswered += (uint16_t)by;
}

static void count_waiting(struct neighbours *all, const struct waiting *w, int by) {
    all->n_waiting += (unsigned)by;
    if (w->by)
        all->of_link[w->by->interface].waiting += (uint16_t)by;
}

// It counts for no link any more.
static void neighbours_disown(struct neighbours *all, struct neighbour *n) {
    count_unanswered(all, n, -1);
    if (n->by)
        n->by->use[TOR_LIMIT_NEIGHBOURS].entries--;
    n->by = NULL;
    count_unanswered(all, n, 1);
}

// What was there because of links that are no more.
static void neighbours_disown_gone(struct tor *t, struct neighbours *all) {
    struct neighbour *n;
    HMAP_FOR_EACH(n, node, &all->entries) {
        if (n->by && tor_link_by_interface(t, n->by->interface) != n->by)
            neighbours_disown(all, n);
        for (struct waiting *w = n->waiting; w; w = w->next) {
            if (!w->by || tor_link_by_interface(t, w->by->interface) == w->by)
                continue;
            count_waiting(all, w, -1);
            w->by = NULL;
            count_waiting(all, w, 1);
        }
    }
}

// Not to be evicted.
static bool is_kept(struct tor *t, const struct neighbour *n) {
    return n->state == NEIGHBOUR_PERMANENT || tor_routes_use(t, n->vid, &n->address);
}

bool neighbours_possible(const struct tor *t, uint16_t vid, const struct in6_addr *address) {
    const struct tor_vlan *v = tor_section_vlan(t->section, vid);
    if (!v || !ip_is_unicast(address) || tor_address_is_own(t, address, NULL))
        return false;
    for (size_t k = 0; k < v->n_addresses; k++) {
        const struct tor_prefix *p = &v->addresses[k];
        if (tor_is_ipv4(&p->address) != tor_is_ipv4(address))
            continue;
        if (ip_is_link_local(address))
            return true;
        if (ip_in(address, &p->address, p->length))
            return !ip_is_net_or_broadcast(address, &p->address, p->length);
    }
    return false;
}

// ---- packets that wait
static void drop_waiting(struct neighbours *all, struct neighbour *n) {
    struct waiting *w = n->waiting;
    n->waiting = w->next;
    n->n_waiting--;
    count_waiting(all, w, -1);
    free(w);
}

static void drop_all_waiting(struct neighbours *all, struct neighbour *n) {
    while (n->waiting) {
        drop_waiting(all, n);
        all->packets_dropped++;
    }
}

static void send_to(struct tor *t, const struct neighbour *n, const uint8_t *packet,
                    uint32_t length) {
    uint8_t frame[ETH_BYTES + IP_MOST];
    memcpy(frame, n->mac, 6);
    memcpy(frame + 6, t->section->mac.bytes, 6);
    put16(frame + 12, tor_is_ipv4(&n->address) ? ETHER_IPV4 : ETHER_IPV6);
    memcpy(frame + ETH_BYTES, packet, length);
    tor_send_vlan(t, n->vid, 0, frame, ETH_BYTES + length);
}

static void send_waiting(struct tor *t, struct neighbour *n) {
    while (n->waiting) {
        send_to(t, n, n->waiting->bytes, n->waiting->length);
        drop_waiting(neighbours_of(t), n);
    }
}

// Whoever sent them is told: after the walk over all entries, for what is sent then needs
// neighbours, too.
static void refuse_waiting(struct neighbours *all, struct neighbour *n) {
    struct waiting **last = &all->refused;
    while (*last)
        last = &(*last)->next;
    *last = n->waiting;
    for (const struct waiting *w = n->waiting; w; w = w->next)
        count_waiting(all, w, -1);
    n->n_waiting = 0;
    n->waiting = NULL;
}

static void tell_refused(struct tor *t, struct neighbours *all) {
    while (all->refused) {
        struct waiting *w = all->refused;
        all->refused = w->next;
        tor_icmp_no_neighbour(t, w->from_vid, w->bytes, w->length);
        free(w);
    }
}

// ---- states
static void neighbours_set_timer(struct neighbours *all, struct neighbour *n, uint64_t due) {
    n->due = due;
    if (due < all->next)
        all->next = due;
}

static void set_state(struct tor *t, struct neighbour *n, enum neighbour_state state,
                      uint64_t due) {
    struct neighbours *all = neighbours_of(t);
    count_unanswered(all, n, -1);
    n->state = state;
    count_unanswered(all, n, 1);
    n->changed = t->now;
    n->sent = 0;
    neighbours_set_timer(all, n, due);
}

static void neighbours_ask(struct tor *t, struct neighbour *n) {
    const uint8_t *mac = n->state == NEIGHBOUR_PROBE ? n->mac : NULL;
    n->sent++;
    n->asked = t->now ? t->now : 1;
    neighbours_set_timer(neighbours_of(t), n, t->now + ASK_EVERY);
    if (tor_is_ipv4(&n->address))
        arp_ask(t, n->vid, &n->address, mac);
    else
        nd_ask(t, n->vid, &n->address, mac);
}

static void begin_asking(struct tor *t, struct neighbour *n) {
    set_state(t, n, NEIGHBOUR_INCOMPLETE, UINT64_MAX);
    neighbours_ask(t, n);
}

static void become_reachable(struct tor *t, struct neighbour *n) {
    uint64_t wait = REACHABLE_BASE / 2 + neighbours_random(neighbours_of(t), REACHABLE_BASE);
    set_state(t, n, NEIGHBOUR_REACHABLE, t->now + wait);
    n->failures = 0;
    n->asked = 0;
}

static void neighbours_forget(struct tor *t, struct neighbour *n) {
    struct neighbours *all = neighbours_of(t);
    bool known = neighbour_is_known(n);
    uint16_t vid = n->vid;
    struct in6_addr address = n->address;
    drop_all_waiting(all, n);
    neighbours_disown(all, n);
    count_unanswered(all, n, -1);
    all->in_vlan[vid]--;
    hmap_remove(&all->entries, &n->node);
    free(n);
    if (known)
        tor_routes_neighbour(t, vid, &address, NULL);
}

// Nobody has answered.
static void neighbours_fail(struct tor *t, struct neighbour *n) {
    bool known = neighbour_is_known(n);
    unsigned doublings = n->failures < FAILED_HOLDS ? n->failures : FAILED_HOLDS;
    n->failures++;
    n->held_until = t->now + (FAILED_HOLD << doublings);
    set_state(t, n, NEIGHBOUR_FAILED, n->held_until);
    refuse_waiting(neighbours_of(t), n);
    if (known)
        tor_routes_neighbour(t, n->vid, &n->address, NULL);
}

static void failed_long(struct tor *t, struct neighbour *n) {
    if (tor_routes_use(t, n->vid, &n->address))
        begin_asking(t, n);
    else if (t->now >= n->used + FAILED_KEPT)
        neighbours_forget(t, n);
    else
        neighbours_set_timer(neighbours_of(t), n, n->used + FAILED_KEPT);
}

static void neighbours_fire(struct tor *t, struct neighbour *n) {
    switch (n->state) {
    case NEIGHBOUR_FAILED:
        failed_long(t, n);
        break;
    case NEIGHBOUR_INCOMPLETE:
        if (n->sent < ASK_MOST)
            neighbours_ask(t, n);
        else
            neighbours_fail(t, n);
        break;
    case NEIGHBOUR_REACHABLE:
        set_state(t, n, NEIGHBOUR_STALE, t->now + STALE_TIME);
        break;
    case NEIGHBOUR_STALE:
    case NEIGHBOUR_DELAY:
        set_state(t, n, NEIGHBOUR_PROBE, UINT64_MAX);
        neighbours_ask(t, n);
        break;
    case NEIGHBOUR_PROBE:
        if (n->sent < ASK_MOST)
            neighbours_ask(t, n);
        else if (tor_routes_use(t, n->vid, &n->address))
            neighbours_fail(t, n); // and everybody is asked, again and again
        else
            neighbours_forget(t, n);
        break;
    case NEIGHBOUR_PERMANENT:
        n->due = UINT64_MAX;
        break;
    }
}

// ---- room
// Who goes first: those that never answered; then of the VLAN that has most entries the one that
// was needed longest ago. So neither asking for addresses that nobody has nor one VLAN's addresses
// push out others'.
static bool goes_before(const struct neighbours *all, const struct neighbour *a,
                        const struct neighbour *b) {
    if (is_unanswered(a) != is_unanswered(b))
        return is_unanswered(a);
    if (neighbour_is_known(a) && all->in_vlan[a->vid] != all->in_vlan[b->vid])
        return all->in_vlan[a->vid] > all->in_vlan[b->vid];
    return a->used < b->used;
}

// Removes the first to go of a link's (null: of all); false: there is none.
static bool neighbours_evict(struct tor *t, const struct tor_link *by, bool only_unanswered) {
    struct neighbours *all = neighbours_of(t);
    struct neighbour *n, *first = NULL;
    HMAP_FOR_EACH(n, node, &all->entries)
    if ((!by || n->by == by) && !is_kept(t, n) && (!only_unanswered || is_unanswered(n)) &&
        (!first || goes_before(all, n, first)))
        first = n;
    if (!first)
        return false;
    all->evicted++;
    neighbours_forget(t, first);
    return true;
}

static bool neighbours_make_room(struct tor *t, bool for_unanswered) {
    struct neighbours *all = neighbours_of(t);
    bool full = hmap_count(&all->entries) >= NEIGHBOURS_MOST;
    if (!full && (!for_unanswered || all->n_unanswered < UNANSWERED_MOST))
        return true;
    return neighbours_evict(t, NULL, !full) || !full;
}

// For one more that a frame of the link makes: its own go where it has all that it may have.
static bool make_room_of_link(struct tor *t, struct tor_link *by, bool for_unanswered) {
    const struct neighbours *all = neighbours_of(t);
    const bool full =
        by->use[TOR_LIMIT_NEIGHBOURS].entries >= by->section->limits[TOR_LIMIT_NEIGHBOURS].most;
    if (!tor_limits_take(t, by, TOR_LIMIT_NEIGHBOURS))
        return false;
    if (!full && (!for_unanswered || all->of_link[by->interface].unanswered < UNANSWERED_OF_LINK))
        return true;
    if (full)
        tor_limits_over(t, by, TOR_LIMIT_NEIGHBOURS, TOR_LIMIT_MOST);
    else
        by->use[TOR_LIMIT_NEIGHBOURS].n_limited++; // whoever asks for what is not there: no alarm
    return neighbours_evict(t, by, !full) || !full;
}

// Null: there is no room.
static struct neighbour *neighbours_add(struct tor *t, uint16_t vid, const struct in6_addr *address,
                                        enum neighbour_state state) {
    struct neighbours *all = neighbours_of(t);
    struct tor_link *by = state == NEIGHBOUR_PERMANENT ? NULL : t->by;
    const bool unanswered = state == NEIGHBOUR_INCOMPLETE;
    if ((by && !make_room_of_link(t, by, unanswered)) || !neighbours_make_room(t, unanswered))
        return NULL;
    struct neighbour *n = xzalloc(sizeof *n);
    n->vid = vid;
    n->address = *address;
    n->by = by;
    n->state = state;
    n->used = n->changed = t->now;
    n->due = UINT64_MAX;
    if (by)
        by->use[TOR_LIMIT_NEIGHBOURS].entries++;
    count_unanswered(all, n, 1);
    all->in_vlan[vid]++;
    hmap_insert(&all->entries, &n->node, neighbours_hash_of(all, vid, address));
    return n;
}

// ---- what others tell
static void change_mac(struct tor *t, struct neighbour *n, const uint8_t mac[6]) {
    bool was_known = neighbour_is_known(n);
    if (was_known) {
        char address[TOR_TEXT], from[TOR_TEXT], to[TOR_TEXT];
        tor_event(t, "neighbour", "{s:i, s:s, s:s, s:s}", "vid", n->vid, "address",
                  tor_address_text(&n->address, address), "was", tor_mac_text(n->mac, from), "mac",
                  tor_mac_text(mac, to));
    }
    memcpy(n->mac, mac, 6);
}

void neighbours_heard(struct tor *t, uint16_t vid, const struct in6_addr *address,
                      const uint8_t *mac, enum heard how, bool may_change) {
    struct neighbours *all = neighbours_of(t);
    struct neighbour *n = neighbours_find(all, vid, address);
    if (!n && how == HEARD_QUESTION && mac && neighbours_possible(t, vid, address)) {
        n = neighbours_add(t, vid, address, NEIGHBOUR_STALE);
        if (!n)
            return;
        memcpy(n->mac, mac, 6);
        neighbours_set_timer(all, n, t->now + STALE_TIME);
        tor_routes_neighbour(t, vid, address, n->mac);
        return;
    }
    if (!n || n->state == NEIGHBOUR_PERMANENT || (!neighbour_is_known(n) && !mac))
        return;
    // Asked lately; what comes later is no answer.
    bool answers = how == HEARD_ANSWER && n->asked && n->state != NEIGHBOUR_FAILED &&
                   t->now - n->asked <= ASK_MOST * ASK_EVERY;
    bool other = !neighbour_is_known(n) || (mac && memcmp(mac, n->mac, 6) != 0);
    // Of two that answer the first one has it; else they would take turns.
    if (other && n->state == NEIGHBOUR_REACHABLE && t->now - n->changed < LOCK_TIME)
        return;
    if (other && neighbour_is_known(n) && !may_change) {
        if (n->state == NEIGHBOUR_REACHABLE) // RFC 4861 7.2.5: doubt
            set_state(t, n, NEIGHBOUR_STALE, t->now);
        return;
    }
    if (other) {
        change_mac(t, n, mac);
        if (!answers)
            set_state(t, n, NEIGHBOUR_STALE, t->now); // it is asked at once
    }
    if (answers)
        become_reachable(t, n);
    if (other)
        tor_routes_neighbour(t, vid, &n->address, n->mac);
    send_waiting(t, n);
}

// ---- what routes and packets need
// The entry, in use or being asked for; null: nobody can be asked.
static struct neighbour *neighbours_need(struct tor *t, uint16_t vid,
                                         const struct in6_addr *address) {
    struct neighbours *all = neighbours_of(t);
    struct neighbour *n = neighbours_find(all, vid, address);
    if (!n) {
        if (!neighbours_possible(t, vid, address) ||
            !(n = neighbours_add(t, vid, address, NEIGHBOUR_INCOMPLETE)))
            return NULL;
        neighbours_ask(t, n);
        return n;
    }
    n->used = t->now;
    if (n->state == NEIGHBOUR_STALE)
        set_state(t, n, NEIGHBOUR_DELAY, t->now + DELAY_TIME);
    else if (n->state == NEIGHBOUR_FAILED && t->now >= n->held_until)
        begin_asking(t, n);
    return n;
}

bool tor_neighbour_find(struct tor *t, uint16_t vid, const struct in6_addr *address,
                        uint8_t mac[6]) {
    struct neighbour *n = neighbours_need(t, vid, address);
    if (!n || !neighbour_is_known(n))
        return false;
    memcpy(mac, n->mac, 6);
    return true;
}

void tor_neighbour_ask(struct tor *t, uint16_t vid, const struct in6_addr *address) {
    neighbours_need(t, vid, address);
}

bool tor_neighbour_is_there(struct tor *t, uint16_t vid, const struct in6_addr *address) {
    return neighbours_find(neighbours_of(t), vid, address);
}

void tor_neighbour_send(struct tor *t, uint16_t vid, const struct in6_addr *address,
                        uint16_t from_vid, const uint8_t *packet, uint32_t length) {
    struct neighbours *all = neighbours_of(t);
    if (length > IP_MOST)
        return;
    struct neighbour *n = neighbours_need(t, vid, address);
    if (!n && t->by && neighbours_possible(t, vid, address)) {
        all->packets_dropped++; // no room now: not that nobody is there
        return;
    }
    if (!n || n->state == NEIGHBOUR_FAILED) {
        tor_icmp_no_neighbour(t, from_vid, packet, length);
        return;
    }
    if (neighbour_is_known(n)) {
        send_to(t, n, packet, length);
        return;
    }
    if (n->n_waiting == WAITING_EACH) { // RFC 4861 7.2.2: the newest are kept
        drop_waiting(all, n);
        all->packets_dropped++;
    }
    if (all->n_waiting == WAITING_MOST ||
        (t->by && all->of_link[t->by->interface].waiting >= WAITING_OF_LINK)) {
        all->packets_dropped++;
        return;
    }
    struct waiting *w = xmalloc(sizeof *w + length);
    *w = (struct waiting){.from_vid = from_vid, .length = length, .by = t->by};
    memcpy(w->bytes, packet, length);
    struct waiting **last = &n->waiting;
    while (*last)
        last = &(*last)->next;
    *last = w;
    n->n_waiting++;
    count_waiting(all, w, 1);
}

// ---- the module
static void *neighbours_create(struct tor *t) {
    struct neighbours *all = xzalloc(sizeof *all);
    (void)t;
    all->hash_secret = t->host.hash_secret;
    hmap_init(&all->entries);
    all->next = all->claims_next = UINT64_MAX;
    return all;
}

static void neighbours_destroy(struct tor *t, void *state) {
    struct neighbours *all = state;
    struct neighbour *n;
    (void)t;
    HMAP_FOR_EACH_SAFE(n, node, &all->entries) {
        drop_all_waiting(all, n);
        hmap_remove(&all->entries, &n->node);
        free(n);
    }
    hmap_destroy(&all->entries);
    while (all->refused) {
        struct waiting *w = all->refused;
        all->refused = w->next;
        free(w);
    }
    free(all->claims);
    free(all);
}

static const struct tor_static_neighbour *neighbours_configured(const struct tor_section *s,
                                                                const struct neighbour *n) {
    for (size_t i = 0; i < s->n_neighbours; i++)
        if (s->neighbours[i].vid == n->vid && ip_equal(&s->neighbours[i].address, &n->address))
            return &s->neighbours[i];
    return NULL;
}

static void add_configured(struct tor *t, const struct tor_static_neighbour *c) {
    struct neighbour *n = neighbours_find(neighbours_of(t), c->vid, &c->address);
    if (!n && !(n = neighbours_add(t, c->vid, &c->address, NEIGHBOUR_PERMANENT)))
        return; // not with the numbers that a section can have
    bool same = neighbour_is_known(n) && memcmp(n->mac, c->mac.bytes, 6) == 0;
    neighbours_disown(neighbours_of(t), n);
    memcpy(n->mac, c->mac.bytes, 6);
    set_state(t, n, NEIGHBOUR_PERMANENT, UINT64_MAX);
    if (!same)
        tor_routes_neighbour(t, n->vid, &n->address, n->mac);
    send_waiting(t, n);
}

// Delays shall differ from those of another switch: its address does.
static void seed_random(struct tor *t, struct neighbours *all) {
    all->random = 0x9e3779b97f4a7c15u;
    for (unsigned i = 0; i < 6; i++)
        all->random = (all->random ^ t->section->mac.bytes[i]) * 0x100000001b3u;
    all->random |= 1;
}

static void neighbours_configure(struct tor *t, void *state, const struct tor_section *old) {
    struct neighbours *all = state;
    struct neighbour *n;
    if (!old)
        seed_random(t, all);
    else if (memcmp(&old->mac, &t->section->mac, sizeof old->mac) != 0)
        all->n_claims = 0; // others have to hear of it
    neighbours_disown_gone(t, all);
    HMAP_FOR_EACH_SAFE(n, node, &all->entries)
    if (!neighbours_possible(t, n->vid, &n->address) ||
        (n->state == NEIGHBOUR_PERMANENT && !neighbours_configured(t->section, n)))
        neighbours_forget(t, n);
    for (size_t i = 0; i < t->section->n_neighbours; i++)
        add_configured(t, &t->section->neighbours[i]);
    claims_configure(t);
}

static void neighbours_run(struct tor *t, void *state, uint64_t now) {
    struct neighbours *all = state;
    claims_run(t);
    if (now < all->next)
        return;
    struct neighbour *n; // a timer that fires takes away its own entry at most
    HMAP_FOR_EACH_SAFE(n, node, &all->entries)
    if (n->due <= now)
        neighbours_fire(t, n);
    all->next = UINT64_MAX;
    HMAP_FOR_EACH(n, node, &all->entries)
    if (n->due < all->next)
        all->next = n->due;
    tell_refused(t, all);
}

static void neighbours_frame(struct tor *t, void *state, const struct tor_frame *f) {
    (void)state;
    arp_frame(t, f);
    nd_frame(t, f);
}

static void neighbours_link_changed(struct tor *t, void *state, struct tor_link *link,
                                    uint16_t port, bool up) {
    (void)state, (void)port;
    if (up)
        claims_link_up(t, link);
}

// An address whose place is not known any more: whoever has it is asked, and is learned again when
// it answers.
static void neighbours_moved(struct tor *t, void *state, uint16_t vid, const uint8_t mac[6],
                             struct tor_link *link) {
    struct neighbours *all = state;
    struct neighbour *n;
    if (link || !all->in_vlan[vid & 4095])
        return;
    HMAP_FOR_EACH(n, node, &all->entries)
    if (n->vid == vid && neighbour_is_known(n) && n->state != NEIGHBOUR_PERMANENT &&
        n->state != NEIGHBOUR_PROBE && memcmp(n->mac, mac, 6) == 0)
        set_state(t, n, NEIGHBOUR_DELAY, t->now + neighbours_random(all, NS_PER_S));
}

// ---- flushing ----
int neighbours_flush(struct tor *t, uint16_t vid, const struct in6_addr *address) {
    struct neighbours *all = neighbours_of(t);
    struct neighbour *n;
    int count = 0;
    HMAP_FOR_EACH_SAFE(n, node, &all->entries) {
        if (n->state == NEIGHBOUR_PERMANENT || (vid && n->vid != vid) ||
            (address && !ip_equal(&n->address, address)))
            continue;
        count++;
        if (tor_routes_use(t, n->vid, &n->address)) {
            neighbours_fail(t, n);
            begin_asking(t, n);
        } else {
            neighbours_forget(t, n);
        }
    }
    tell_refused(t, all);
    return count;
}

const struct tor_module tor_neighbours_module = {.name = "neighbours",
                                                 .create = neighbours_create,
                                                 .destroy = neighbours_destroy,
                                                 .configure = neighbours_configure,
                                                 .run = neighbours_run,
                                                 .frame = neighbours_frame,
                                                 .link = neighbours_link_changed,
                                                 .moved = neighbours_moved,
                                                 .request = neighbours_request};
