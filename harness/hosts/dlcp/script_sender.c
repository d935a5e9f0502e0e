// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "harness/hosts/dlcp/any_packet.h"
#include "harness/hosts/dlcp/scripts.h"

static void script_sender_check(const struct dlcp_sender_config *c, const struct dlcp_sender *s,
                                const struct dlcp_packet *p) {
    if (p->kind == DLCP_DATA &&
        (p->offset % c->segment || p->offset >= c->elements ||
         p->count != dlcp_segment_count(c->elements, c->segment, p->offset / c->segment)))
        abort();
    if (dlcp_sender_rate(s) < c->link / 100 || dlcp_sender_rate(s) > c->link)
        abort();
}

void script_sender(const uint8_t *data, size_t size, struct script_reach *reach) {
    static struct dlcp_packet p;
    static float values[1000];
    struct script in = {data, size, 0};
    struct dlcp_peer peer;
    uint64_t now = 0, sent = 0;
    dlcp_peer_init(&peer, 50000, (uint16_t)(1 + script_byte(&in) % 4), 1000000, 100000, 50000000);
    struct dlcp_sender_config c = {.name = {.iteration = 5},
                                   .peer = &peer,
                                   .nonce = 100,
                                   .values = values,
                                   .elements = 1 + script_number(&in) % 1000,
                                   .segment = 1 + script_number(&in) % DLCP_ELEMENTS,
                                   .bound = script_byte(&in) * 3000u,
                                   .contributions = 1,
                                   .link = 1000000000,
                                   .period = 200000,
                                   .hard_limit = 1000000000};
    struct dlcp_sender *s;
    if (dlcp_sender_new(&s, &c, now, NULL))
        abort();
    const uint32_t segments = dlcp_segments(c.elements, c.segment);
    while (in.at < in.len) {
        for (unsigned n = script_byte(&in) % 64; n > 0 && dlcp_sender_next(s, now, &p); n--) {
            script_sender_check(&c, s, &p);
            sent += p.kind == DLCP_DATA;
        }
        any_packet(&p, &in, c.name, c.elements, c.segment, c.nonce);
        reach->heard[dlcp_sender_hear(s, &p, now)]++;
        if (sent > segments * (1 + dlcp_sender_stats(s).rounds))
            abort();
        const unsigned wait = script_byte(&in);
        now += wait == 255 ? c.hard_limit : wait * UINT64_C(10000);
    }
    reach->met += dlcp_sender_state(s) == DLCP_SENDER_OVER;
    reach->failed += dlcp_sender_state(s) == DLCP_SENDER_FAILED;
    dlcp_sender_free(s);
}
