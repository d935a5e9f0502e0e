// SPDX-License-Identifier: Apache-2.0
//
// policy: access lists, the queue that a packet waits in, marks in queues that are long, and how
// many packets the control plane gets.
#include <inttypes.h>
#include <stdlib.h>

#include "control/tor/policy_impl.h"
#include "util.h"

#define DEEPEST 0x7ffffu // of enq_qdepth

static void *policy_create(struct tor *t) {
    (void)t;
    return xzalloc(sizeof(struct policy));
}

static void policy_destroy(struct tor *t, void *state) {
    (void)t;
    policy_lists_free(state);
    free(state);
}

static void want_queues(struct tor *t) {
    for (size_t i = 0; i < t->section->n_queues; i++) {
        const struct tor_queue *q = &t->section->queues[i];
        char as[64];
        if (q->claim)
            snprintf(as, sizeof as, "claims qid=%u colour=%u what=%u", q->queue, q->colour,
                     q->claim);
        else
            snprintf(as, sizeof as, "queue qid=%u colour=%u", q->queue, q->colour);
        for (unsigned ecn = 0; ecn < 4; ecn++)
            if (q->ecns >> ecn & 1)
                tor_want(t->wanted, TOR_QUEUES, "entry queues_of dscp=%u ecn=%u -> %s", q->dscp,
                         ecn, as);
    }
}

static void want_sprays(struct tor *t) {
    for (unsigned dscp = 0; dscp < 64; dscp++)
        if (t->section->sprayed >> dscp & 1)
            tor_want(t->wanted, TOR_QUEUES, "entry sprayed dscp=%u -> spray", dscp);
}

// ECT(0) and ECT(1): flows whose ends understand marks (RFC 3168).
static void policy_want_marks(struct tor *t) {
    if (t->section->ecn_cells == 0)
        return;
    for (unsigned ecn = 1; ecn <= 2; ecn++)
        for (unsigned version = 4; version <= 6; version += 2)
            tor_want(t->wanted, TOR_QUEUES,
                     "entry Egress.queues enq_qdepth=%" PRIu32
                     "..%u ipv%u.isValid()=1 ipv%u.ecn=%u "
                     "priority=%u -> mark_ipv%u",
                     t->section->ecn_cells, DEEPEST, version, version, ecn, version, version);
}

// A quarter of a second's packets may come at once. With the bit of ACL a reason has a rate of its
// own.
static void want_rates(struct tor *t) {
    const uint32_t rate = t->section->control_rate, burst = MAX(rate / 4, 16);
    for (unsigned reason = 0; reason <= TOR_REASON_TOO_LONG; reason++)
        for (unsigned acl = reason ? 0 : TOR_REASON_ACL; acl <= TOR_REASON_ACL;
             acl += TOR_REASON_ACL)
            tor_want(t->wanted, TOR_QUEUES,
                     "meter to_cpu %u -> cir_pps=%" PRIu32 " pir_pps=%" PRIu32 " cbs_pkts=%" PRIu32
                     " pbs_pkts=%" PRIu32,
                     reason + acl, rate, rate, burst, burst);
}

static void warn_of_unreachable(struct tor *t, const struct policy *p) {
    unsigned lookups = POLICY_LOOKUPS;
    for (size_t a = 0; a < t->section->n_acls; a++) {
        const struct tor_acl *acl = &t->section->acls[a];
        if (!policy_list_changed(p, acl->name))
            continue;
        struct policy_classifier *c = policy_classifier_new(acl);
        for (uint32_t i = 0; i < acl->n_rules; i++) {
            uint32_t by;
            char others[TOR_TEXT] = "the rules before it match all of them";
            if (!policy_unreachable(c, i, &by, &lookups))
                continue;
            if (by != TOR_NONE)
                snprintf(others, sizeof others, "rules[%" PRIu32 "] takes all of them", by);
            char *text =
                xasprintf("tor.acls[%zu].rules[%" PRIu32 "] of list '%s' matches no packet: %s", a,
                          i, acl->name, others);
            tor_event(t, "warning", "{s:s, s:s, s:I}", "text", text, "list", acl->name, "rule",
                      (json_int_t)i);
            free(text);
        }
        policy_classifier_free(c);
    }
}

static void policy_configure(struct tor *t, void *state, const struct tor_section *old) {
    (void)old;
    policy_lists_configure(t, state);
    tor_begin(t->wanted, TOR_QUEUES);
    want_queues(t);
    want_sprays(t);
    policy_want_marks(t);
    want_rates(t);
    tor_end(t->wanted, TOR_QUEUES);
    warn_of_unreachable(t, state);
}

static void policy_run(struct tor *t, void *state, uint64_t now_ns) {
    (void)now_ns;
    policy_lists_run(t, state);
}

static json_t *policy_answer_request(struct tor *t, void *state, const char *op, json_t *request,
                                     struct sk_error *err) {
    return policy_request(t, state, op, request, err);
}

const struct tor_module tor_policy_module = {.name = "policy",
                                             .create = policy_create,
                                             .destroy = policy_destroy,
                                             .configure = policy_configure,
                                             .run = policy_run,
                                             .request = policy_answer_request};
