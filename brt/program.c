// SPDX-License-Identifier: Apache-2.0
//
// Programs that clients send. A program is compiled beside the switch; then, from the begin of a
// warm start to its end, clients read and write a switch of that program through which no packet
// goes, and packets go through the old one. At the end they change places, between two packets. So
// packets never meet a half of what a controller writes, whether it asks for a hitless start or a
// fast one.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "brt/brt_impl.h"
#include "brt/package.h"

#define ACTION(name) BFRT_PROTO__SET_FORWARDING_PIPELINE_CONFIG_REQUEST__ACTION__##name
#define TOLD(name)   BFRT_PROTO__SET_FORWARDING_PIPELINE_CONFIG_RESPONSE_TYPE__##name

typedef BfrtProto__SetForwardingPipelineConfigRequest program_request;

// One of those that a client sent.
struct start_program {
    char name[BRT_NAME + 1];
    struct brt_profile profiles[SK_PIPES];
    size_t n_profiles;
};

struct brt_start {
    enum { START_NONE, START_COMPILING, START_BEGUN } state;
    struct brt_call call; // while it is being compiled
    uint32_t client;
    int action;
    bool hitless;
    struct start_program programs[SK_PIPES];
    size_t n;
    struct brt_running before; // of START_BEGUN: what packets go through
    bool bound;                // of START_BEGUN: clients are bound to what has begun
};

// ---- what is running ----

void brt_running_free(struct brt *b, struct brt_running *p) {
    brt_snapshots_free(b, p);
    for (size_t i = 0; i < SK_PIPES; i++) {
        struct brt_program *own = &p->programs[i];
        brt_schema_free(own->schema);
        free(own->name);
        free(own->schema_text);
        free(own->binary);
    }
}

struct sk_switch *brt_live(const struct brt *b) {
    return brt_has_begun(b) ? b->start->before.sw : b->now.sw;
}

bool brt_has_begun(const struct brt *b) {
    return b->start && b->start->state == START_BEGUN;
}

// ---- the end of a start ----

static void program_forget(struct brt *b) {
    free(b->start);
    b->start = NULL;
    b->host.forget_programs(b->host.aux);
}

// What was begun is given up: packets never saw it.
void brt_start_drop(struct brt *b) {
    struct brt_start *s = b->start;
    struct brt_moved moved;
    if (!brt_has_begun(b))
        return;
    struct brt_running gone = b->now;
    b->now = s->before;
    if (s->bound) {
        brt_moved(&moved, &gone, &b->now);
        brt_rebind(b, &moved);
    }
    brt_running_free(b, &gone);
    program_forget(b);
}

static enum brt_code program_commit(struct brt *b, struct sk_error *err) {
    struct brt_start *s = b->start;
    if (b->host.run_programs(b->host.aux, err)) {
        brt_start_drop(b);
        return BRT_UNEXPECTED;
    }
    b->now.sw = s->before.sw; // the two have changed places
    brt_running_free(b, &s->before);
    program_forget(b);
    brt_tell_start(b, TOLD(WARM_INIT_FINISHED));
    return BRT_OK;
}

static enum brt_code program_finish(struct brt *b, const program_request *r, struct sk_error *err) {
    if (r->n_config)
        return brt_fail(err, BRT_INVALID_ARG, "the end of a warm start has no program");
    if (!brt_has_begun(b))
        return brt_fail(err, BRT_NOT_READY, "no warm start has begun");
    return program_commit(b, err);
}

void brt_start_left(struct brt *b, uint32_t client) {
    if (brt_has_begun(b) && b->start->client == client)
        brt_start_drop(b);
}

// ---- its begin ----

// The pipeline of one program stands where the program puts it. (Those of several stand where they
// were sent to.)
static enum brt_code program_check_profiles(const struct brt_start *s, const struct sk_switch *sw,
                                            struct sk_error *err) {
    const struct sk_program_desc *d = sk_switch_program(sw);
    for (size_t i = 0; s->n == 1 && i < s->programs[0].n_profiles; i++) {
        const struct brt_profile *p = &s->programs[0].profiles[i];
        uint32_t known = 0;
        while (known < d->n_pipelines && strcmp(d->pipelines[known]->name, p->name) != 0)
            known++;
        if (known == d->n_pipelines)
            return brt_fail(err, BRT_INVALID_ARG, "the program has no pipeline '%s'", p->name);
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
            if (p->pipes >> pipe & 1 && d->pipe_of[pipe] != known)
                return brt_fail(err, BRT_INVALID_ARG,
                                "the program has pipeline '%s' in pipe %u, not '%s'",
                                d->pipelines[d->pipe_of[pipe]]->name, pipe, p->name);
    }
    return BRT_OK;
}

// Programs that keep their name keep their tables' scopes.
static void program_keep_scopes(struct brt_running *now, const struct brt_running *before) {
    for (size_t i = 0; i < now->n; i++) {
        const size_t was = brt_program_named(before, now->programs[i].name);
        if (was < before->n)
            brt_schema_keep_scopes(now->programs[i].schema, now->sw, before->programs[was].schema);
    }
}

static enum brt_code brt_program_begin(struct brt *b, struct sk_switch *sw,
                                       struct brt_description *d, struct sk_error *err) {
    struct brt_start *s = b->start;
    struct brt_running now;
    struct brt_moved moved;
    for (size_t i = 0; i < s->n; i++)
        d[i].name = s->programs[i].name;
    if (brt_running_new(&now, sw, d, s->n, err)) {
        brt_running_free(b, &now);
        return BRT_UNEXPECTED;
    }
    if (s->hitless)
        program_keep_scopes(&now, &b->now);
    s->before = b->now;
    b->now = now;
    s->state = START_BEGUN;
    brt_moved(&moved, &s->before, &b->now);
    brt_tell_start(b, TOLD(WARM_INIT_STARTED));
    s->bound = s->action != ACTION(VERIFY_AND_WARM_INIT_BEGIN_AND_END);
    const enum brt_code code = s->bound ? BRT_OK : program_commit(b, err);
    if (code == BRT_OK)
        brt_rebind(b, &moved);
    return code;
}

static void brt_program_answer(enum brt_code code, const struct sk_error *err,
                               const struct brt_call *call) {
    BfrtProto__SetForwardingPipelineConfigResponse response =
        BFRT_PROTO__SET_FORWARDING_PIPELINE_CONFIG_RESPONSE__INIT;
    if (code == BRT_OK)
        brt_send(call, &response.base);
    brt_end(call, code, code ? err->text : NULL);
}

void brt_start_turn(struct brt *b) {
    struct brt_start *s = b->start;
    struct sk_switch *sw = NULL;
    struct brt_description described[SK_PIPES] = {{0}};
    struct sk_error err;
    if (!s || s->state != START_COMPILING)
        return;
    const int rc = b->host.compiled_programs(b->host.aux, &sw, described, &err);
    if (rc > 0)
        return;
    const struct brt_call call = s->call;
    enum brt_code code = rc ? BRT_INVALID_ARG : program_check_profiles(s, sw, &err);
    if (code == BRT_OK && s->action != ACTION(VERIFY))
        code = brt_program_begin(b, sw, described, &err);
    if (b->start && b->start->state == START_COMPILING) // verified, or refused
        program_forget(b);
    brt_program_answer(code, &err, &call);
}

void brt_set_config_over(struct brt *b, const void *call) {
    if (b->start && b->start->state == START_COMPILING && b->start->call.call == call)
        program_forget(b);
}

void brt_start_free(struct brt *b) {
    if (!b->start)
        return;
    if (brt_has_begun(b)) {
        brt_running_free(b, &b->now);
        b->now = b->start->before;
    }
    program_forget(b);
}

// ---- requests ----

static enum brt_code program_take_profile(struct start_program *s,
                                          const BfrtProto__ForwardingPipelineConfig__Profile *p,
                                          uint32_t *taken, struct sk_error *err) {
    struct brt_profile *own = &s->profiles[s->n_profiles++];
    if (strlen(p->profile_name) > BRT_NAME)
        return brt_fail(err, BRT_INVALID_ARG, "a profile's name has at most %u bytes", BRT_NAME);
    strcpy(own->name, p->profile_name);
    for (size_t i = 0; i < p->n_pipe_scope; i++) {
        const uint32_t pipe = p->pipe_scope[i];
        if (pipe >= SK_PIPES || *taken >> pipe & 1)
            return brt_fail(err, BRT_INVALID_ARG,
                            pipe >= SK_PIPES ? "profile '%s': there is no pipe %u"
                                             : "profile '%s': pipe %u is given twice",
                            p->profile_name, pipe);
        own->pipes |= UINT32_C(1) << pipe;
        *taken |= UINT32_C(1) << pipe;
    }
    return BRT_OK;
}

// All profiles of a program carry the same text.
static enum brt_code program_take(struct start_program *s,
                                  const BfrtProto__ForwardingPipelineConfig *config,
                                  uint32_t *taken, struct brt_sent *sent, struct sk_error *err) {
    if (!sk_program_name_is_good(config->p4_name))
        return brt_fail(err, BRT_INVALID_ARG,
                        "a program's name has letters, digits, '_' and '-', at most %u, and no "
                        "digit at first",
                        BRT_NAME);
    if (config->n_profiles < 1 || config->n_profiles > SK_PIPES)
        return brt_fail(err, BRT_INVALID_ARG, "a program has one to %u profiles, not %zu",
                        (unsigned)SK_PIPES, config->n_profiles);
    strcpy(s->name, config->p4_name);
    const ProtobufCBinaryData *first = &config->profiles[0]->binary;
    for (size_t i = 0; i < config->n_profiles; i++) {
        const BfrtProto__ForwardingPipelineConfig__Profile *p = config->profiles[i];
        const enum brt_code code = program_take_profile(s, p, taken, err);
        if (code)
            return code;
        if (p->binary.len != first->len ||
            (first->len && memcmp(p->binary.data, first->data, first->len) != 0))
            return brt_fail(err, BRT_INVALID_ARG, "the profiles have different binaries");
    }
    *sent =
        (struct brt_sent){.name = s->name, .profiles = s->profiles, .n_profiles = s->n_profiles};
    return brt_package_read(first->data, first->len, &sent->text, &sent->n, err) ? BRT_INVALID_ARG
                                                                                 : BRT_OK;
}

// Each pipe has one of several programs.
static enum brt_code program_take_all(struct brt_start *s, const program_request *r,
                                      struct brt_sent *sent, struct sk_error *err) {
    uint32_t taken = 0;
    if (r->n_config < 1 || r->n_config > SK_PIPES)
        return brt_fail(err, BRT_INVALID_ARG, "a switch runs one to %u programs; %zu are given",
                        (unsigned)SK_PIPES, r->n_config);
    for (; s->n < r->n_config; s->n++) {
        const enum brt_code code =
            program_take(&s->programs[s->n], r->config[s->n], &taken, &sent[s->n], err);
        if (code)
            return code;
        for (size_t i = 0; i < s->n; i++)
            if (strcmp(s->programs[i].name, s->programs[s->n].name) == 0)
                return brt_fail(err, BRT_INVALID_ARG, "program '%s' is given twice",
                                s->programs[i].name);
    }
    for (unsigned pipe = 0; s->n > 1 && pipe < SK_PIPES; pipe++)
        if (!(taken >> pipe & 1))
            return brt_fail(err, BRT_INVALID_ARG, "pipe %u is given no program", pipe);
    return BRT_OK;
}

static enum brt_code program_start(struct brt *b, const struct brt_call *c,
                                   const program_request *r, struct sk_error *err) {
    struct brt_sent sent[SK_PIPES];
    if (!b->host.compile_programs)
        return brt_fail(err, BRT_NOT_SUPPORTED, "this switch takes no programs from clients");
    if (b->start && !brt_has_begun(b))
        return brt_fail(err, BRT_IN_USE, "a program of client %u is being compiled",
                        b->start->client);
    if (brt_has_begun(b) && brt_client(b, b->start->client))
        return brt_fail(err, BRT_NOT_READY, "client %u has begun a warm start and not ended it",
                        b->start->client);
    struct brt_start *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    *s = (struct brt_start){
        .state = START_COMPILING,
        .call = *c,
        .client = r->client_id,
        .action = (int)r->action,
        .hitless = r->dev_init_mode ==
                   BFRT_PROTO__SET_FORWARDING_PIPELINE_CONFIG_REQUEST__DEV_INIT_MODE__HITLESS};
    enum brt_code code = program_take_all(s, r, sent, err);
    if (code == BRT_OK)
        brt_start_drop(b); // of a client that is gone
    if (code == BRT_OK && b->host.compile_programs(b->host.aux, sent, s->n, err))
        code = BRT_IN_USE;
    if (code)
        free(s);
    else
        b->start = s;
    return code;
}

void brt_set_program(struct brt *b, const struct brt_call *c, const program_request *r) {
    struct sk_error err;
    enum brt_code code;
    if (r->device_id)
        code = brt_fail(&err, BRT_OBJECT_NOT_FOUND, "there is no device %u, only 0", r->device_id);
    else if (r->action == ACTION(WARM_INIT_END))
        code = program_finish(b, r, &err);
    else if (r->action == ACTION(RECONCILE_AND_WARM_INIT_END))
        code = brt_fail(&err, BRT_NOT_SUPPORTED, "a warm start is not ended with reconciling");
    else if (r->action == ACTION(VERIFY) || r->action == ACTION(VERIFY_AND_WARM_INIT_BEGIN) ||
             r->action == ACTION(VERIFY_AND_WARM_INIT_BEGIN_AND_END)) {
        code = program_start(b, c, r, &err);
        if (code == BRT_OK)
            return; // answered when it is compiled
    } else
        code = brt_fail(&err, BRT_INVALID_ARG, "there is no action %d", (int)r->action);
    brt_program_answer(code, &err, c);
}
