// SPDX-License-Identifier: Apache-2.0
#include "sim/cpu.h"

#include <stdio.h>
#include <stdlib.h>

#define REST_NS 1000u // between two calls of a program that always has something to do

static void cpu_wake(void *who, void *unused) {
    struct sim_cpu *c = who;
    (void)unused;
    if (c->on && c->program.deadline(c->program.aux) <= c->node->sim->events.now)
        cpu_turn(c);
    else if (c->on)
        sim_timer_set(&c->timer, c->program.deadline(c->program.aux));
}

struct sim_cpu *cpu_new(struct sim_node *n, const struct scn_station *as, uint64_t seed) {
    struct sim_cpu *c = calloc(1, sizeof *c);
    char name[64];
    if (!c)
        abort();
    snprintf(name, sizeof name, "CPU port of %.40s", as->name);
    struct sim_random draws = sim_random_of(seed, name);
    c->node = n;
    c->usual_ns = c->service_ns = (uint64_t)(sim_draw(&draws, &as->service_us) * 1000);
    c->delay_ns = (uint64_t)(sim_draw(&draws, &as->cpu_delay_us) * 1000);
    c->frames = as->cpu_frames;
    sim_timer_init(&c->timer, &n->sim->events, cpu_wake, c);
    return c;
}

void cpu_free(struct sim_cpu *c) {
    if (c && c->on)
        cpu_off(c);
    free(c);
}

void cpu_on(struct sim_cpu *c, const struct sim_cpu_program *program) {
    c->program = *program;
    c->on = true;
    c->life++;
    c->on_at = c->free_at = c->node->sim->events.now;
    sk_switch_port_up(c->node->sw, SK_CPU_PORT, true);
}

void cpu_off(struct sim_cpu *c) {
    c->stats.dropped += c->waiting;
    c->waiting = c->leaving = 0;
    c->program.free(c->program.aux);
    c->on = false;
    c->life++;
}

void cpu_turn(struct sim_cpu *c) {
    const uint64_t now = c->node->sim->events.now;
    c->program.run(c->program.aux, now);
    const uint64_t next = c->program.deadline(c->program.aux);
    sim_timer_set(&c->timer, next > now + REST_NS ? next : now + REST_NS);
}

static void cpu_handle(void *who, void *what) {
    struct sim_cpu *c = who;
    struct sim_frame *f = what;
    struct sim *s = c->node->sim;
    if (f->epoch == c->life && c->on) {
        c->waiting--;
        c->stats.handled++;
        c->program.frame(c->program.aux, f->bytes, f->length, s->events.now);
        cpu_turn(c);
    }
    sim_frame_put(&s->frames, f);
}

void cpu_take(struct sim_cpu *c, const uint8_t *frame, uint32_t length) {
    struct sim *s = c->node->sim;
    const uint64_t arrives = s->events.now + c->delay_ns;
    c->stats.taken++;
    if (!c->on || c->waiting == c->frames || length > SIM_MAX_FRAME) {
        c->stats.lost++;
        sim_trace_add(&s->trace, s->events.now, "CPU port", "is lost", frame, length);
        return;
    }
    c->waiting++;
    c->free_at = (c->free_at > arrives ? c->free_at : arrives) + c->service_ns;
    if (c->free_at - s->events.now > c->stats.longest_ns)
        c->stats.longest_ns = c->free_at - s->events.now;
    struct sim_frame *f = sim_frame_of(&s->frames, frame, length);
    f->epoch = c->life;
    sim_at(&s->events, c->free_at, cpu_handle, c, f);
}

static void cpu_enter(void *who, void *what) {
    struct sim_cpu *c = who;
    struct sim_frame *f = what;
    if (f->epoch == c->life && c->on) {
        c->leaving--;
        node_give(c->node, f->bytes, f->length);
        node_run(c->node);
    }
    sim_frame_put(&c->node->sim->frames, f);
}

bool cpu_give(struct sim_cpu *c, const uint8_t *frame, uint32_t length) {
    struct sim *s = c->node->sim;
    if (c->leaving == c->frames || length > SIM_MAX_FRAME) {
        c->stats.refused++;
        return false;
    }
    c->leaving++;
    c->stats.given++;
    struct sim_frame *f = sim_frame_of(&s->frames, frame, length);
    f->epoch = c->life;
    sim_at(&s->events, s->events.now + c->delay_ns, cpu_enter, c, f);
    return true;
}

void cpu_slow(struct sim_cpu *c, uint64_t service_ns) {
    struct sim *s = c->node->sim;
    c->service_ns = service_ns ? service_ns : c->usual_ns;
    sim_trace_add(&s->trace, s->events.now, "CPU port", service_ns ? "is slow" : "is as usual",
                  NULL, 0);
}

uint64_t cpu_answer_ns(const struct sim_cpu *c) {
    const uint64_t now = c->node->sim->events.now;
    return (c->free_at > now ? c->free_at - now : 0) + c->service_ns + 2 * c->delay_ns;
}

bool cpu_conserves(const struct sim_cpu *c) {
    return c->stats.taken == c->stats.handled + c->stats.lost + c->stats.dropped + c->waiting;
}

json_t *cpu_result(const struct sim_cpu *c) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "taken", (json_int_t)c->stats.taken,
                     "handled", (json_int_t)c->stats.handled, "lost", (json_int_t)c->stats.lost,
                     "dropped", (json_int_t)c->stats.dropped, "given", (json_int_t)c->stats.given,
                     "refused", (json_int_t)c->stats.refused, "longest_us",
                     (double)c->stats.longest_ns / 1000);
}
