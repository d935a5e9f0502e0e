// SPDX-License-Identifier: Apache-2.0
//
// fuzz_request: sequences of requests to a switch that has an action profile, a selector and port
// metadata, made of the fuzzer's bytes: with numbers that mean something, so that members, groups
// and entries refer to each other; or, when the first byte is odd, the bytes themselves, a line
// each. Afterwards whatever names a member or a group must find it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/socket/requests.h"
#include "pipeline/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N(array) (sizeof(array) / sizeof *(array))

// ---- a program that does nothing to packets ----

static const struct sk_field_desc port_param[] = {{.name = "port", .width = 9}};
static const struct sk_field_desc member_key[] = {{.name = "$ACTION_MEMBER_ID", .width = 32}};
static const struct sk_field_desc key[] = {{.name = "hdr.id", .width = 8, .match = SK_LPM}};
static const struct sk_action_desc send_to = {
    .name = "pipe.I.send", .params = port_param, .n_params = 1, .data_words = 1};
static const struct sk_action_desc drop = {.name = "pipe.I.drop"};
static const struct sk_action_desc none = {.name = "$NO_MEMBER", .default_only = true};
static const struct sk_action_desc *const member_actions[] = {&send_to, &drop, &none};
static const struct sk_action_desc *const entry_actions[] = {&send_to, &drop, &sk_member_reference,
                                                             &sk_group_reference};
static const uint64_t no_data[1];
static const struct sk_table_desc members = {.name = "pipe.I.members",
                                             .keys = member_key,
                                             .n_keys = 1,
                                             .key_words = 1,
                                             .actions = member_actions,
                                             .n_actions = N(member_actions),
                                             .default_action = 2,
                                             .default_data = no_data,
                                             .const_default = true,
                                             .size = 8,
                                             .is_profile = true};
static const struct sk_selector_desc selector_desc = {
    .name = "pipe.I.sel", .profile = &members, .max_group_size = 6, .n_groups = 4, .hash_bits = 14};
static const struct sk_table_desc hops = {.name = "pipe.I.hops",
                                          .keys = key,
                                          .n_keys = 1,
                                          .key_words = 1,
                                          .actions = entry_actions,
                                          .n_actions = N(entry_actions),
                                          .default_action = 1,
                                          .default_data = no_data,
                                          .size = 16,
                                          .profile = &members,
                                          .selector = &selector_desc};
static const struct sk_table_desc *const tables[] = {&hops, &members};
static const struct sk_selector_desc *const selectors[] = {&selector_desc};
static const struct sk_field_desc port_fields[] = {{.name = "vrf", .width = 13},
                                                   {.name = "zone", .width = 33}};

struct sk_pipe {
    struct sk_table *tables[2];
    struct sk_selector *selector;
};

static void pipe_free(struct sk_pipe *s) {
    sk_table_free(s->tables[0]);
    sk_selector_free(s->selector);
    sk_table_free(s->tables[1]);
    free(s);
}

static struct sk_pipe *pipe_new(uint64_t seed) {
    (void)seed;
    struct sk_pipe *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->tables[0] = sk_table_new(&hops);
    s->tables[1] = sk_table_new(&members);
    s->selector = sk_selector_new(&selector_desc, s->tables[1]);
    sk_table_attach(s->tables[0], s->tables[1], s->selector);
    return s;
}

static struct sk_table *table(struct sk_pipe *s, uint32_t i) {
    return s->tables[i];
}

static struct sk_selector *selector(struct sk_pipe *s, uint32_t i) {
    (void)i;
    return s->selector;
}

static uint64_t ingress(struct sk_pipe *s, struct sk_packet *p, struct sk_ingress_out *out) {
    (void)s;
    (void)p;
    (void)out;
    return UINT64_C(1) << SK_WISH_DROP_AT;
}

static uint64_t egress(struct sk_pipe *s, struct sk_packet *p, struct sk_egress_out *out) {
    (void)s;
    (void)p;
    (void)out;
    return 0;
}

static const struct sk_pipeline_desc pipeline = {.name = "pipe",
                                                 .ingress = ingress,
                                                 .egress = egress,
                                                 .egress_reach = UINT32_MAX,
                                                 .pipe_new = pipe_new,
                                                 .pipe_free = pipe_free,
                                                 .tables = tables,
                                                 .n_tables = N(tables),
                                                 .table = table,
                                                 .selectors = selectors,
                                                 .n_selectors = N(selectors),
                                                 .selector = selector,
                                                 .port_fields = port_fields,
                                                 .n_port_fields = N(port_fields)};
static const struct sk_pipeline_desc *const pipelines[] = {&pipeline};

const struct sk_program_desc *silken_program(void) {
    static const struct sk_program_desc desc = {.abi_version = SK_ABI_VERSION,
                                                .ingress_prefix = SK_INGRESS_PREFIX,
                                                .egress_prefix = SK_EGRESS_PREFIX,
                                                .path = "fuzz.p4",
                                                .pipelines = pipelines,
                                                .n_pipelines = 1};
    return &desc;
}

// ---- requests ----

static void ask(struct sk_switch *sw, const char *text, size_t length) {
    const struct sk_service service = {.sw = sw};
    json_t *reply = sk_request(&service, text, length);
    const char *error = json_string_value(json_object_get(reply, "error"));
    if (!json_is_true(json_object_get(reply, "ok")) && (!error || !*error))
        abort(); // refused without a word
    json_decref(reply);
}

static void lines(struct sk_switch *sw, const char *text, size_t size) {
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        ask(sw, text, length);
        size -= end ? length + 1 : length;
        text += end ? length + 1 : length;
    }
}

// Four bytes a request.
static void made(struct sk_switch *sw, const uint8_t *b) {
    static const char *const actions[] = {"\"action\":\"send\",\"args\":{\"port\":7}",
                                          "\"action\":\"drop\"", "\"member\":%u", "\"group\":%u"};
    static const char *const changes[] = {"add", "modify", "add", "delete"};
    char text[400], action[64], pipe[16] = "";
    const char *change = changes[b[1] & 3];
    unsigned x = b[2] & 15, y = b[3] & 15;
    snprintf(action, sizeof action, actions[b[1] >> 2 & 3], y);
    if (b[0] & 0x80)
        snprintf(pipe, sizeof pipe, ",\"pipe\":%u", b[0] >> 5 & 3);
    bool delete = (b[1] & 3) == 3;
    switch (b[0] & 7) {
    case 0:
    case 1:
        snprintf(text, sizeof text,
                 "{\"op\":\"table.%s\",\"table\":\"members\",\"key\":{\"$ACTION_MEMBER_ID\":%u}"
                 "%s%s%s}",
                 change, x, delete ? "" : ",", delete ? "" : action, pipe);
        break;
    case 2:
        snprintf(text, sizeof text,
                 "{\"op\":\"table.%s\",\"table\":\"hops\",\"key\":{\"id\":\"%u/%u\"}%s%s%s}",
                 change, b[2], b[1] >> 4, delete ? "" : ",", delete ? "" : action, pipe);
        break;
    case 3:
    case 4:
        if (delete)
            snprintf(text, sizeof text,
                     "{\"op\":\"group.delete\",\"selector\":\"sel\",\"id\":%u%s}", x & 7, pipe);
        else
            snprintf(text, sizeof text,
                     "{\"op\":\"group.%s\",\"selector\":\"sel\",\"id\":%u,\"max_size\":%u,"
                     "\"members\":[%u,{\"member\":%u,\"up\":%s}]%s}",
                     change, x & 7, b[1] >> 5, y, b[2] >> 4, b[3] & 0x80 ? "true" : "false", pipe);
        break;
    case 5:
        snprintf(text, sizeof text,
                 "{\"op\":\"group.member\",\"selector\":\"sel\",\"id\":%u,\"hash\":%u}", x & 7,
                 b[3]);
        break;
    case 6:
        snprintf(text, sizeof text,
                 "{\"op\":\"port.metadata\",\"port\":%u,\"metadata\":{\"vrf\":%u,\"zone\":%u}}",
                 b[1], b[2] << 6, b[3]);
        break;
    default:
        snprintf(text, sizeof text, "{\"op\":\"%s\",\"%s\":\"%s\"%s}",
                 b[1] & 1 ? "group.clear" : "table.clear", b[1] & 1 ? "selector" : "table",
                 b[1] & 1   ? "sel"
                 : b[1] & 2 ? "hops"
                            : "members",
                 pipe);
        break;
    }
    ask(sw, text, strlen(text));
}

// ---- what must hold ----

static void expect_member(struct sk_pipe *s, uint64_t id) {
    if (!sk_table_find(s->tables[1], &id, NULL, 0))
        abort();
}

static bool check_group(void *aux, const struct sk_group *g) {
    uint32_t up = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        expect_member(aux, g->members[i].member);
        up += g->members[i].up;
    }
    if (up != g->n_up || g->n > selector_desc.max_group_size)
        abort();
    return true;
}

static bool check_entry(void *aux, const struct sk_entry *e) {
    struct sk_pipe *s = aux;
    if (entry_actions[e->action]->refers == SK_REFERS_MEMBER)
        expect_member(s, e->data[0]);
    if (entry_actions[e->action] == &sk_group_reference) {
        const struct sk_group *g = sk_selector_find(s->selector, (uint32_t)e->data[0]);
        if (!g || g->n_up == 0 || !sk_selector_pick(s->selector, g->id, 12345))
            abort();
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct sk_program *prog;
    char error[256];
    if (!prog)
        prog = sk_program_load(NULL, error, sizeof error);
    if (!prog)
        abort();
    struct sk_switch *sw =
        sk_switch_new(prog, &(struct sk_switch_options){.tx = sk_tx_nowhere, .n_packets = 2}, error,
                      sizeof error);
    if (size > 0 && data[0] & 1)
        lines(sw, (const char *)data + 1, size - 1);
    for (size_t i = 1; size > 0 && !(data[0] & 1) && i + 4 <= size; i += 4)
        made(sw, data + i);
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        struct sk_pipe *s = sk_switch_pipe(sw, pipe);
        sk_selector_each(s->selector, check_group, s);
        sk_table_each(s->tables[0], check_entry, s);
    }
    ask(sw, "{\"op\":\"group.dump\",\"selector\":\"sel\"}", 38);
    sk_switch_free(sw);
    return 0;
}
