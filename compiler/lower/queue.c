// SPDX-License-Identifier: Apache-2.0
//
// queue: registers whose cells are named by counters of theirs: logs, and a Tofino 2's queues
// and stacks (tna-facts 4.2).
#include "compiler/lower/lower_impl.h"

#include <string.h>

static const char *const end_names[2] = {"overflow", "underflow"};

const char *queue_end_name(size_t i) {
    return end_names[i];
}

static const struct counted_method counted[] = {
    {"execute", IR_REG_INDEX, IR_UNCOUNTED}, {"execute_log", IR_REG_APPEND, IR_LOG},
    {"enqueue", IR_REG_ENQUEUE, IR_FIFO},    {"dequeue", IR_REG_DEQUEUE, IR_FIFO},
    {"push", IR_REG_PUSH, IR_STACK},         {"pop", IR_REG_POP, IR_STACK}};

const struct counted_method *queue_method(const char *name) {
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (strcmp(counted[i].method, name) == 0)
            return &counted[i];
    return NULL;
}

struct object *queue_end(struct lower *lw, struct object *reg, enum ir_reg_use use, struct loc at) {
    size_t i = use == IR_REG_DEQUEUE || use == IR_REG_POP;
    struct object *end = reg->at_end[i];
    if (!reg->ends[i])
        return NULL;
    if (!end) {
        end = reg->at_end[i] = ARENA_NEW(lw->a, struct object);
        *end = *reg->ends[i];
        end->name = arena_printf(lw->a, "%s.%s", end->name, end_names[i]);
        end->method = end_names[i];
        end->regaction = NULL;
        end->cell128 = NULL;
        end->min_max = false;
        memset(end->results, 0, sizeof end->results);
    }
    if (!regaction_ensure(lw, end, at))
        return NULL;
    *(i ? &reg->reg->underflow : &reg->reg->overflow) = end->regaction;
    return end;
}

bool queue_set(struct lower *lw, struct ir_register *r, enum ir_counting counting, struct loc at) {
    static const char *const names[] = {"", "log", "queue", "stack"};
    if (counting && r->counting && r->counting != counting) {
        lower_error(lw, at, "register '%s' is a %s already; it cannot be a %s too", r->name,
                    names[r->counting], names[counting]);
        return false;
    }
    if (counting)
        r->counting = counting;
    return true;
}
