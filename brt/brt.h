// SPDX-License-Identifier: Apache-2.0
//
// brt: the BF Runtime service of a running switch: what controllers of a Tofino speak, by gRPC.
//
//     struct brt *b = brt_new(&host);
//     brt_run_programs(b, sw, &description, 1, &err);    // and again when another program runs
//     brt_listen(b, &(struct brt_listen_options){.address = "127.0.0.1:50052"}, &err);
//     poll() until brt_fd(b) is readable or brt_due(b) has come; then brt_poll(b, now);
//
// Tables, keys, actions and fields are named by ids, which clients take from the two descriptions
// that GetForwardingPipelineConfig returns: the program's own, and that of the tables that every
// switch has. A client subscribes on a stream, binds itself to the program (one client at a time
// owns it), and reads and writes; one that does neither names the program in each call. A switch
// may run several programs, each in pipes of its own (pipeline/program.h). Statuses are those of
// the chip's driver (status.h). Nothing that a client sends becomes a path or is run.
//
// Thread-safety: the control thread. Packets wait while entries are written or what packets change
// is read, in slices (control/tables/pauses.h).
//
// Files:
//
//     bfruntime.proto   the messages; status.proto: details of an error
//     server.c          the service on a socket (rpc/rpc.h)
//     service.c         its calls: bytes in, bytes out
//     session.c         clients: streams, binding
//     program.c         programs that clients send: warm starts
//     package.c         tofino.bin, in which such a program comes (package.h)
//     schema.c          the program's tables by their ids
//     change.h          updates with ids and bytes resolved: what P4Runtime's service uses
//     value.c           values between the wire and words
//     entry.c           entries of tables, as messages and back
//     cells.c           cells of counters, meters and registers
//     copy.c            what the chip's driver would have of counts and cells
//     groups.c          groups of action selectors
//     value_sets.c      the pipes and parsers that have a value
//     hashes.c          hashes that can be changed
//     port_metadata.c   metadata of ports
//     snapshot.c        snapshots of packets, and snapshot_read.c: them as messages (snapshot.h)
//     attributes.c      attributes of tables, and operations
//     notify.c          digests and idle entries
//     write.c           updates
//     undo.c            takes updates back
//     apply.c           updates of match tables and value sets, between packets
//     read.c            reads
//     status.c          errors
//     memory.c          memory of one call
//     fixed/            the tables that every switch has (fixed/fixed.h)
#ifndef SILKEN_BRT_BRT_H
#define SILKEN_BRT_BRT_H

#include "control/tables/control.h"
#include "control/tables/idle.h"
#include "pipeline/program.h"
#include "rpc/rpc.h"

struct brt_port {
    bool link;
    uint32_t speed_mbps; // 0: not known
};

#define BRT_NAME SK_PROGRAM_NAME // bytes of a program's or a pipeline's name, at most

// A program as clients see it.
struct brt_description {
    const char *name, *schema; // JSON
    const char *text; // preprocessed P4, which GetForwardingPipelineConfig sends as a binary
};

// What a packet must have: a header's field, or its "$valid", and "VALUE &&& MASK".
#define BRT_SNAPSHOT_FIELDS 16u
struct brt_snapshot_field {
    const char *name, *value;
};

// A program that a client sends: preprocessed P4 text, in which nothing is trusted, and a name of
// letters, digits, '_' and '-'. Of several, each says which pipes (bits) which of its pipelines is
// in.
struct brt_profile {
    char name[BRT_NAME + 1]; // of a pipeline
    uint32_t pipes;          // bits
};
struct brt_sent {
    const char *name;
    const uint8_t *text; // n bytes
    size_t n;
    const struct brt_profile *profiles;
    size_t n_profiles;
};

// What the process does for it. 'aux' goes to each.
struct brt_host {
    void (*pause)(void *aux); // all cores wait; null, like the others: nobody runs them
    void (*resume)(void *aux);
    void (*resume_same)(void *aux); // nothing was changed
    bool (*idle)(void *aux);        // control/tables/pauses.h; or null
    // The device of a port; false: it has none. Null: no port has one.
    bool (*port)(void *aux, uint16_t port, struct brt_port *out);
    // In a pause. Of a port without a device it says so in the log.
    void (*enable_port)(void *aux, uint16_t port, bool enabled);
    // Programs that clients send; null: it takes none. Those of one request at a time.
    //
    // Begins to compile programs for one switch beside the running one. -1 with a sentence: not
    // now.
    int (*compile_programs)(void *aux, const struct brt_sent *sent, size_t n, struct sk_error *err);
    // 1: not yet; 0: 'sw' is a switch of those programs, without packets, and described[0 .. n)
    // have their schemas and texts, all the host's, until it is told to run or to forget them; -1
    // with a sentence.
    int (*compiled_programs)(void *aux, struct sk_switch **sw, struct brt_description *described,
                             struct sk_error *err);
    // That switch and the running one exchange programs and all that controllers set, and packets
    // go on. It does not call brt_run_programs(). -1 with a sentence: nothing changed.
    int (*run_programs)(void *aux, struct sk_error *err);
    void (*forget_programs)(void *aux); // after any of these: what is left of it is freed
    // Snapshots (brt/snapshot.h); null: none are taken. At most one at a time.
    //
    // Could a packet have these values? -1 with a sentence.
    int (*snapshot_check)(void *aux, const struct brt_snapshot_field *fields, size_t n,
                          struct sk_error *err);
    // Begins to wait for the next packet from a port of these pipes (bits) whose headers have these
    // values, as ingress' parser finds them. -1 with a sentence: not now.
    int (*snapshot_arm)(void *aux, uint8_t pipes, const struct brt_snapshot_field *fields, size_t n,
                        struct sk_error *err);
    // 1: not yet; 0: 'text' is its way, a JSON object a line (pipeline/observe/tracer.h), which the
    // caller frees; -1: it does not wait any more.
    int (*snapshot_look)(void *aux, char **text);
    void (*snapshot_drop)(void *aux); // after either, or in place of it
    void *aux;
};

struct brt;

struct brt *brt_new(const struct brt_host *host);
// The switch runs these programs (one to SK_PIPES) from now on, in the order of sk_program_join().
// Clients that were bound to those before are cancelled; a warm start that has begun is given up.
// -1 with a sentence: calls are refused until there is a program again. The texts are copied.
int brt_run_programs(struct brt *b, struct sk_switch *sw, const struct brt_description *d, size_t n,
                     struct sk_error *err);
// What the switch has to tell: digests, and entries that became idle or were matched again. Only
// when a client wants them.
bool brt_wants_digests(const struct brt *b);
void brt_digests(struct brt *b, const struct sk_digest *digests, size_t n);
bool brt_wants_idle(const struct brt *b);
void brt_idle(struct brt *b, const struct sk_idle_event *event);
// A client has said that the table's entries are those of single pipes.
bool brt_is_asymmetric(const struct brt *b, const struct sk_table_desc *table);
uint64_t brt_lost(const struct brt *b); // notifications that a client did not take in time
void brt_free(struct brt *b);           // null allowed; ends all calls

// ---- on a socket ----
struct brt_listen_options {
    const char *address; // as in struct rpc_options
    const char *certificate, *key, *client_authority;
};
int brt_listen(struct brt *b, const struct brt_listen_options *options, struct sk_error *err);
// As of struct rpc_server.
int brt_fd(const struct brt *b);
uint64_t brt_due(const struct brt *b);
void brt_poll(struct brt *b, uint64_t now_ns);
uint16_t brt_port(const struct brt *b);

#endif
