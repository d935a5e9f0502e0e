// SPDX-License-Identifier: Apache-2.0
//
// Values of types with @p4runtime_translation (P4Runtime specification, sections 7.5.3 and 18.1). A
// type of ports, whose URI ends in "/PortId_t", has the numbers that the configuration gives ports;
// others have the program's own values, in the width that the type says.
#include <string.h>

#include "p4rt/p4rt_impl.h"

#define TRANSLATE_CPU         UINT64_C(0xfffffffd)
#define TRANSLATE_RECIRCULATE UINT64_C(0xfffffffa) // the specification's: the first pipe's
#define TRANSLATE_PIPES       UINT64_C(0xffffff00) // recirculation port of pipe n: this and n
#define TRANSLATE_UNNAMED     UINT64_C(0xffff0000) // port n without a number of its own: this and n
#define TRANSLATE_UNNAMED_END UINT64_C(0xffffff00)

bool p4rt_translation(const struct p4rt_info *i, const P4__Config__V1__P4NamedType *type,
                      struct p4rt_translation *out) {
    static const char port[] = "/PortId_t";
    const P4__Config__V1__P4TypeInfo *types = i->message->type_info;
    for (size_t k = 0; type && types && k < types->n_new_types; k++) {
        const P4__Config__V1__P4TypeInfo__NewType *t = types->new_types[k];
        if (strcmp(t->key, type->name) != 0 || !t->value || !t->value->translated_type)
            continue;
        const char *uri = t->value->translated_type->uri;
        const size_t n = strlen(uri), end = sizeof port - 1;
        *out = (struct p4rt_translation){.bits = (uint32_t)t->value->translated_type->sdn_bitwidth,
                                         .is_port = n >= end && strcmp(uri + n - end, port) == 0};
        return true;
    }
    return false;
}

// ---- ports ----

static uint64_t translate_recirculation(const struct p4rt *p, uint64_t pipe) {
    return pipe << 7 | (sk_switch_is_tofino_2(brt_switch(p->b)) ? 6 : 68);
}

static bool translate_named(const struct p4rt *p, uint64_t id, uint64_t *port) {
    for (size_t i = 0; i < p->n_ports; i++)
        if (p->ports[i].id == id) {
            *port = p->ports[i].port;
            return true;
        }
    return false;
}

bool p4rt_port_from(const struct p4rt *p, uint64_t id, uint64_t *port) {
    *port = id;
    if (id == TRANSLATE_CPU)
        *port = sk_switch_cpu_port_of(brt_switch(p->b));
    else if (id == TRANSLATE_RECIRCULATE)
        *port = translate_recirculation(p, 0);
    else if (id >= TRANSLATE_PIPES && id < TRANSLATE_PIPES + SK_PIPES)
        *port = translate_recirculation(p, id - TRANSLATE_PIPES);
    else if (p->n_ports && id >= TRANSLATE_UNNAMED && id < TRANSLATE_UNNAMED_END)
        *port = id - TRANSLATE_UNNAMED;
    else if (p->n_ports)
        return translate_named(p, id, port);
    return true;
}

uint64_t p4rt_port_number(const struct p4rt *p, uint64_t port) {
    for (size_t i = 0; i < p->n_ports; i++)
        if (p->ports[i].port == port)
            return p->ports[i].id;
    if (p->n_ports == 0 || port >= TRANSLATE_UNNAMED_END - TRANSLATE_UNNAMED)
        return port;
    if (port == sk_switch_cpu_port_of(brt_switch(p->b)))
        return TRANSLATE_CPU;
    for (uint64_t pipe = 0; pipe < SK_PIPES; pipe++)
        if (port == translate_recirculation(p, pipe))
            return TRANSLATE_PIPES + pipe;
    return TRANSLATE_UNNAMED + port;
}

// ---- values ----

enum rpc_status p4rt_value(const struct p4rt *p, const P4__Config__V1__P4NamedType *type,
                           const ProtobufCBinaryData *bytes, uint32_t width, bool is_signed,
                           const char *what, uint64_t *words, struct sk_error *err) {
    struct p4rt_translation t;
    uint64_t id = 0, port;
    if (!p4rt_translation(p->info, type, &t) || !t.is_port || t.bits > 64)
        return p4rt_words(bytes, width, is_signed, what, words, err);
    const enum rpc_status status = p4rt_words(bytes, t.bits, false, what, &id, err);
    if (status)
        return status;
    if (!p4rt_port_from(p, id, &port) || (width < 64 && port >> width))
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "%s: no port has the number %llu", what,
                         (unsigned long long)id);
    *words = port;
    return RPC_OK;
}

bool p4rt_value_bytes(const struct p4rt *p, const P4__Config__V1__P4NamedType *type,
                      struct brt_memory *m, const uint64_t *words, uint32_t width, bool is_signed,
                      ProtobufCBinaryData *out) {
    struct p4rt_translation t;
    if (width > 64 || !p4rt_translation(p->info, type, &t) || !t.is_port)
        return p4rt_bytes(m, words, width, is_signed, out);
    const uint64_t id = p4rt_port_number(p, *words);
    return p4rt_bytes(m, &id, 64, false, out);
}
