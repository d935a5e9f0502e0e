// SPDX-License-Identifier: Apache-2.0
//
// keyvalue.h: the sums of a sparse model's parameters, pushed and pulled by key, in real time.
//
// A job of Libra (p4/libra) has workers, a switch, which has the sums of the hot parameters, and
// parameter servers, which have the others. A worker pushes and pulls; which parameter is where is
// no concern of the caller's:
//
//      struct silken_kv_config config;
//      struct silken_kv *kv;
//      uint64_t request;
//      char why[256];
//
//      silken_kv_config_init(&config);
//      config.job = 1, config.worker = 0, config.workers = 4, config.keys = 100000, ...
//      if (silken_kv_open(&kv, &config, why, sizeof why) != 0)
//          say why;
//      silken_kv_push_f32(kv, keys, values, NULL, n, &request);
//      silken_kv_wait(kv, request);
//      silken_kv_pull_f32(kv, keys, values, NULL, n, &request);
//      silken_kv_wait(kv, request);
//      silken_kv_barrier(kv);
//      silken_kv_close(kv);
//
// KEYS are numbers below config.keys, ascending in a call, each once. A key has a vector of up to
// config.width values, each of which is a parameter: value i of key k is parameter
// k * width + i, and that is what a layout (`silken libra profile`) names. 'lens' says how many
// values each key has in a call; NULL: width. Values of all keys stand one after the other.
//
// SUMS. A push adds to the parameters; they begin as 0. A sum of a cold parameter is in double
// precision. One of a hot parameter is what the switch's tables make of it: each addition is within
// 4e-4 of the larger operand, and within 1.1e-4 of the sum if the signs are the same. Nothing is
// lost and nothing added twice, whatever the network does; but see CRASH in
// hosts/libra/server.h.
//
// OPTIMISER. A server with 'optimiser' keeps weights instead of sums. Of hot parameters the switch
// has the sum of what was pushed since the server collected it last, which it does before it
// answers a pull; that sum is one value for the optimiser. All members say 'optimised', and
// 'switch_cpu' if there is a layout.
//
// TIME. Nobody waits for anybody: a pull sees what has been pushed until then, and surely what this
// worker has pushed and waited for. With a barrier after its pushes, and one before the next, a job
// is synchronous. All work is done within the calls; a caller that computes for long calls
// silken_kv_poll() now and then, which answers what has come and repeats what was lost.
//
// END. Without an answer for hard_limit_ms all calls fail with SILKEN_ERR_STALLED.
//
// A worker, or a server, belongs to one thread at a time. Results are 0 or an error code
// (silken/error.h). Buffers are the caller's; keys and values of a push are copied, those of a pull
// are written until it is complete.
#ifndef SILKEN_KEYVALUE_H
#define SILKEN_KEYVALUE_H

#include <stddef.h>
#include <stdint.h>

#include "silken/allreduce.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) // what libsilken exports

// A server's handler: the weight of a parameter after the value was pushed to it, or the sum of
// several values. Weights begin as 0. It is called within silken_kv_server_run().
typedef double silken_kv_optimiser(void *aux, uint64_t parameter, double weight, double value);

// A switch that adds, and which parameters it has.
struct silken_kv_switch {
    struct silken_address address;
    const char *layout; // a file
};

// What workers and servers of a job say alike, and who one is.
struct silken_kv_config {
    uint8_t job;
    uint32_t workers;   // 1 to 64
    uint32_t worker;    // this one's number; of a server: its own among the servers
    uint64_t keys;      // of the job
    uint32_t width;     // values of a key at most
    const char *layout; // a file; NULL: there are no hot parameters, and no switch that adds
    const char *device; // as in silken/allreduce.h
    struct silken_address self; // its station
    struct silken_address switch_address;
    // Several racks: workers name the switches of the others here, 0 to 15. The layouts are of one
    // job and epoch, and no parameter is in two of them. A server names one switch, which has hot
    // parameters of the server's range.
    uint32_t more_switches;
    const struct silken_kv_switch *more_switch;
    uint32_t servers; // 1 to 16; they share the parameters equally, in order
    const struct silken_address *server;
    uint32_t first_sequence; // above all that this worker's predecessors have used
    uint32_t hard_limit_ms;
    int switch_cpu; // not 0: the switch's CPU has a part in the job (control/libra): it repeats
                    // answers until they are acknowledged, and servers may collect
    // With switch_cpu: a number for each time that the job begins, the same for all its members. A
    // member that comes back is told by the switch where its sequence numbers go on
    // (first_sequence is for links to servers then); one of another incarnation is refused until
    // the job is removed and added again (`silken ctl job`), since the switch has its sums still.
    uint32_t incarnation;
    // Of a job whose servers do more than add: see OPTIMISER. Workers say whether there is one;
    // servers which.
    int optimised; // not 0: workers pull all parameters from servers
    silken_kv_optimiser *optimiser;
    void *optimiser_aux;
};

// One worker, one server, one value for a key; 10 seconds.
void silken_kv_config_init(struct silken_kv_config *config);

struct silken_kv_stats {
    uint64_t sent, repeated; // packets
    uint64_t hot, cold;      // pairs of requests that are complete: at the switch, at servers
    uint64_t left;           // pairs that the switch gave back, as others came between
    uint64_t ignored;        // packets that were not for it, damaged or late
};

// ---- a worker ----

struct silken_kv;
// SILKEN_ERR_INVALID, SILKEN_ERR_NOMEM, SILKEN_ERR_TRANSPORT, with switch_cpu also
// SILKEN_ERR_REFUSED (another incarnation) and SILKEN_ERR_STALLED (the switch does not answer),
// with a sentence in 'why'.
int silken_kv_open(struct silken_kv **kv, const struct silken_kv_config *config, char *why,
                   size_t why_cap);
void silken_kv_close(struct silken_kv *kv); // NULL allowed; what is not complete is given up

// Begin a request, whose number is in '*request'. SILKEN_ERR_INVALID: keys are not ascending, too
// large, or a length is above the width; nothing is sent then.
int silken_kv_push_f32(struct silken_kv *kv, const uint64_t *keys, const float *values,
                       const uint32_t *lens, size_t n, uint64_t *request);
int silken_kv_pull_f32(struct silken_kv *kv, const uint64_t *keys, float *values,
                       const uint32_t *lens, size_t n, uint64_t *request);
// A push, and after it a pull of the same parameters.
int silken_kv_push_pull_f32(struct silken_kv *kv, const uint64_t *keys, const float *values,
                            float *sums, const uint32_t *lens, size_t n, uint64_t *request);
// Until the request is complete.
int silken_kv_wait(struct silken_kv *kv, uint64_t request);
// Until all workers of the job have called it as often.
int silken_kv_barrier(struct silken_kv *kv);
// Until all workers have called it; servers learn that it is over (silken_kv_server_finished). No
// other call may follow but silken_kv_stats() and silken_kv_close().
int silken_kv_finish(struct silken_kv *kv);
int silken_kv_poll(struct silken_kv *kv);
void silken_kv_stats(const struct silken_kv *kv, struct silken_kv_stats *stats);

// ---- a server ----

struct silken_kv_server;
int silken_kv_server_open(struct silken_kv_server **server, const struct silken_kv_config *config,
                          char *why, size_t why_cap);
void silken_kv_server_close(struct silken_kv_server *server); // NULL allowed
// Answers for so long. SILKEN_ERR_STALLED: the switch does not answer; SILKEN_ERR_OVER: what the
// server has collected is lost, on the way here and at the switch's CPU.
int silken_kv_server_run(struct silken_kv_server *server, uint32_t milliseconds);
// Not 0: all workers have called silken_kv_finish(). Acks to some of them may have been lost: a
// server answers for half a second more.
int silken_kv_server_finished(const struct silken_kv_server *server);
// The sum, or weight, of one of its parameters.
double silken_kv_server_sum(const struct silken_kv_server *server, uint64_t parameter);
size_t silken_kv_server_parameters(const struct silken_kv_server *server); // that were pushed

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
