// SPDX-License-Identifier: Apache-2.0
//
// Random sections, frames, reloads, links that go up and down, against a plain model of a switch:
// where each frame leaves, and where it does not. The control plane has nothing to be refused
// meanwhile.
//
//     test_bridge_random [SEED] [STEPS]      one journey, as long as that
#include "harness/control/tor/ethernet.h"

#include <stdio.h>
#include <stdlib.h>

#define PORTS    9u
#define LINKS    6u // names
#define VLANS    3u
#define HOSTS    5u
#define JOURNEYS 12u
#define STEPS    700u
#define MOVES    5u     // until an address is held
#define QUIET_MS 31000u // no move counts any more, nobody is held

static const unsigned vids[VLANS] = {10, 20, 30};

// ---- the model ----

struct model_link {
    bool there, isolated, learn, ports[PORTS];
    unsigned n_ports;
    bool lag, tagged[VLANS];
    int untagged; // VLAN, -1: none
};
struct model_place {
    int link; // -1: not known
    bool fixed, held;
    unsigned moves;
};
struct model {
    bool vlans[VLANS];
    struct model_link links[LINKS];
    struct model_place places[VLANS][HOSTS];
    bool up[PORTS];
    uint32_t random;
    unsigned step;
    uint64_t seed;
};

// Numerical Recipes' generator: the same journeys everywhere.
static unsigned any(struct model *m, unsigned below) {
    m->random = m->random * 1664525u + 1013904223u;
    return (m->random >> 8) % below;
}

static bool is_up(const struct model *m, const struct model_link *l) {
    for (unsigned p = 0; p < PORTS; p++)
        if (l->ports[p] && m->up[p])
            return true;
    return false;
}

static bool carries(const struct model_link *l, unsigned vlan) {
    return l->there && (l->tagged[vlan] || l->untagged == (int)vlan);
}

static void forget_at(struct model *m, unsigned link) {
    for (unsigned v = 0; v < VLANS; v++)
        for (unsigned h = 0; h < HOSTS; h++)
            if (m->places[v][h].link == (int)link && !m->places[v][h].fixed)
                m->places[v][h] = (struct model_place){.link = -1};
}

static void learn(struct model *m, unsigned vlan, unsigned host, int link) {
    struct model_place *p = &m->places[vlan][host];
    if (!m->links[link].learn || p->link == link || p->fixed || p->held)
        return;
    p->moves += p->link >= 0;
    p->held = p->moves >= MOVES;
    if (p->held)
        p->moves = 0;
    p->link = link;
}

// ---- sections ----

static void draw_links(struct model *m, struct model_link links[LINKS]) {
    bool taken[PORTS] = {false};
    memset(links, 0, LINKS * sizeof *links);
    for (unsigned i = 0; i < LINKS; i++) {
        struct model_link *l = &links[i];
        if (any(m, 6) == 0)
            continue;
        const unsigned want = any(m, 3) ? 1 : 1 + any(m, 3);
        l->lag = want > 1 || any(m, 6) == 0;
        for (unsigned n = 0; n < want; n++) {
            const unsigned p = any(m, PORTS);
            if (!taken[p]) {
                taken[p] = l->ports[p] = true;
                l->n_ports++;
            }
        }
        l->untagged = -1;
        l->isolated = any(m, 4) == 0;
        l->learn = any(m, 8) != 0;
        for (unsigned v = 0; v < VLANS; v++) {
            if (m->vlans[v] && l->untagged < 0 && any(m, 2))
                l->untagged = (int)v;
            else if (m->vlans[v])
                l->tagged[v] = any(m, 2);
        }
        bool none = l->untagged < 0;
        for (unsigned v = 0; v < VLANS; v++)
            none &= !l->tagged[v];
        l->there = l->n_ports > 0 && !none;
    }
}

static void print_link(FILE *out, const struct model_link *l, unsigned i, const char *comma) {
    const char *between = "";
    bool tagged = false;
    fprintf(out, "%s{\"name\": \"l%u\", \"%s\": %s", comma, i, l->lag ? "ports" : "port",
            l->lag ? "[" : "");
    for (unsigned p = 0; p < PORTS; p++)
        if (l->ports[p]) {
            fprintf(out, "%s%u", between, p);
            between = ", ";
        }
    fprintf(out, "%s, \"isolated\": %s, \"learn\": %s", l->lag ? "]" : "",
            l->isolated ? "true" : "false", l->learn ? "true" : "false");
    for (unsigned v = 0; v < VLANS; v++)
        if (l->tagged[v]) {
            fprintf(out, tagged ? ", %u" : ", \"trunk\": [%u", vids[v]);
            tagged = true;
        }
    if (tagged)
        fprintf(out, "]");
    if (l->untagged >= 0)
        fprintf(out, ", \"%s\": %u", tagged ? "native" : "access", vids[l->untagged]);
    fprintf(out, "}");
}

static char *print_section(const struct model *m) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *comma = "";
    fprintf(out, "{\"mac\": \"" ETH_OWN_TEXT "\", \"vlans\": [");
    for (unsigned v = 0; v < VLANS; v++)
        if (m->vlans[v]) {
            fprintf(out, "%s{\"vid\": %u, \"aging\": 0}", comma, vids[v]);
            comma = ", ";
        }
    fprintf(out, "], \"links\": [");
    comma = "";
    for (unsigned i = 0; i < LINKS; i++)
        if (m->links[i].there) {
            print_link(out, &m->links[i], i, comma);
            comma = ", ";
        }
    fprintf(out, "], \"macs\": [");
    comma = "";
    for (unsigned v = 0; v < VLANS; v++)
        for (unsigned h = 0; h < HOSTS; h++)
            if (m->places[v][h].fixed) {
                fprintf(out, "%s{\"vid\": %u, \"mac\": \"02:00:00:00:00:%02x\", \"link\": \"l%d\"}",
                        comma, vids[v], h + 1, m->places[v][h].link);
                comma = ", ";
            }
    fprintf(out, "]}");
    fclose(out);
    return text;
}

// Another section: names keep their addresses, if the link is isolated as before, up, learns and
// carries the VLAN.
static void change(struct model *m) {
    const struct model before = *m;
    for (unsigned v = 0; v < VLANS; v++)
        m->vlans[v] = any(m, 5) != 0;
    m->vlans[any(m, VLANS)] = true;
    draw_links(m, m->links);
    // some links stay as they are, where their ports are free and their VLANs there
    for (unsigned v = 0; v < VLANS; v++)
        for (unsigned h = 0; h < HOSTS; h++) {
            struct model_place *p = &m->places[v][h];
            const struct model_link *l = p->link < 0 ? NULL : &m->links[p->link];
            if (p->fixed || !l || !carries(l, v) || !l->learn || !is_up(m, l) ||
                l->isolated != before.links[p->link].isolated || !before.links[p->link].there)
                *p = (struct model_place){.link = -1};
        }
    for (unsigned n = any(m, 3); n > 0; n--) {
        const unsigned v = any(m, VLANS), h = any(m, HOSTS), l = any(m, LINKS);
        if (m->vlans[v] && carries(&m->links[l], v))
            m->places[v][h] = (struct model_place){.link = (int)l, .fixed = true};
    }
}

// ---- frames ----

static void complain(const struct model *m, const char *what, unsigned port) {
    char *section = print_section(m);
    fail_msg("seed %llu, step %u: %s (port %u)\n%s", (unsigned long long)m->seed, m->step, what,
             port, section);
}

// One copy leaves by a port of the link that is up, tagged as the VLAN is there; else none by any.
static void expect_link(struct model *m, struct rig *r, unsigned link, unsigned vlan, bool wanted,
                        const uint8_t *plain, size_t n) {
    const struct model_link *l = &m->links[link];
    uint8_t got[RIG_FRAME], expected[RIG_FRAME];
    unsigned copies = 0;
    size_t length = n;
    memcpy(expected, plain, n);
    if (l->untagged != (int)vlan) {
        memcpy(expected + 12, (const uint8_t[4]){0x81, 0, 0, (uint8_t)vids[vlan]}, 4);
        memcpy(expected + 16, plain + 12, n - 12);
        length += 4;
    }
    for (uint16_t p = 0; p < PORTS; p++) {
        if (!l->ports[p])
            continue;
        for (size_t m2; (m2 = rig_take(r, p, got)) > 0; copies++) {
            if (!m->up[p])
                complain(m, "a frame left by a port that is down", p);
            if (m2 != length || memcmp(got, expected, length) != 0)
                complain(m, "another frame left", p);
        }
    }
    if (copies != (wanted ? 1u : 0u))
        complain(m, copies ? "a frame that should not have left did" : "a frame did not leave",
                 link);
}

static bool may_pass(const struct model *m, unsigned from, unsigned to) {
    return from != to && !(m->links[from].isolated && m->links[to].isolated);
}

static void send_frame(struct model *m, struct rig *r) {
    const unsigned port = any(m, PORTS), tag_of = any(m, VLANS), from = any(m, HOSTS);
    const bool tagged = any(m, 2), group = any(m, 6) == 0;
    const unsigned to = any(m, HOSTS);
    uint8_t frame[64], plain[64];
    int in = -1, vlan = -1;
    for (unsigned i = 0; i < LINKS; i++)
        if (m->links[i].there && m->links[i].ports[port])
            in = (int)i;
    if (in >= 0)
        vlan = !tagged ? m->links[in].untagged : m->links[in].tagged[tag_of] ? (int)tag_of : -1;
    const uint32_t destination = group ? ETH_BROADCAST : to + 1;
    const size_t n = eth_frame(plain, destination, from + 1, ETH_NO_TAG, (uint8_t)m->step);
    rig_send(r, (uint16_t)port, frame,
             eth_frame(frame, destination, from + 1, tagged ? vids[tag_of] : ETH_NO_TAG,
                       (uint8_t)m->step));
    const int known = vlan < 0 || group ? -1 : m->places[vlan][to].link; // before it was learned
    for (unsigned i = 0; i < LINKS; i++) {
        const bool wanted = vlan >= 0 && carries(&m->links[i], (unsigned)vlan) &&
                            is_up(m, &m->links[i]) && may_pass(m, (unsigned)in, i) &&
                            (known < 0 || known == (int)i);
        if (m->links[i].there)
            expect_link(m, r, i, vlan < 0 ? 0 : (unsigned)vlan, wanted, plain, n);
    }
    for (uint16_t p = 0; p < PORTS; p++)
        if (rig_count(r, p) > 0)
            complain(m, "a frame left by a port that is no link's", p);
    if (vlan >= 0)
        learn(m, (unsigned)vlan, from, in);
}

// ---- what else happens ----

static void turn_port(struct model *m, struct rig *r) {
    const unsigned port = any(m, PORTS);
    m->up[port] = !m->up[port];
    rig_link(r, (uint16_t)port, m->up[port]);
    for (unsigned i = 0; i < LINKS; i++)
        if (m->links[i].there && m->links[i].ports[port] && !is_up(m, &m->links[i]))
            forget_at(m, i);
}

static void reload(struct model *m, struct rig *r) {
    struct sk_error err;
    change(m);
    char *text = print_section(m);
    if (rig_reload(r, text, &err))
        fail_msg("seed %llu, step %u: %s", (unsigned long long)m->seed, m->step, err.text);
    free(text);
}

static void flush(struct model *m, struct rig *r) {
    const unsigned link = any(m, LINKS);
    struct sk_error err;
    char members[32];
    if (!m->links[link].there)
        return;
    snprintf(members, sizeof members, "{\"link\": \"l%u\"}", link);
    json_decref(rig_request(r, "tor.mac.flush", members, &err));
    forget_at(m, link);
}

static void be_quiet(struct model *m, struct rig *r) {
    rig_wait(r, QUIET_MS);
    for (unsigned v = 0; v < VLANS; v++)
        for (unsigned h = 0; h < HOSTS; h++) {
            m->places[v][h].moves = 0;
            m->places[v][h].held = false;
        }
}

// Of what was refused there is an event.
static void look_for_refusals(const struct model *m, struct rig *r) {
    const json_t *e = rig_event(r, "alarm");
    const json_t *what = json_object_get(e, "alarm");
    if (what && strcmp(json_string_value(what), "refused") == 0)
        complain(m, json_string_value(json_object_get(e, "why")), 0);
}

static void journey(uint64_t seed, unsigned steps) {
    struct model m = {.random = (uint32_t)seed * 2654435761u, .seed = seed};
    for (unsigned p = 0; p < PORTS; p++)
        m.up[p] = true;
    for (unsigned v = 0; v < VLANS; v++)
        for (unsigned h = 0; h < HOSTS; h++)
            m.places[v][h].link = -1;
    change(&m);
    char *text = print_section(&m);
    struct rig *r = rig_new(PORTS, text);
    free(text);
    for (m.step = 1; m.step <= steps; m.step++) {
        const unsigned what = any(&m, 200);
        if (what == 0)
            be_quiet(&m, r);
        else if (what < 6)
            turn_port(&m, r);
        else if (what < 8)
            reload(&m, r);
        else if (what < 9)
            flush(&m, r);
        else
            send_frame(&m, r);
        look_for_refusals(&m, r);
    }
    rig_free(r);
}

static uint64_t first_seed = 1;
static unsigned journeys = JOURNEYS, steps_each = STEPS;

static void test_frames_leave_where_the_model_says(void **state) {
    (void)state;
    for (unsigned i = 0; i < journeys; i++)
        journey(first_seed + i, steps_each);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_frames_leave_where_the_model_says)};
    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 10);
        journeys = 1;
    }
    if (argc > 2)
        steps_each = (unsigned)strtoul(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
