// SPDX-License-Identifier: Apache-2.0
//
// libra_impl: what the files of control/libra share.
#ifndef SILKEN_CONTROL_LIBRA_LIBRA_IMPL_H
#define SILKEN_CONTROL_LIBRA_LIBRA_IMPL_H

#include "control/libra/libra.h"
#include "control/sessions/left.h"
#include "hosts/core/timers.h"
#include "hosts/libra/layout.h"
#include "hosts/libra/worker.h"

// Of p4/libra/admission.p4.
#define LIBRA_S_CELLS   16384u
#define LIBRA_S_WINDOWS SESSIONS_RECORDS_MOST // members of all jobs
#define LIBRA_S_WINDOW  LIBRA_WINDOW_MOST

#define LIBRA_S_NAME    64u
#define LIBRA_S_JOBS    16u
#define LIBRA_S_NUMBERS 256u // of jobs
#define LIBRA_S_SERVERS 16u
#define LIBRA_S_PORT    0xbec2u // UDP, from which pushes to servers come
#define LIBRA_S_MS      UINT64_C(1000000)

enum { LIBRA_S_RIGHT_COLLECT = 1, LIBRA_S_RIGHT_CPU = 2 }; // of p4/libra/headers.p4

// A worker or server of a job, as a worker of the switch.
struct libra_s_member {
    struct sk_endpoint end; // UDP port 0: any
    bool has_mac, server;
    uint16_t port;            // of the switch
    uint16_t window;          // of records: 0 to LIBRA_S_WINDOWS - 1
    struct sk_endpoint heard; // where its frames came from; UDP port 0: none did
    unsigned tell;            // LIBRA_MOVED or LIBRA_ENDED, until it has heard; 0: nothing
    unsigned tell_tries;
    uint64_t tell_at;
};

struct libra_s_stats {
    uint64_t copies, acks;      // of answers; that were new, and that freed one
    uint64_t repeated;          // answers that were sent again
    uint64_t given_up;          // copies of pulls that nobody acknowledged
    uint64_t lost;              // collects whose answer is not here
    uint64_t rests, rest_pairs; // pushes whose tries were used up
    uint64_t rests_done;        // that servers have acknowledged
    uint64_t joined, refused;   // members that began
};

struct libra_s_job {
    char name[LIBRA_S_NAME];
    struct libra_layout layout;
    uint32_t workers, servers, cell_base, cells;
    struct libra_s_member *members; // workers, then servers; owned
    uint64_t parameters;
    uint16_t epoch;       // on this switch: the layout's, or of the last move
    bool held;            // nobody is admitted
    bool waits;           // nor here: what a removed job has left may still come
    bool entered;         // somebody was admitted
    bool loading;         // its state is not whole yet
    uint64_t last;        // when it was held, or the last frame of it came after that
    uint32_t incarnation; // of those that have joined
    bool began;
    struct libra_worker *link[LIBRA_S_SERVERS]; // to servers
    struct libra_s_stats stats;
    struct libra_s_job *next;
};

struct libra_s_copy {
    uint8_t *frame; // null: none; LIBRA_FRAME_BYTES; owned
    uint32_t sequence, tries;
};

// Of a removed job's number: what of that job may still come to the CPU.
struct libra_s_late {
    bool is;
    unsigned passes;        // that its packets have made at least since it was removed
    uint64_t looked, since; // of late.c
    uint64_t mark;          // the first frame that comes after the last of its; 0: not yet
};

struct libra_s {
    struct libra_s_host host;
    struct sk_endpoint end; // the switch's
    uint32_t shares;
    struct libra_s_job *jobs;
    struct libra_s_copy *copies; // by window and sequence number
    struct sk_timers timers;     // the same
    size_t n_copies;
    struct sessions_lefts left; // by jobs that were removed
    struct libra_s_late late[LIBRA_S_NUMBERS];
    uint64_t secret, marks; // of late.c's frames; how many were sent
    uint64_t look_at;       // at what is left, and late
    uint64_t now;
    uint64_t frames, bad,
        lost;         // from the switch; of them not understood; not sent for want of room
    bool writes_macs; // the switch's own address is forwarded to the CPU port
};

// A frame of p4/libra from the switch, whose headers are whole.
struct libra_s_frame {
    const uint8_t *bytes;
    uint32_t length;
    unsigned kind;
    uint32_t sequence, clock;
    struct libra_s_job *job;
    struct libra_s_member *member;
};

void libra_s_send(struct libra_s *l, const uint8_t *frame, uint32_t length);
struct sessions_switch libra_s_switch(const struct libra_s *l);
void libra_s_pause(struct libra_s *l);
void libra_s_resume(struct libra_s *l);
// To the member, with the kind: 58 bytes. 'tell_at': not as a reply, but to 'to'.
void libra_s_tell_at(struct libra_s *l, const struct libra_s_frame *f, const struct sk_endpoint *to,
                     unsigned kind, uint32_t clock);
void libra_s_tell(struct libra_s *l, const struct libra_s_frame *f, unsigned kind, uint32_t clock);

// copies.c
void libra_s_copies_take(struct libra_s *l, const struct libra_s_frame *f);
void libra_s_copies_ack(struct libra_s *l, const struct libra_s_frame *f);
void libra_s_copies_ask(struct libra_s *l, const struct libra_s_frame *f);
void libra_s_copies_run(struct libra_s *l);
void libra_s_copies_forget(struct libra_s *l, unsigned window);

// rests.c
bool libra_s_rests_open(struct libra_s *l, struct libra_s_job *j); // false: no memory
void libra_s_rests_close(struct libra_s_job *j);
void libra_s_rests_take(struct libra_s *l, const struct libra_s_frame *f);
bool libra_s_rests_read(struct libra_s *l, const uint8_t *frame, uint32_t length);
void libra_s_rests_run(struct libra_s *l);
uint64_t libra_s_rests_deadline(const struct libra_s *l);
size_t libra_s_rests_waiting(const struct libra_s *l);

// late.c
void libra_s_late_add(struct libra_s *l, unsigned number);
bool libra_s_late_is(const struct libra_s *l, unsigned number);
bool libra_s_late_any(const struct libra_s *l);
void libra_s_late_look(struct libra_s *l);
// False: it is another frame.
bool libra_s_late_read(struct libra_s *l, const uint8_t *frame, uint32_t length);

// jobs.c
struct libra_s_job *libra_s_job_named(struct libra_s *l, const char *name);
// Places and admits what was read; 0, or negative with a sentence and nothing changed. Takes the
// job over if it is 0.
int libra_s_job_add(struct libra_s *l, struct libra_s_job *j, struct sk_error *err);
void libra_s_job_remove(struct libra_s *l, struct libra_s_job *j);
void libra_s_job_free(struct libra_s_job *j); // null allowed
void libra_s_job_join(struct libra_s *l, const struct libra_s_frame *f);
void libra_s_jobs_run(struct libra_s *l); // admits those that nothing of a removed one disturbs
uint64_t libra_s_jobs_deadline(const struct libra_s *l);
int libra_s_own_address(struct libra_s *l, struct sk_error *err); // forwards it to the CPU port

void libra_s_job_withdraw(struct libra_s *l, struct libra_s_job *j); // removes it, without freeing
void libra_s_job_hold(struct libra_s *l, struct libra_s_job *j);
// One that waits is admitted later.
int libra_s_job_admit(struct libra_s *l, struct libra_s_job *j, struct sk_error *err);
bool libra_s_has_floats(const struct libra_s *l);
// The register of 16 (p4/libra: of floats lane r mod 2 has eight).
void libra_s_cells_name(const struct libra_s *l, unsigned r, char *name, size_t size);

// migrate.c
// The job as text. 'anyway': also while pushes are being added. Null with a sentence.
json_t *libra_s_save(struct libra_s *l, const struct libra_s_job *j, bool anyway,
                     struct sk_error *err);
// Adds the job with what another switch has saved; nobody is admitted yet. 0, or negative with a
// sentence and nothing added.
int libra_s_load(struct libra_s *l, struct libra_s_job *j, const json_t *state,
                 struct sk_error *err);
// A state without "registers" comes in parts: {"index", "text"}, one of them, or {"copies"}; and at
// the end its digest, without which nobody is admitted. 0, or negative with a sentence.
int libra_s_put(struct libra_s *l, struct libra_s_job *j, const json_t *part, struct sk_error *err);
int libra_s_check(struct libra_s *l, struct libra_s_job *j, const char *digest,
                  struct sk_error *err);
void libra_s_migrate_tell(struct libra_s *l, struct libra_s_job *j, unsigned kind);
void libra_s_migrate_run(struct libra_s *l);
uint64_t libra_s_migrate_deadline(const struct libra_s *l);
void libra_s_migrate_heard(const struct libra_s_frame *f);

// jobs_read.c: null after the document has failed.
struct libra_s_job *libra_s_job_read(const struct libra_s *l, const struct sk_at *at);
bool libra_s_section_read(struct libra_s *l, const struct sk_at *at);

// show.c
json_t *libra_s_job_json(struct libra_s *l, const struct libra_s_job *j);
json_t *libra_s_status(struct libra_s *l);

#endif
