// SPDX-License-Identifier: Apache-2.0
//
// print: units and dependencies as text.
#include "compiler/chip/graph/graph.h"

static const char *const kinds[] = {
    [CHIP_TABLE] = "table", [CHIP_KEYLESS] = "keyless", [CHIP_GATEWAY] = "gateway"};

static void print_bits(FILE *out, const char *what, const chip_bits_vec *bits) {
    if (bits->n == 0)
        return;
    fprintf(out, "    %s", what);
    for (size_t i = 0; i < bits->n; i++) {
        const struct chip_bits *b = &bits->v[i];
        if (b->lo == 0 && b->width == b->var->width)
            fprintf(out, " %s", b->var->name);
        else
            fprintf(out, " %s[%u:%u]", b->var->name, b->lo + b->width - 1, b->lo);
    }
    fputc('\n', out);
}

static void graph_print_action(FILE *out, const struct chip_action *act) {
    fprintf(out, "    action %s: %zu instructions, %zu accesses\n", act->name, act->ops.n,
            act->accesses.n);
    print_bits(out, "  reads", &act->reads);
    print_bits(out, "  hashes", &act->hashed);
    print_bits(out, "  writes", &act->writes);
}

static void print_unit(FILE *out, const struct chip_unit *u) {
    fprintf(out, "  %u: %s %s%s, from stage %u\n", u->id, kinds[u->kind], u->name,
            u->condition && u->kind != CHIP_GATEWAY ? ", behind a condition" : "", u->earliest);
    print_bits(out, "asks", &u->gateway);
    print_bits(out, "key", &u->key);
    for (size_t i = 0; i < u->actions.n; i++)
        graph_print_action(out, &u->actions.v[i]);
}

static void print_dep(FILE *out, const struct chip_dep *d) {
    fprintf(out, "  %u -> %u %s", d->from, d->to, chip_dep_names[d->kind]);
    if (d->bits.var)
        fprintf(out, " %s[%u:%u]", d->bits.var->name, d->bits.lo + d->bits.width - 1, d->bits.lo);
    fprintf(out, "%s\n", d->ignored ? ", ignored" : "");
}

void chip_graph_print(FILE *out, const struct chip_gress *g) {
    fprintf(out, "%s\n", g->kind == IR_INGRESS ? "ingress" : "egress");
    for (size_t i = 0; i < g->units.n; i++)
        print_unit(out, &g->units.v[i]);
    for (size_t i = 0; i < g->deps.n; i++)
        print_dep(out, &g->deps.v[i]);
    fprintf(out, "  chain");
    for (size_t i = 0; i < g->critical_path.n; i++)
        fprintf(out, " %u", g->critical_path.v[i]);
    fputc('\n', out);
}
