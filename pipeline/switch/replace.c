// SPDX-License-Identifier: Apache-2.0
//
// replace: another program in a switch that goes on: its pipes are exchanged, and all else (ports,
// queues, multicast, mirror sessions, buffers, counts) stays where it is.
#include "pipeline/cores/isolated.h"
#include "pipeline/switch/switch_impl.h"

#include <stdio.h>
#include <string.h>

static void swap_pipe(struct sk_switch *sw, struct sk_switch *with, unsigned i) {
    struct pipe *own = &switch_owner(sw, i)->pipes[i], *other = &switch_owner(with, i)->pipes[i];
    const struct sk_pipeline_desc *desc = own->desc, *new_desc = other->desc;
    struct sk_pipe *state = own->state, *new_state = other->state;
    struct digest_slot *slots = own->digests.slots;
    for (unsigned c = 0; c < sw->n_cores; c++)
        sw->cores[c]->pipes[i].desc = new_desc;
    for (unsigned c = 0; c < with->n_cores; c++)
        with->cores[c]->pipes[i].desc = desc;
    own->state = new_state;
    other->state = state;
    own->digests.slots = other->digests.slots;
    other->digests.slots = slots;
}

// Cores keep where packets go that come into ingress again at once: a pipe's program and state.
static void replace_tell_ports(struct sk_switch *sw) {
    for (unsigned c = 0; c < sw->n_cores; c++) {
        sw->cores[c]->invariant_crc = sw->program->invariant_crc;
        sw->cores[c]->single = sw->opt.single_packets || sw->program->single_packets;
        for (uint16_t port = 0; port < SK_PORTS; port++)
            core_port_changed(sw->cores[c], port);
    }
}

bool sk_switch_replace(struct sk_switch *sw, struct sk_switch *with, uint64_t now_ns, char *error,
                       size_t error_size) {
    const struct sk_program_desc *program = sw->program;
    if (switch_is_tofino_2(sw) != switch_is_tofino_2(with)) {
        snprintf(error, error_size,
                 "it is a program for a chip other than that of the running one");
        return false;
    }
    bool observed = switch_is_isolated(sw);
    for (unsigned c = 0; c < sw->n_cores; c++)
        observed |= sw->cores[c]->observer || sw->cores[c]->trap;
    if (observed) {
        snprintf(error, error_size, "a switch that is observed cannot replace its program");
        return false;
    }
    // what waits between ingress and egress has the old program's headers
    sk_switch_stop(sw, now_ns);
    for (unsigned i = 0; i < SK_PIPES; i++)
        swap_pipe(sw, with, i);
    sw->program = with->program;
    with->program = program;
    replace_tell_ports(sw);
    replace_tell_ports(with);
    sk_tables_changed();
    return true;
}

static void replace_swap_bytes(void *a, void *b, size_t n) {
    uint8_t *x = a, *y = b;
    for (size_t i = 0; i < n; i++) {
        const uint8_t kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

void sk_switch_exchange_settings(struct sk_switch *sw, struct sk_switch *with) {
    struct sk_pre *pre = sw->pre;
    const uint16_t cpu = sk_switch_cpu_port_of(sw);
    sw->pre = with->pre;
    with->pre = pre;
    sk_switch_cpu_port(sw, sk_switch_cpu_port_of(with));
    sk_switch_cpu_port(with, cpu);
    replace_swap_bytes(sw->mirrors, with->mirrors, sizeof sw->mirrors);
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        uint8_t own[SK_RESUBMIT_BYTES], other[SK_RESUBMIT_BYTES];
        if (!sk_port_exists(port))
            continue;
        const bool not_forwarding = sw->settings[port].not_forwarding;
        sw->settings[port].not_forwarding = with->settings[port].not_forwarding;
        with->settings[port].not_forwarding = not_forwarding;
        memcpy(own, sk_switch_port_metadata_of(sw, port), sizeof own);
        memcpy(other, sk_switch_port_metadata_of(with, port), sizeof other);
        sk_switch_port_metadata(sw, port, other, sizeof other);
        sk_switch_port_metadata(with, port, own, sizeof own);
    }
}
