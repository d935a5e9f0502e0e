// SPDX-License-Identifier: Apache-2.0
#include "harness/net/program.h"

#include <stdlib.h>

#include "compiler/compile.h"
#include "control/tables/control.h"

_Noreturn void net_die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

struct sk_program *net_program(const char *path) {
    return net_program_built(path, NET_FAST);
}

struct sk_program *net_program_built(const char *path, enum net_build build) {
    struct compile_options opt = {
        .path = path, .checked = build == NET_CHECKED, .scalar = build == NET_SCALAR};
    char error[256], *object = compile_p4(&opt, stderr);
    struct sk_program *program;

    if (!object)
        net_die(path, "does not compile");
    program = sk_program_load(object, error, sizeof error);
    if (!program)
        net_die(object, error);
    free(object);
    return program;
}

struct sk_switch *
net_switch(const struct sk_program *program,
           bool (*tx)(void *aux, uint16_t port, const uint8_t *frame, uint32_t length), void *aux) {
    struct sk_switch_options opt = {
        .tx = tx, .aux = aux, .packet_bytes = 2048, .n_packets = 256, .seed = 1};
    char error[256];
    struct sk_switch *sw = sk_switch_new(program, &opt, error, sizeof error);

    if (!sw)
        net_die("switch", error);
    return sw;
}

// "name value name value ... NULL" as named values; returns their number.
static size_t named(struct sk_named_value *out, const char *const *text) {
    size_t n = 0;

    for (; text[2 * n]; n++)
        out[n] = (struct sk_named_value){text[2 * n], text[2 * n + 1]};
    return n;
}

void net_entry(struct sk_switch *sw, const char *table, const char *const *keys, const char *action,
               const char *const *args) {
    struct sk_named_value key[8], arg[8];
    struct sk_entry_spec e = {
        .table = table, .keys = key, .action = action, .args = arg, .pipe = -1};
    struct sk_error err;

    e.n_keys = named(key, keys);
    e.n_args = named(arg, args);
    if (sk_control_entry_add(sw, &e, &err) < 0)
        net_die(table, err.text);
}
