// SPDX-License-Identifier: Apache-2.0
//
// graph: a gress's control as units and dependencies; the order of the steps. See graph.h,
// graph_impl.h.
#include "compiler/chip/graph/graph.h"

#include <string.h>

#include "compiler/chip/graph/graph_impl.h"

const char *graph_place(struct graph *g, struct loc at) {
    const char *path = diag_path(g->r->diag, at.file);
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (!path || at.line == 0)
        return "statements";
    return arena_printf(g->a, "%s:%u", slash ? slash + 1 : path, at.line);
}

static void name_parents(struct graph *g) {
    for (size_t i = 0; i < g->gress->units.n; i++) {
        struct chip_unit *u = &g->gress->units.v[i];
        bool any = g->nodes.v[i].parents.n > 0;
        u->parent = any ? (int)g->nodes.v[i].parents.v[0].unit : -1;
        u->branch = any ? g->nodes.v[i].parents.v[0].branch : 0;
    }
}

static void gress(struct chip_report *r, struct chip_pipe *pipe, struct chip_gress *cg) {
    struct graph g = {.r = r, .a = r->arena, .gress = cg, .ir = cg->ir, .gateways = pipe->gateways};
    graph_simplify(&g);
    graph_parallel(&g);
    graph_live(&g);
    graph_alias(&g);
    graph_units(&g);
    graph_deps(&g);
    if (g.gateways != CHIP_GATEWAYS_APART)
        graph_gateways(&g);
    graph_deps(&g);
    name_parents(&g);
}

void chip_graph(struct chip_report *r, struct chip_pipe *pipe) {
    for (int i = 0; i < 2; i++)
        gress(r, pipe, &pipe->gress[i]);
}
