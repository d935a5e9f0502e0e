// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "brt/brt_impl.h"
#include "brt/fixed/fixed.h"

static const char shared[] = "$SHARED"; // the tables that every switch has, without a program

struct brt_client *brt_client(struct brt *b, uint32_t id) {
    for (size_t i = 0; i < BRT_CLIENTS; i++)
        if (b->clients[i].used && b->clients[i].id == id)
            return &b->clients[i];
    return NULL;
}

size_t brt_program_named(const struct brt_running *p, const char *name) {
    size_t i = 0;
    while (i < p->n && strcmp(p->programs[i].name, name) != 0)
        i++;
    return i;
}

size_t brt_program_of_pipe(const struct brt *b, unsigned pipe) {
    const struct sk_program_desc *d = sk_switch_program(b->now.sw);
    const size_t i = d->n_programs ? d->program_of[d->pipe_of[pipe]] : 0;
    return i < b->now.n ? i : 0;
}

enum brt_code brt_may(struct brt *b, uint32_t client, uint32_t device, const char *program,
                      struct sk_error *err) {
    const struct brt_client *c = brt_client(b, client);
    b->served = 0;
    if (!b->now.n)
        return brt_fail(err, BRT_NOT_READY, "the switch runs no program yet");
    if (device)
        return brt_fail(err, c ? BRT_INVALID_ARG : BRT_OBJECT_NOT_FOUND,
                        "there is no device %u, only 0", device);
    b->only_fixed = strcmp(program, shared) == 0 || (c && !*program && !c->bound && c->shares);
    if (b->only_fixed)
        return BRT_OK;
    if (!*program && !c)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND,
                        "client %u is not subscribed, and the call names no program", client);
    if (!*program && !c->bound)
        return brt_fail(err, BRT_UNEXPECTED,
                        "client %u is not bound to a program, and the call names none", client);
    const size_t i = *program ? brt_program_named(&b->now, program) : c->program;
    if (i == b->now.n)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "the switch does not run a program '%s'",
                        program);
    b->served = i;
    return BRT_OK;
}

void brt_moved(struct brt_moved *m, const struct brt_running *from, const struct brt_running *to) {
    for (size_t i = 0; i < SK_PIPES; i++) {
        m->to[i] = i < from->n ? brt_program_named(to, from->programs[i].name) : to->n;
        m->to[i] = m->to[i] < to->n ? m->to[i] : SK_PIPES;
    }
}

void brt_rebind(struct brt *b, const struct brt_moved *moved) {
    b->served = 0;
    for (size_t i = 0; i < BRT_CLIENTS; i++) {
        struct brt_client *c = &b->clients[i];
        if (!c->used || !c->bound)
            continue;
        if (moved->to[c->program] < SK_PIPES) {
            c->program = moved->to[c->program];
            continue;
        }
        const struct brt_call stream = c->stream;
        *c = (struct brt_client){.used = false};
        stream.carrier->end(stream.call, RPC_CANCELLED, "the program was replaced", NULL, 0);
    }
}

// ---- streams ----

static struct brt_client *brt_session_of(struct brt *b, const void *call) {
    for (size_t i = 0; i < BRT_CLIENTS; i++)
        if (b->clients[i].used && b->clients[i].stream.call == call)
            return &b->clients[i];
    return NULL;
}

static struct brt_client *session_free_place(struct brt *b) {
    for (size_t i = 0; i < BRT_CLIENTS; i++)
        if (!b->clients[i].used)
            return &b->clients[i];
    return NULL;
}

static void session_welcome(const struct brt_call *c) {
    BfrtProto__StreamMessageResponse response = BFRT_PROTO__STREAM_MESSAGE_RESPONSE__INIT;
    BfrtProto__Subscribe subscribe = BFRT_PROTO__SUBSCRIBE__INIT;
    Google__Rpc__Status good = GOOGLE__RPC__STATUS__INIT;
    subscribe.status = &good;
    response.update_case = BFRT_PROTO__STREAM_MESSAGE_RESPONSE__UPDATE_SUBSCRIBE;
    response.subscribe = &subscribe;
    brt_send(c, &response.base);
}

static void session_subscribe(struct brt *b, const struct brt_call *c, uint32_t id,
                              const BfrtProto__Subscribe *s) {
    if (brt_session_of(b, c->call))
        return; // it is subscribed
    if (brt_client(b, id)) {
        brt_end(c, BRT_INVALID_ARG, "there is a client with this id");
        return;
    }
    struct brt_client *client = session_free_place(b);
    if (!client) {
        brt_end(c, BRT_NO_SYS_RESOURCES, "there are too many clients");
        return;
    }
    *client = (struct brt_client){.used = true, .id = id, .stream = *c};
    if (s->notifications) {
        client->learn = s->notifications->enable_learn_notifications;
        client->idle = s->notifications->enable_idletimeout_notifications;
        client->ports = s->notifications->enable_port_status_change_notifications;
        client->active = s->notifications->enable_entry_active_notifications;
    }
    session_welcome(c);
}

void brt_stream_message(struct brt *b, const struct brt_call *c, const uint8_t *bytes,
                        size_t length) {
    const BfrtProto__StreamMessageRequest *m =
        bfrt_proto__stream_message_request__unpack(&b->request.allocator, length, bytes);
    if (!m)
        brt_end_unread(b, c);
    else if (m->update_case == BFRT_PROTO__STREAM_MESSAGE_REQUEST__UPDATE_SUBSCRIBE)
        session_subscribe(b, c, m->client_id, m->subscribe);
    else if (m->update_case == BFRT_PROTO__STREAM_MESSAGE_REQUEST__UPDATE_DIGEST_ACK)
        brt_end(c, BRT_NOT_SUPPORTED, "digests are not acknowledged: each is sent once");
    brt_memory_reuse(&b->request);
}

void brt_stream_over(struct brt *b, const void *call) {
    struct brt_client *c = brt_session_of(b, call);
    if (!c)
        return;
    for (size_t i = 0; i < b->now.n; i++)
        brt_schema_forget(b->now.programs[i].schema, c->id);
    const uint32_t id = c->id;
    *c = (struct brt_client){.used = false};
    brt_start_left(b, id);
}

// ---- programs ----

static enum brt_code session_owned(const struct brt *b, const struct brt_client *c, size_t program,
                                   struct sk_error *err) {
    for (size_t i = 0; i < BRT_CLIENTS; i++)
        if (b->clients[i].used && b->clients[i].bound && b->clients[i].program == program)
            return brt_fail(err, BRT_ALREADY_EXISTS,
                            "client %u cannot be bound: client %u owns the program", c->id,
                            b->clients[i].id);
    if (c->bound)
        return brt_fail(err, BRT_ALREADY_EXISTS, "client %u is bound to program '%s'", c->id,
                        b->now.programs[c->program].name);
    return BRT_OK;
}

static enum brt_code session_bind(struct brt *b,
                                  const BfrtProto__SetForwardingPipelineConfigRequest *r,
                                  struct sk_error *err) {
    struct brt_client *c = brt_client(b, r->client_id);
    if (!c)
        return brt_fail(err, BRT_NOT_READY, "client %u has not subscribed", r->client_id);
    if (r->n_config != 1)
        return brt_fail(err, BRT_INVALID_ARG, "a client is bound to exactly one program");
    const char *name = r->config[0]->p4_name;
    if (strcmp(name, shared) == 0 && !r->device_id) {
        c->shares = true;
        return BRT_OK;
    }
    const size_t program = brt_program_named(&b->now, name);
    if (program == b->now.n || r->device_id)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "device %u does not run a program '%s'",
                        r->device_id, name);
    const enum brt_code code = session_owned(b, c, program, err);
    if (code == BRT_OK) {
        c->bound = true;
        c->program = program;
    }
    return code;
}

void brt_set_config(struct brt *b, const struct brt_call *c, const uint8_t *bytes, size_t length) {
    const BfrtProto__SetForwardingPipelineConfigRequest *r =
        bfrt_proto__set_forwarding_pipeline_config_request__unpack(&b->request.allocator, length,
                                                                   bytes);
    BfrtProto__SetForwardingPipelineConfigResponse response =
        BFRT_PROTO__SET_FORWARDING_PIPELINE_CONFIG_RESPONSE__INIT;
    struct sk_error err;
    if (!r) {
        brt_end_unread(b, c);
        return;
    }
    if (r->action != BFRT_PROTO__SET_FORWARDING_PIPELINE_CONFIG_REQUEST__ACTION__BIND) {
        brt_set_program(b, c, r);
        brt_memory_reuse(&b->request);
        return;
    }
    const enum brt_code code = session_bind(b, r, &err);
    if (code == BRT_OK)
        brt_send(c, &response.base);
    brt_end(c, code, code ? err.text : NULL);
    brt_memory_reuse(&b->request);
}

// A program's part of the answer, and the memory for it.
struct session_config {
    BfrtProto__ForwardingPipelineConfig config;
    BfrtProto__ForwardingPipelineConfig__Profile profiles[SK_PIPES], *list[SK_PIPES];
    uint32_t scopes[SK_PIPES][SK_PIPES];
};

static void session_profiles(const struct brt *b, size_t program, struct session_config *out) {
    const struct sk_program_desc *d = sk_switch_program(b->now.sw);
    for (uint32_t i = 0; i < d->n_pipelines && i < SK_PIPES; i++) {
        if (d->n_programs && d->program_of[i] != program)
            continue;
        BfrtProto__ForwardingPipelineConfig__Profile *p = &out->profiles[i];
        bfrt_proto__forwarding_pipeline_config__profile__init(p);
        p->profile_name = (char *)d->pipelines[i]->name;
        p->pipe_scope = out->scopes[i];
        p->binary.data = b->now.programs[program].binary;
        p->binary.len = b->now.programs[program].n_binary;
        for (uint32_t pipe = 0; pipe < SK_PIPES; pipe++)
            if (d->pipe_of[pipe] == i)
                out->scopes[i][p->n_pipe_scope++] = pipe;
        out->config.profiles[out->config.n_profiles++] = p;
    }
}

static void session_describe(const struct brt *b, size_t program, struct session_config *out) {
    const struct brt_program *p = &b->now.programs[program];
    bfrt_proto__forwarding_pipeline_config__init(&out->config);
    out->config.p4_name = p->name;
    out->config.bfruntime_info.data = (uint8_t *)p->schema_text;
    out->config.bfruntime_info.len = strlen(p->schema_text);
    out->config.profiles = out->list;
    session_profiles(b, program, out);
}

static void session_config(const struct brt *b, const struct brt_call *c) {
    BfrtProto__GetForwardingPipelineConfigResponse response =
        BFRT_PROTO__GET_FORWARDING_PIPELINE_CONFIG_RESPONSE__INIT;
    BfrtProto__NonP4Config fixed = BFRT_PROTO__NON_P4_CONFIG__INIT;
    struct session_config described[SK_PIPES];
    BfrtProto__ForwardingPipelineConfig *configs[SK_PIPES];
    for (size_t i = 0; i < b->now.n; i++) {
        session_describe(b, i, &described[i]);
        configs[i] = &described[i].config;
    }
    response.config = configs;
    response.n_config = b->now.n;
    char *fixed_tables = fixed_text(b);
    fixed.bfruntime_info.data = (uint8_t *)fixed_tables;
    fixed.bfruntime_info.len = strlen(fixed_tables);
    response.non_p4_config = &fixed;
    brt_send(c, &response.base);
    free(fixed_tables);
    brt_end(c, BRT_OK, NULL);
}

void brt_get_config(struct brt *b, const struct brt_call *c, const uint8_t *bytes, size_t length) {
    const BfrtProto__GetForwardingPipelineConfigRequest *r =
        bfrt_proto__get_forwarding_pipeline_config_request__unpack(&b->request.allocator, length,
                                                                   bytes);
    if (!r)
        brt_end_unread(b, c);
    else if (!b->now.n)
        brt_end(c, BRT_NOT_READY, "the switch runs no program yet");
    else if (r->device_id)
        brt_end(c, BRT_OBJECT_NOT_FOUND, "there is no such device, only 0");
    else
        session_config(b, c);
    brt_memory_reuse(&b->request);
}
