// SPDX-License-Identifier: Apache-2.0
//
// mirror: sessions, and the copies they make (tna-facts 5.5).
//
// A deparser names a session; the session says where the copy goes. The copy is the mirror header
// followed by the packet, as received (ingress) or as deparsed (egress; a Tofino 2 can choose), cut
// to the session's length. It enters the traffic manager like any packet and runs the egress
// pipeline, in which it may be mirrored again: as often as a packet may recirculate.
#include <errno.h>
#include <string.h>

#include "pipeline/switch/switch_impl.h"

static bool mirror_fits(const struct sk_switch *sw, const struct sk_mirror_session *s) {
    bool tofino2 = switch_is_tofino_2(sw);
    unsigned queues = tofino2 ? SK_PORT_QUEUES : 32;
    bool chosen =
        s->hash_cfg || s->hash_cfg_p || s->icos_cfg || s->dod_cfg || s->mc_cfg || s->epipe_cfg;
    return (tofino2 || !chosen) && !(s->direction & ~(SK_MIRROR_IN | SK_MIRROR_OUT)) &&
           s->ucast_port < SK_PORTS && s->qid < queues && s->cos < 8 &&
           s->icos_for_copy_to_cpu < 8 && s->color < 4 && s->level1_mcast_hash < 8192 &&
           s->level2_mcast_hash < 8192 && s->level2_exclusion_id < SK_PRE_PRUNE_SETS;
}

int sk_mirror_set(struct sk_switch *sw, uint16_t session, const struct sk_mirror_session *as) {
    if (session < 1 || session > SK_MIRROR_LAST || !mirror_fits(sw, as))
        return -EINVAL;
    sw->mirrors[session] = *as;
    return 0;
}

const struct sk_mirror_session *sk_mirror_get(const struct sk_switch *sw, uint16_t session) {
    return session >= 1 && session <= SK_MIRROR_LAST ? &sw->mirrors[session] : NULL;
}

// What the traffic manager is asked for is what an ingress deparser would ask for.
static struct sk_ingress_out mirror_wishes(const struct sk_mirror_session *s) {
    return (struct sk_ingress_out){.ucast_valid = s->ucast_valid,
                                   .ucast_port = s->ucast_port,
                                   .mcast_a_valid = s->mcast_a_valid,
                                   .mcast_grp_a = s->mcast_grp_a,
                                   .mcast_b_valid = s->mcast_b_valid,
                                   .mcast_grp_b = s->mcast_grp_b,
                                   .copy_to_cpu = s->copy_to_cpu,
                                   .icos_for_copy_to_cpu = s->icos_for_copy_to_cpu,
                                   .deflect_on_drop = s->deflect_on_drop,
                                   .qid = s->qid,
                                   .ingress_cos = s->cos,
                                   .color = s->color,
                                   .level1_mcast_hash = s->level1_mcast_hash,
                                   .level2_mcast_hash = s->level2_mcast_hash,
                                   .level1_exclusion_id = s->level1_exclusion_id,
                                   .level2_exclusion_id = s->level2_exclusion_id,
                                   .rid = s->rid};
}

// A Tofino 2's session may leave things to the deparser.
static void mirror_choose(struct sk_ingress_out *out, const struct sk_mirror_session *s,
                          const struct sk_mirror_choice *c) {
    if (s->hash_cfg && s->hash_cfg_p)
        out->level1_mcast_hash = c->hash;
    else if (s->hash_cfg)
        out->level2_mcast_hash = c->hash;
    if (s->icos_cfg)
        out->ingress_cos = c->cos;
    if (s->dod_cfg)
        out->deflect_on_drop = c->deflect;
    if (s->mc_cfg && !c->multicast)
        out->mcast_a_valid = out->mcast_b_valid = false;
    if (s->epipe_cfg) {
        out->ucast_valid = c->port_valid;
        out->ucast_port = c->port;
        out->qid = c->qid;
    }
}

static void mirror_fill(struct sk_packet *c, const struct sk_packet *p,
                        const struct sk_mirror_out *m, uint32_t length) {
    uint32_t in_front = m->header_bytes < length ? m->header_bytes : length;
    uint8_t *at = sk_packet_data(c);
    memcpy(at, m->header, in_front);
    memcpy(at + in_front, sk_packet_data(p), length - in_front);
    c->len = length;
    c->arrived = (uint16_t)length;
    c->ingress_port = p->ingress_port;
    c->mac_tstamp = p->mac_tstamp;
    c->serial = p->serial;
    c->passes = p->passes + 1;
}

void tm_mirror(struct sk_core *core, const struct sk_packet *p, const struct sk_mirror_out *m,
               unsigned direction, uint64_t now_ns) {
    const struct sk_mirror_session *s = sk_mirror_get(core->sw, m->session);
    uint16_t port = direction == SK_MIRROR_IN ? p->ingress_port : p->egress_port;
    core->stats.copies++;
    core->stats.mirrored++;
    if (!s || !s->enabled || !(s->direction & direction)) {
        core_refuse(core, p, port, SK_DROP_MIRROR_OFF);
        return;
    }
    if (p->passes >= core->max_recirculation) {
        core_refuse(core, p, port, SK_DROP_RECIRC_LIMIT);
        return;
    }
    uint32_t length = m->header_bytes + p->len;
    if (s->max_pkt_len && length > s->max_pkt_len)
        length = s->max_pkt_len;
    struct sk_packet *copy = sk_pool_get(core->pool);
    if (!copy) {
        core_refuse(core, p, port, SK_DROP_NO_BUFFER);
        return;
    }
    if (copy->head + length + SK_POOL_SLACK > copy->cap) {
        core_drop(core, copy, port, SK_DROP_TOO_LONG);
        return;
    }
    mirror_fill(copy, p, m, length);
    struct sk_ingress_out out = mirror_wishes(s);
    mirror_choose(&out, s, &m->choice);
    tell_mirrored(core, copy, m, port, direction);
    tell_wishes(core, copy, &out);
    tm_replicate(core, copy, &out, now_ns);
}
