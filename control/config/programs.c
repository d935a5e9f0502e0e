// SPDX-License-Identifier: Apache-2.0
//
// Several programs on one switch, each in pipes of its own:
//
//     "programs": [{"program": "edge.p4", "pipes": [0, 2]},
//                  {"program": "core.p4", "pipes": [1, 3]}]
#include "control/config/config_impl.h"
#include "pipeline/program.h"

// What is of a switch with one program, and why.
static const struct {
    const char *key, *why;
} of_one_program[] = {
    {"program", "the switch runs one program or several"},
    {"tor", "it is the control plane of one program in all pipes"},
    {"libra", "it is the control plane of one program in all pipes"},
    {"sessions", "it is the control plane of one program in all pipes"},
    {"switchml_jobs", "it is the control plane of one program in all pipes"},
    {"p4runtime", "its clients have the tables of one program"},
    {"record", "a recording is of a switch with one program"},
};

static void programs_read_one(const struct sk_at *at, struct sk_config_program *p,
                              unsigned *taken) {
    static const char *const keys[] = {"program", "name", "pipes", NULL};
    const struct sk_at program = sk_at_member(at, "program"), name = sk_at_member(at, "name"),
                       pipes = sk_at_member(at, "pipes");
    sk_at_keys(at, keys);
    p->program = sk_at_string(&program, true);
    p->name = sk_at_string(&name, false);
    if (!at->doc->failed && p->name && !sk_program_name_is_good(p->name))
        sk_at_fail(&name,
                   "'%.70s' is not a program's name: letters, digits, '_' and '-', at most %u, and "
                   "no digit at first",
                   p->name, SK_PROGRAM_NAME);
    if (!at->doc->failed && sk_at_length(&pipes) == 0)
        sk_at_fail(&pipes, "it must be a list of pipes, from 0 to %u", SK_PIPES - 1);
    for (size_t i = 0; i < sk_at_length(&pipes) && !at->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&pipes, i);
        const uint64_t pipe = sk_at_number(&item, true, SK_PIPES - 1);
        if (at->doc->failed)
            return;
        if (*taken >> pipe & 1)
            sk_at_fail(&item, "pipe %u is given twice", (unsigned)pipe);
        p->pipes |= (uint8_t)(1u << pipe);
        *taken |= 1u << pipe;
    }
}

void sk_config_read_programs(const struct sk_at *root, struct sk_config *c) {
    const struct sk_at list = sk_at_member(root, "programs");
    const size_t n = sk_at_length(&list);
    unsigned taken = 0;
    if (!root->doc->failed && (n < 2 || n > SK_PIPES))
        sk_at_fail(&list, "it must be a list of 2 to %u programs", SK_PIPES);
    for (size_t i = 0; i < sizeof of_one_program / sizeof *of_one_program; i++) {
        const struct sk_at other = sk_at_member(root, of_one_program[i].key);
        if (other.value && !root->doc->failed)
            sk_at_fail(&other, "\"%s\" and \"programs\" exclude each other: %s",
                       of_one_program[i].key, of_one_program[i].why);
    }
    if (root->doc->failed)
        return;
    c->programs = sk_json_keep(root->doc, n * sizeof *c->programs);
    for (; c->n_programs < n && !root->doc->failed; c->n_programs++) {
        const struct sk_at item = sk_at_item(&list, c->n_programs);
        programs_read_one(&item, &c->programs[c->n_programs], &taken);
    }
    for (unsigned pipe = 0; pipe < SK_PIPES && !root->doc->failed; pipe++)
        if (!(taken >> pipe & 1))
            sk_at_fail(&list, "pipe %u is given no program", pipe);
}
