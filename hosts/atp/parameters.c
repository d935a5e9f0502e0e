// SPDX-License-Identifier: Apache-2.0
//
// What a server sends: parameters, requests for floats, and restarts.
#include <string.h>

#include "hosts/atp/server_impl.h"

unsigned atp_note_index(struct atp_fragment *f, uint16_t index) {
    unsigned i = 0;

    while (i < f->indices && f->index[i] != index)
        i++;
    if (i == f->indices) {
        i = i < ATP_SLOT_INDICES ? i : ATP_SLOT_INDICES - 1;
        f->indices = (uint8_t)(i + 1);
        f->index[i] = index;
    }
    return 1u << i;
}

void atp_send(struct atp_server *s, struct atp_fragment *f, unsigned which, uint64_t now) {
    uint32_t tail = (s->queue_head + s->queue_length) & (uint32_t)s->ring_mask;

    f->pending |= (uint8_t)(which & ((1u << f->indices) - 1));
    f->answered_at = now;
    if (f->pending && !f->queued) {
        f->queued = true;
        s->queue[tail] = (uint32_t)(f - s->fragments);
        s->queue_length++;
    }
}

static void atp_parameters_write_header(const struct atp_server *s, struct atp_packet *packet,
                                        uint64_t number, uint8_t *buf) {
    packet->is_ack = true;
    packet->edge = true;
    packet->fan_in0 = packet->fan_in1 = 1;
    packet->job = s->config.flow.job;
    packet->sequence = atp_sequence(&s->config.flow, number);
    memcpy(buf, s->header, ATP_HEADER_BYTES);
    atp_frame_set(buf, packet);
}

static void atp_parameters_write_fragment(struct atp_server *s, struct atp_fragment *f,
                                          uint8_t *buf) {
    unsigned i = (unsigned)__builtin_ctz(f->pending);
    struct atp_packet packet = {.index = f->index[i], .ecn = f->ecn};

    f->pending &= (uint8_t)(f->pending - 1);
    if (f->state == ATP_SLOT_COMPLETE) {
        packet.bitmap0 = f->rehash;
        packet.bitmap1 = f->scale;
        memcpy(buf + ATP_HEADER_BYTES, s->sums[f - s->fragments].wire, 4 * ATP_VALUES);
        s->stats.parameters_sent++;
    } else {
        packet.overflow = true;
        memset(buf + ATP_HEADER_BYTES, 0, 4 * ATP_VALUES);
    }
    atp_parameters_write_header(s, &packet, f->number, buf);
}

static void write_restart(struct atp_server *s, uint8_t *buf) {
    uint32_t sequence = atp_sequence(&s->config.flow, s->restart_from);
    struct atp_packet packet = {
        .resend = true,
        .bitmap0 = ATP_NEW | atp_sequence(&s->config.flow, s->restart_to),
        .index = (uint16_t)(s->config.first_index +
                            atp_hash(s->config.flow.job, sequence, s->config.indices, false))};

    memset(buf + ATP_HEADER_BYTES, 0, 4 * ATP_VALUES);
    atp_parameters_write_header(s, &packet, s->restart_from, buf);
}

size_t atp_server_write(struct atp_server *s, uint8_t *buf, size_t cap, uint64_t now) {
    if (cap < ATP_FRAME_BYTES)
        return 0;
    if (s->restart_due) {
        s->restart_due = false;
        s->restart_at = now;
        write_restart(s, buf);
        return ATP_FRAME_BYTES;
    }
    while (s->queue_length > 0) {
        struct atp_fragment *f = &s->fragments[s->queue[s->queue_head]];
        bool writes = f->pending != 0 && f->state != ATP_SLOT_EMPTY;

        if (writes)
            atp_parameters_write_fragment(s, f, buf);
        if (!writes || f->pending == 0) {
            f->queued = false;
            s->queue_head = (s->queue_head + 1) & (uint32_t)s->ring_mask;
            s->queue_length--;
        }
        if (writes)
            return ATP_FRAME_BYTES;
    }
    return 0;
}

uint32_t atp_server_queued(const struct atp_server *s) {
    return s->queue_length + s->restart_due;
}
