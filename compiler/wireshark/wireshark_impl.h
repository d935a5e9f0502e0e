// SPDX-License-Identifier: Apache-2.0
//
// wireshark_impl: what the files of the dissector's generator share. Nobody else includes it.
//
//     wireshark.c         the file; header descriptions
//     expr.c              expressions as Lua
//     state.c             parser states as Lua functions
//     entry.c             where Wireshark shall call it
//     lua.c               the part that is the same for all programs
#ifndef SILKEN_COMPILER_WIRESHARK_WIRESHARK_IMPL_H
#define SILKEN_COMPILER_WIRESHARK_WIRESHARK_IMPL_H

#include "compiler/wireshark/wireshark.h"

struct shark {
    FILE *out;
    struct arena *a;
    const struct ir_program *p;
    const struct ir_gress *g; // the ingress whose parser it is
    const char *name;         // of the protocol: "switchml"
    bool *reached;            // by state
    bool *read;               // by variable: some expression of the parser reads it
    bool *shown;              // by header: described in the file
    unsigned ingress_port;    // one that no select asks for
    const char *failed;       // what an expression has that cannot be expressed; null: nothing
    unsigned indent;
};

void shark_line(struct shark *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *shark_string(struct shark *s, const char *text); // a Lua string
const char *shark_last_name(const char *name);

// ---- expr.c
// 'n' (1 to 32) bits of the expression from bit 'pos' on (0: the least), as a Lua expression of a
// number. What cannot be expressed sets 'failed' and gives "0".
const char *shark_bits(struct shark *s, const struct ir_expr *e, unsigned pos, unsigned n);
// An expression of one bit as a Lua condition.
const char *shark_condition(struct shark *s, const struct ir_expr *e);
// Where the k-th 32 bits of a variable are kept.
const char *shark_var(struct shark *s, const struct ir_var *v, unsigned k);

// ---- state.c
void shark_states(struct shark *s);
// Calls 'fn' for all expressions of a state (subexpressions included).
void shark_each_expr(const struct ir_state *st, void (*fn)(void *aux, const struct ir_expr *e),
                     void *aux);
// ... and for all statements of a block.
void shark_each_stmt(const struct ir_block *b, void (*fn)(void *aux, const struct ir_stmt *st),
                     void *aux);

// ---- entry.c
// Chooses the port of front panel packets ('ingress_port').
void shark_choose_port(struct shark *s);
void shark_entries(struct shark *s);
// A field of what the chip puts before a packet: zero, but for the port.
uint64_t shark_in_front(const struct shark *s, const struct ir_var *f);
// Whether a packet as taken here can meet case 'c', by the fields in front; 'certain': it does, and
// none after it.
bool shark_possible(const struct shark *s, const struct ir_state *st, size_t c, bool *certain);

// ---- lua.c
extern const char *const shark_prologue[], *const shark_epilogue[]; // lines; null-terminated

#endif
