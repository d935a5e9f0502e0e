// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "harness/hosts/dlcp/any_packet.h"
#include "harness/hosts/dlcp/scripts.h"

struct script_tensor {
    uint32_t elements, placed;
    bool has[1000];
};

static void script_place(void *aux, uint32_t offset, const uint8_t *wire, uint32_t count,
                         uint16_t contributions) {
    struct script_tensor *t = aux;
    if (!wire || !contributions || offset + count > t->elements)
        abort();
    for (uint32_t i = offset; i < offset + count; i++) {
        if (t->has[i])
            abort();
        t->has[i] = true;
    }
    t->placed += count;
}

void script_receiver(const uint8_t *data, size_t size, struct script_reach *reach) {
    static struct dlcp_packet p, late;
    struct script in = {data, size, 0};
    struct dlcp_peer peer;
    uint64_t now = 0;
    dlcp_peer_init(&peer, 50000, (uint16_t)(1 + script_byte(&in) % 4), 1000000, 100000, 50000000);
    struct script_tensor t = {.elements = 1 + script_number(&in) % 1000};
    struct dlcp_receiver_config c = {.name = {.iteration = 5},
                                     .peer = &peer,
                                     .nonce = 100,
                                     .elements = t.elements,
                                     .segment = 1 + script_number(&in) % DLCP_ELEMENTS,
                                     .bound = script_byte(&in) * 3000u,
                                     .place = script_place,
                                     .place_aux = &t,
                                     .period = 200000,
                                     .hard_limit = 1000000000};
    struct dlcp_receiver *r;
    if (dlcp_receiver_new(&r, &c, now, NULL))
        abort();
    while (in.at < in.len) {
        for (unsigned n = script_byte(&in) % 8; n > 0 && dlcp_receiver_next(r, now, &p); n--)
            continue;
        any_packet(&p, &in, c.name, c.elements, c.segment, 100);
        reach->heard[dlcp_receiver_hear(r, &p, now)]++;
        dlcp_answer_late(&p, &late, &peer, now);
        if (dlcp_receiver_elements(r) != t.placed ||
            (dlcp_receiver_state(r) == DLCP_RECEIVER_OVER &&
             t.placed < dlcp_needed(c.elements, c.bound)))
            abort();
        const unsigned wait = script_byte(&in);
        now += wait == 255 ? c.hard_limit : wait * UINT64_C(10000);
    }
    reach->met += dlcp_receiver_state(r) == DLCP_RECEIVER_OVER;
    reach->failed += dlcp_receiver_state(r) == DLCP_RECEIVER_FAILED;
    dlcp_receiver_free(r);
}
