// SPDX-License-Identifier: Apache-2.0
//
// The program that runs, and its cookie. A program comes from the switch's configuration; a client
// may commit the one that runs: with its entries, or with what the program has at its start.
#include <string.h>

#include "p4rt/p4rt_impl.h"

// ---- GetForwardingPipelineConfig ----

static void program_answer(struct p4rt *p, const struct brt_call *c,
                           P4__V1__GetForwardingPipelineConfigRequest__ResponseType type) {
    P4__V1__GetForwardingPipelineConfigResponse response =
        P4__V1__GET_FORWARDING_PIPELINE_CONFIG_RESPONSE__INIT;
    P4__V1__ForwardingPipelineConfig config = P4__V1__FORWARDING_PIPELINE_CONFIG__INIT;
    P4__V1__ForwardingPipelineConfig__Cookie cookie =
        P4__V1__FORWARDING_PIPELINE_CONFIG__COOKIE__INIT;
    if (type == P4__V1__GET_FORWARDING_PIPELINE_CONFIG_REQUEST__RESPONSE_TYPE__ALL ||
        type == P4__V1__GET_FORWARDING_PIPELINE_CONFIG_REQUEST__RESPONSE_TYPE__P4INFO_AND_COOKIE)
        config.p4info = p->info->message;
    cookie.cookie = p->cookie;
    config.cookie = p->has_cookie ? &cookie : NULL;
    response.config = &config;
    brt_send(c, &response.base);
    p4rt_end(c, RPC_OK, NULL);
}

void p4rt_get_config(struct p4rt *p, const struct brt_call *c, const uint8_t *bytes,
                     size_t length) {
    struct brt_memory *memory = brt_request_memory(p->b);
    struct sk_error err;
    enum rpc_status status;
    const P4__V1__GetForwardingPipelineConfigRequest *r =
        p4__v1__get_forwarding_pipeline_config_request__unpack(&memory->allocator, length, bytes);
    if (!r) {
        p4rt_end_unread(p, c);
        return;
    }
    if ((status = p4rt_check_device(p, r->device_id, &err)))
        p4rt_end(c, status, err.text);
    else if (!p->info)
        p4rt_end(c, RPC_FAILED_PRECONDITION, "the switch runs no program yet");
    else
        program_answer(p, c, r->response_type);
    brt_memory_reuse(memory);
}

// ---- SetForwardingPipelineConfig ----

// Is it the description of the program that runs? Compared as bytes.
static bool program_is_same(struct p4rt *p, P4__Config__V1__P4Info *given) {
    const size_t n = p4__config__v1__p4_info__get_packed_size(p->info->message);
    struct brt_memory *memory = brt_request_memory(p->b);
    if (p4__config__v1__p4_info__get_packed_size(given) != n)
        return false;
    uint8_t *a = brt_take(memory, n + 1), *b = brt_take(memory, n + 1);
    if (!a || !b)
        return false;
    p4__config__v1__p4_info__pack(p->info->message, a);
    p4__config__v1__p4_info__pack(given, b);
    return memcmp(a, b, n) == 0;
}

static enum rpc_status program_verify(struct p4rt *p,
                                      const P4__V1__ForwardingPipelineConfig *config,
                                      struct sk_error *err) {
    if (!config || !config->p4info)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "the configuration with its P4Info is missing");
    if (!p->info || !program_is_same(p, config->p4info))
        return p4rt_fail(err, RPC_UNIMPLEMENTED,
                         "a program comes from the switch's configuration, and this P4Info is not "
                         "that of the program that runs: `silken ctl program` or a reload replaces "
                         "it");
    return RPC_OK;
}

static enum rpc_status program_set(struct p4rt *p,
                                   const P4__V1__SetForwardingPipelineConfigRequest *r,
                                   struct sk_error *err) {
    enum rpc_status status;
    switch (r->action) {
    case P4__V1__SET_FORWARDING_PIPELINE_CONFIG_REQUEST__ACTION__VERIFY:
        return program_verify(p, r->config, err);
    case P4__V1__SET_FORWARDING_PIPELINE_CONFIG_REQUEST__ACTION__VERIFY_AND_COMMIT:
    case P4__V1__SET_FORWARDING_PIPELINE_CONFIG_REQUEST__ACTION__RECONCILE_AND_COMMIT:
        status = program_verify(p, r->config, err);
        if (status == RPC_OK &&
            r->action == P4__V1__SET_FORWARDING_PIPELINE_CONFIG_REQUEST__ACTION__VERIFY_AND_COMMIT)
            status = p4rt_clear(p, err);
        if (status == RPC_OK) {
            p->has_cookie = r->config->cookie;
            p->cookie = r->config->cookie ? r->config->cookie->cookie : 0;
        }
        return status;
    case P4__V1__SET_FORWARDING_PIPELINE_CONFIG_REQUEST__ACTION__VERIFY_AND_SAVE:
        return p4rt_fail(err, RPC_UNIMPLEMENTED, "a program cannot be saved for a later commit");
    case P4__V1__SET_FORWARDING_PIPELINE_CONFIG_REQUEST__ACTION__COMMIT:
        if (r->config)
            return p4rt_fail(err, RPC_INVALID_ARGUMENT, "COMMIT takes no configuration");
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "no program was saved to be committed");
    default:
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "the action is missing");
    }
}

void p4rt_set_config(struct p4rt *p, const struct brt_call *c, const uint8_t *bytes,
                     size_t length) {
    struct brt_memory *memory = brt_request_memory(p->b);
    P4__V1__SetForwardingPipelineConfigResponse response =
        P4__V1__SET_FORWARDING_PIPELINE_CONFIG_RESPONSE__INIT;
    struct sk_error err;
    const P4__V1__SetForwardingPipelineConfigRequest *r =
        p4__v1__set_forwarding_pipeline_config_request__unpack(&memory->allocator, length, bytes);
    if (!r) {
        p4rt_end_unread(p, c);
        return;
    }
    enum rpc_status status = p4rt_may_write(p, r->device_id, r->role, r->election_id, &err);
    if (status == RPC_OK)
        status = program_set(p, r, &err);
    if (status == RPC_OK)
        brt_send(c, &response.base);
    p4rt_end(c, status, status ? err.text : NULL);
    brt_memory_reuse(memory);
}
