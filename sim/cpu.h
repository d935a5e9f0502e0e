// SPDX-License-Identifier: Apache-2.0
//
// cpu: a program at a switch's CPU port, in virtual time.
//
// A frame that the switch sends to the port arrives after 'delay_ns' and waits until the program
// has handled those before it, each in 'service_ns'; what comes while 'frames' wait is lost, and
// counted. Frames to the switch take the same delay, and as many may be on their way. The program
// is called when a frame has been handled, and when its deadline has come.
//
//     taken = handled + lost + dropped + waiting                    always
//
// 'dropped' are those that waited when the switch was restarted.
//
// Concurrency: belongs to one thread.
#ifndef SILKEN_SIM_CPU_H
#define SILKEN_SIM_CPU_H

#include "sim/sim.h"

struct sim_cpu_program {
    void (*frame)(void *aux, const uint8_t *frame, uint32_t length, uint64_t now);
    void (*run)(void *aux, uint64_t now); // does what is due
    uint64_t (*deadline)(void *aux);      // when there is something to do next; SIM_NEVER
    void (*free)(void *aux);
    void *aux;
};
struct sim_cpu_stats {
    uint64_t taken, handled, lost, dropped; // from the switch
    uint64_t given, refused;                // to the switch; refused: too many were on their way
    uint64_t longest_ns;                    // from the switch until it was handled
};
struct sim_cpu {
    struct sim_node *node;
    struct sim_cpu_program program;
    bool on;
    uint64_t delay_ns, service_ns, usual_ns; // usual: when it is not slow
    uint32_t frames, waiting, leaving;
    uint32_t life;    // how often it was switched on
    uint64_t on_at;   // when it was switched on last
    uint64_t free_at; // when the last frame that waits is handled
    struct sim_timer timer;
    struct sim_cpu_stats stats;
};

// The node's CPU port, with the rates of its scenario; nothing runs there.
struct sim_cpu *cpu_new(struct sim_node *n, const struct scn_station *as, uint64_t seed);
void cpu_free(struct sim_cpu *c); // null allowed
// The program runs; cpu_off() frees it.
void cpu_on(struct sim_cpu *c, const struct sim_cpu_program *program);
void cpu_off(struct sim_cpu *c);
// The switch has sent a frame there.
void cpu_take(struct sim_cpu *c, const uint8_t *frame, uint32_t length);
// The program sends one. False: there is no room.
bool cpu_give(struct sim_cpu *c, const uint8_t *frame, uint32_t length);
// The program was given something to do by somebody else: it runs.
void cpu_turn(struct sim_cpu *c);
// From now on a frame takes so long; 0: as usual.
void cpu_slow(struct sim_cpu *c, uint64_t service_ns);
// How long a question to the program takes now until it is answered.
uint64_t cpu_answer_ns(const struct sim_cpu *c);
bool cpu_conserves(const struct sim_cpu *c);
json_t *cpu_result(const struct sim_cpu *c);

#endif
