// SPDX-License-Identifier: Apache-2.0
//
// What clients are told without asking: digests, idle entries, packets from the CPU port; and the
// packets that they send. A digest's list is sent as soon as its digests are there.
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "control/tables/idle.h"
#include "p4rt/p4rt_impl.h"

#define TELL_MOST_FRAME 16384u

// ---- digests ----

static size_t tell_digest_index(const struct p4rt *p, uint32_t id) {
    size_t i = 0;
    while (i < p->info->message->n_digests && p->info->message->digests[i]->preamble->id != id)
        i++;
    return i;
}

enum rpc_status p4rt_digest_set(struct p4rt *p, P4__V1__Update__Type type,
                                const P4__V1__DigestEntry *e, struct sk_error *err) {
    const size_t i = tell_digest_index(p, e->digest_id);
    if (i == p->info->message->n_digests)
        return p4rt_fail(err, RPC_NOT_FOUND, "there is no digest %u", e->digest_id);
    struct p4rt_digest *d = &p->info->digests[i];
    if (d->on == (type == P4__V1__UPDATE__TYPE__INSERT))
        return p4rt_fail(err, d->on ? RPC_ALREADY_EXISTS : RPC_NOT_FOUND, "digest %u %s",
                         e->digest_id, d->on ? "is configured already" : "is not configured");
    if (type == P4__V1__UPDATE__TYPE__DELETE) {
        *d = (struct p4rt_digest){.on = false};
        return RPC_OK;
    }
    if (!e->config || e->config->max_timeout_ns < 0 || e->config->max_list_size < 0 ||
        e->config->ack_timeout_ns < 0)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "digest %u: %s", e->digest_id,
                         e->config ? "its configuration has no negative numbers"
                                   : "its configuration is missing");
    *d = (struct p4rt_digest){.on = true,
                              .max_timeout_ns = e->config->max_timeout_ns,
                              .ack_timeout_ns = e->config->ack_timeout_ns,
                              .max_list_size = e->config->max_list_size};
    return RPC_OK;
}

enum rpc_status p4rt_digests_read(struct p4rt *p, struct p4rt_answer *answer,
                                  const P4__V1__DigestEntry *e, struct sk_error *err) {
    const size_t n = p->info->message->n_digests;
    if (e->digest_id && tell_digest_index(p, e->digest_id) == n)
        return p4rt_fail(err, RPC_NOT_FOUND, "there is no digest %u", e->digest_id);
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = p->info->message->digests[i]->preamble->id;
        const struct p4rt_digest *d = &p->info->digests[i];
        P4__V1__Entity entity = P4__V1__ENTITY__INIT;
        P4__V1__DigestEntry entry = P4__V1__DIGEST_ENTRY__INIT;
        P4__V1__DigestEntry__Config config = P4__V1__DIGEST_ENTRY__CONFIG__INIT;
        if (!d->on || (e->digest_id && e->digest_id != id))
            continue;
        config.max_timeout_ns = d->max_timeout_ns;
        config.ack_timeout_ns = d->ack_timeout_ns;
        config.max_list_size = d->max_list_size;
        entry.digest_id = id;
        entry.config = &config;
        entity.entity_case = P4__V1__ENTITY__ENTITY_DIGEST_ENTRY;
        entity.digest_entry = &entry;
        if (!p4rt_answer_add(answer, &entity))
            return p4rt_no_memory(err);
    }
    return RPC_OK;
}

bool p4rt_wants_digests(const struct p4rt *p) {
    for (size_t i = 0; p->info && i < p->info->message->n_digests; i++)
        if (p->info->digests[i].on && p4rt_has_primary(p))
            return true;
    return false;
}

// ---- digests that wait for their acknowledgement are not told again ----

static bool tell_is_unacknowledged(const struct p4rt *p, const struct sk_digest *d, uint64_t now) {
    for (size_t i = 0; i < P4RT_UNACKNOWLEDGED; i++) {
        const struct p4rt_told *t = &p->told[i];
        if (t->until > now && t->digest.desc == d->desc &&
            memcmp(t->digest.data, d->data, sizeof d->data) == 0)
            return true;
    }
    return false;
}

// The oldest of too many is told again although nobody acknowledged it.
static void tell_remember(struct p4rt *p, const struct sk_digest *d, uint64_t list,
                          uint64_t until) {
    p->told[p->next_told++ % P4RT_UNACKNOWLEDGED] =
        (struct p4rt_told){.digest = *d, .list = list, .until = until};
}

enum rpc_status p4rt_digest_ack(struct p4rt *p, const P4__V1__DigestListAck *ack,
                                struct sk_error *err) {
    if (!p->info || tell_digest_index(p, ack->digest_id) == p->info->message->n_digests)
        return p4rt_fail(err, RPC_NOT_FOUND, "there is no digest %u", ack->digest_id);
    for (size_t i = 0; i < P4RT_UNACKNOWLEDGED; i++)
        if (p->told[i].list == ack->list_id)
            p->told[i].until = 0;
    return RPC_OK;
}

// A struct's members, or bits alone if the message is no struct.
static P4__V1__P4Data *tell_digest_data(struct brt_memory *m, const struct sk_digest *d,
                                        bool is_struct) {
    const uint32_t n = d->desc->n_fields;
    P4__V1__P4Data *data = brt_take(m, (n + 1) * sizeof *data);
    P4__V1__P4StructLike *members = brt_take(m, sizeof *members);
    if (!data || !members)
        return NULL;
    p4__v1__p4_data__init(data);
    p4__v1__p4_struct_like__init(members);
    data->data_case = P4__V1__P4_DATA__DATA_STRUCT;
    data->struct_ = members;
    members->members = brt_take(m, (n + 1) * sizeof *members->members);
    for (uint32_t i = 0; members->members && i < n; i++) {
        uint64_t words[SK_DIGEST_BYTES] = {0};
        P4__V1__P4Data *one = &data[i + 1];
        p4__v1__p4_data__init(one);
        one->data_case = P4__V1__P4_DATA__DATA_BITSTRING;
        members->members[members->n_members++] = one;
        sk_digest_field(d, i, words);
        if (!p4rt_bytes(m, words, d->desc->fields[i].width, d->desc->fields[i].is_signed,
                        &one->bitstring))
            return NULL;
    }
    return !members->members ? NULL : is_struct ? data : members->members[0];
}

static void tell_digest_list(struct p4rt *p, const P4__Config__V1__Digest *info,
                             const struct p4rt_digest *config, const struct sk_digest *digests,
                             size_t n) {
    P4__V1__StreamMessageResponse response = P4__V1__STREAM_MESSAGE_RESPONSE__INIT;
    P4__V1__DigestList list = P4__V1__DIGEST_LIST__INIT;
    struct brt_memory *m = brt_scratch_memory(p->b);
    const uint64_t now = sk_clock_wall();
    const bool is_struct =
        info->type_spec->type_spec_case != P4__CONFIG__V1__P4_DATA_TYPE_SPEC__TYPE_SPEC_BITSTRING;
    list.digest_id = info->preamble->id;
    list.list_id = ++p->lists;
    list.timestamp = (int64_t)now;
    list.data = brt_take(m, n * sizeof *list.data);
    for (size_t i = 0; list.data && i < n; i++) {
        if (config->ack_timeout_ns && tell_is_unacknowledged(p, &digests[i], now))
            continue;
        list.data[list.n_data] = tell_digest_data(m, &digests[i], is_struct);
        list.n_data += list.data[list.n_data] != NULL;
        if (config->ack_timeout_ns)
            tell_remember(p, &digests[i], list.list_id, now + (uint64_t)config->ack_timeout_ns);
    }
    response.update_case = P4__V1__STREAM_MESSAGE_RESPONSE__UPDATE_DIGEST;
    response.digest = &list;
    if (list.n_data)
        p4rt_tell(p, &response);
    brt_memory_reuse(m);
}

void p4rt_digests(struct p4rt *p, const struct sk_digest *digests, size_t n) {
    for (size_t i = 0, more; p->info && i < n; i += more) {
        const struct sk_digest *d = &digests[i];
        const P4__Config__V1__Digest *info = p4rt_info_digest(p->info, d->desc->name);
        const size_t index = info ? tell_digest_index(p, info->preamble->id) : 0;
        const struct p4rt_digest *config = info ? &p->info->digests[index] : NULL;
        const size_t most = config && config->max_list_size ? (size_t)config->max_list_size : n;
        for (more = 1; more < most && i + more < n && d[more].desc == d->desc;)
            more++;
        if (config && config->on)
            tell_digest_list(p, info, config, d, more);
    }
}

// ---- idle entries ----

bool p4rt_wants_idle(const struct p4rt *p) {
    return p->info && p4rt_has_primary(p) && sk_control_idle_used(brt_switch(p->b));
}

void p4rt_idle(struct p4rt *p, const struct sk_idle_event *event) {
    const struct p4rt_table *t = p->info ? p4rt_info_of(p->info, event->table) : NULL;
    P4__V1__StreamMessageResponse response = P4__V1__STREAM_MESSAGE_RESPONSE__INIT;
    P4__V1__IdleTimeoutNotification told = P4__V1__IDLE_TIMEOUT_NOTIFICATION__INIT;
    P4__V1__TableEntry entry = P4__V1__TABLE_ENTRY__INIT, *list = &entry;
    struct p4rt_note note;
    if (!t || !event->idle || !p4rt_has_primary(p))
        return;
    p4rt_note_get(p, event->table, event->entry->sequence, &note);
    entry.table_id = t->info->preamble->id;
    entry.controller_metadata = note.number;
    entry.metadata = note.bytes;
    entry.idle_timeout_ns = (int64_t)event->entry->idle.ttl_ms * 1000000;
    told.table_entry = &list;
    told.n_table_entry = 1;
    told.timestamp = (int64_t)sk_clock_wall();
    response.update_case = P4__V1__STREAM_MESSAGE_RESPONSE__UPDATE_IDLE_TIMEOUT_NOTIFICATION;
    response.idle_timeout_notification = &told;
    if (p4rt_entry_key_message(p, t, event->entry, &entry))
        p4rt_tell(p, &response);
    else
        p->lost++;
    brt_memory_reuse(brt_scratch_memory(p->b));
}

// ---- packets ----

// The header before a packet of this direction; null: the program has none.
static const P4__Config__V1__ControllerPacketMetadata *tell_header(const struct p4rt *p,
                                                                   const char *name) {
    const P4__Config__V1__P4Info *m = p->info->message;
    for (size_t i = 0; i < m->n_controller_packet_metadata; i++)
        if (strcmp(m->controller_packet_metadata[i]->preamble->name, name) == 0)
            return m->controller_packet_metadata[i];
    return NULL;
}

// Bits of a field in the packet. Of one whose values are translated the P4Info has the width of
// clients' values, and this one beside it (compiler/describe/p4info.c).
static uint32_t tell_width(const P4__Config__V1__ControllerPacketMetadata__Metadata *f) {
    unsigned bits;
    for (size_t i = 0; f->type_name && i < f->n_annotations; i++)
        if (sscanf(f->annotations[i], "@silken_width(%u)", &bits) == 1)
            return bits;
    return (uint32_t)f->bitwidth;
}

static size_t tell_header_bits(const P4__Config__V1__ControllerPacketMetadata *h) {
    size_t bits = 0;
    for (size_t i = 0; h && i < h->n_metadata; i++)
        bits += tell_width(h->metadata[i]);
    return bits;
}

// Bits of a header from the front, most significant first.
static void tell_put_bits(uint8_t *bytes, size_t at, const uint64_t *words, uint32_t width) {
    for (uint32_t i = 0; i < width; i++, at++)
        if (words[(width - 1 - i) / 64] >> ((width - 1 - i) % 64) & 1)
            bytes[at / 8] |= (uint8_t)(0x80 >> at % 8);
}

static void tell_get_bits(const uint8_t *bytes, size_t at, uint64_t *words, uint32_t width) {
    for (uint32_t i = 0; i < width; i++, at++)
        if (bytes[at / 8] & 0x80 >> at % 8)
            words[(width - 1 - i) / 64] |= UINT64_C(1) << (width - 1 - i) % 64;
}

static const P4__V1__PacketMetadata *tell_metadata(const P4__V1__PacketOut *packet, uint32_t id) {
    for (size_t i = 0; i < packet->n_metadata; i++)
        if (packet->metadata[i]->metadata_id == id)
            return packet->metadata[i];
    return NULL;
}

// Number 0, SDN_PORT_UNKNOWN: the program is to find a port itself, and sees 0.
static bool tell_is_no_port(const struct p4rt *p,
                            const P4__Config__V1__ControllerPacketMetadata__Metadata *f,
                            const P4__V1__PacketMetadata *given) {
    struct p4rt_translation t;
    if (!p4rt_translation(p->info, f->type_name, &t) || !t.is_port || given->value.len == 0)
        return false;
    for (size_t i = 0; i < given->value.len; i++)
        if (given->value.data[i])
            return false;
    return true;
}

static enum rpc_status tell_fill_header(struct p4rt *p, const P4__V1__PacketOut *packet,
                                        const P4__Config__V1__ControllerPacketMetadata *h,
                                        uint8_t *frame, struct sk_error *err) {
    const size_t n = h ? h->n_metadata : 0;
    size_t at = 0;
    if (packet->n_metadata != n)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "a packet has %zu metadata, and %zu are given",
                         n, packet->n_metadata);
    for (size_t i = 0; i < n; i++) {
        const P4__Config__V1__ControllerPacketMetadata__Metadata *f = h->metadata[i];
        const P4__V1__PacketMetadata *given = tell_metadata(packet, f->id);
        const uint32_t width = tell_width(f);
        uint64_t *words = brt_take(brt_scratch_memory(p->b), sk_words(width) * sizeof *words);
        if (!words)
            return p4rt_no_memory(err);
        if (!given)
            return p4rt_fail(err, RPC_INVALID_ARGUMENT, "the metadata '%s' are missing", f->name);
        const enum rpc_status status =
            tell_is_no_port(p, f, given)
                ? RPC_OK
                : p4rt_value(p, f->type_name, &given->value, width, false, f->name, words, err);
        if (status)
            return status == RPC_OUT_OF_RANGE ? RPC_INVALID_ARGUMENT : status;
        tell_put_bits(frame, at, words, width);
        at += width;
    }
    return RPC_OK;
}

enum rpc_status p4rt_packet_out(struct p4rt *p, const P4__V1__PacketOut *packet,
                                struct sk_error *err) {
    struct brt_memory *m = brt_scratch_memory(p->b);
    if (!p->info)
        return p4rt_fail(err, RPC_FAILED_PRECONDITION, "the switch runs no program yet");
    const P4__Config__V1__ControllerPacketMetadata *h = tell_header(p, "packet_out");
    const size_t header = tell_header_bits(h) / 8;
    if (packet->payload.len > TELL_MOST_FRAME)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "a packet has at most %u bytes",
                         TELL_MOST_FRAME);
    uint8_t *frame = brt_take(m, header + packet->payload.len + 1);
    enum rpc_status status =
        frame ? tell_fill_header(p, packet, h, frame, err) : p4rt_no_memory(err);
    if (status == RPC_OK && packet->payload.len)
        memcpy(frame + header, packet->payload.data, packet->payload.len);
    if (status == RPC_OK &&
        !(p->host.packet_out &&
          p->host.packet_out(p->host.aux, frame, (uint32_t)(header + packet->payload.len))))
        status = p4rt_fail(err, RPC_UNAVAILABLE,
                           "the packet is not taken: the CPU port is not the device \"inside\", or "
                           "too many packets wait");
    brt_memory_reuse(m);
    return status;
}

static bool tell_read_header(struct p4rt *p, const P4__Config__V1__ControllerPacketMetadata *h,
                             const uint8_t *frame, P4__V1__PacketIn *out) {
    const size_t n = h ? h->n_metadata : 0;
    struct brt_memory *m = brt_scratch_memory(p->b);
    P4__V1__PacketMetadata *list = brt_take(m, (n + 1) * sizeof *list);
    size_t at = 0;
    out->metadata = brt_take(m, (n + 1) * sizeof *out->metadata);
    for (size_t i = 0; list && out->metadata && i < n; i++) {
        const uint32_t width = tell_width(h->metadata[i]);
        uint64_t *words = brt_take(m, sk_words(width) * sizeof *words);
        if (!words)
            return false;
        tell_get_bits(frame, at, words, width);
        at += width;
        p4__v1__packet_metadata__init(&list[i]);
        list[i].metadata_id = h->metadata[i]->id;
        out->metadata[out->n_metadata++] = &list[i];
        if (!p4rt_value_bytes(p, h->metadata[i]->type_name, m, words, width, false, &list[i].value))
            return false;
    }
    return list && out->metadata;
}

void p4rt_packet(struct p4rt *p, const uint8_t *frame, uint32_t length) {
    P4__V1__StreamMessageResponse response = P4__V1__STREAM_MESSAGE_RESPONSE__INIT;
    P4__V1__PacketIn packet = P4__V1__PACKET_IN__INIT;
    if (!p->info || !p4rt_has_primary(p))
        return;
    const P4__Config__V1__ControllerPacketMetadata *h = tell_header(p, "packet_in");
    const size_t header = tell_header_bits(h) / 8;
    if (length < header || !tell_read_header(p, h, frame, &packet))
        p->lost++;
    else {
        packet.payload.data = (uint8_t *)frame + header;
        packet.payload.len = length - header;
        response.update_case = P4__V1__STREAM_MESSAGE_RESPONSE__UPDATE_PACKET;
        response.packet = &packet;
        p4rt_tell(p, &response);
    }
    brt_memory_reuse(brt_scratch_memory(p->b));
}
