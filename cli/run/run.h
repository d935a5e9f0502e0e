// SPDX-License-Identifier: Apache-2.0
//
// run: the inside of `silken run`, shared by its files. Nobody else includes it.
//
//     cli/run.c        the command line, and the way from start to end
//     start.c          configuration, program, switch, ports, lcores: made in this order
//     control.c        the control thread: socket, digests, idle entries, links, rates
//     ports.c          ports, from the configuration's to those that come and go
//     service.c        a daemon's things: systemd, the process's number, its rights
//     program.c        the program: which it is, compiled, replaced
//     compiler.c       a compilation, which is a process of its own
//     builder.c        the compilations of several programs, one after another
//     reload.c         the configuration read again
//     requests.c       what the control socket is asked of the process, and not of the switch
//     print.c          what is printed
//     record.c         a switch that records itself; journal.c: what its ToR does, as notes in that
//     watch.c          metrics, telemetry, alarms
//     page.c           the page for browsers: what is asked for, who follows
//     page_events.c    what its events say (page_impl.h); page.html, .css, .js, icon.svg: the page
//     tor.c            the control plane of the ToR
//     jobs.c           the job service
//     published.c      the service for the published SwitchML client
//     sessions.c       sessions of jobs in a switch without one
//     libra.c          Libra_s
//     trace.c          the way of single packets
//     sample.c         sFlow
//     brt.c            BF Runtime's controllers; p4rt.c: P4Runtime's; client_program.c: programs
//                      that the former send
//
// The lcores run the pipes and do nothing else; the first of them is the main thread. All other
// work is done on the control thread, one piece after the other, so that what is here needs no
// locks: while the control thread runs, all of struct run is its own, but for 'sw' and 'ports',
// which lcores read in their turns and which therefore change only while they pause.
#ifndef SILKEN_CLI_RUN_RUN_H
#define SILKEN_CLI_RUN_RUN_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "cli/run/record.h"
#include "compiler/compile.h"
#include "control/socket/requests.h"
#include "control/socket/socket.h"
#include "pipeline/cores/lcores.h"
#include "pipeline/ports/ports.h"
#include "pipeline/observe/tracer.h"
#include "pipeline/observe/violations.h"

// What the command line says.
struct run_options {
    const char *config_path;
    const char *record_path; // or null
    struct sk_ports_options ports;
    unsigned n_lcores; // 0: as the configuration has it
    int cpus[SK_PIPES];
    size_t n_cpus;
    const char *user, *pid_file, *log; // or null
    const char *target;                // of the program's compilation, or null
    long idle_sleep_us;                // -1: as the configuration has it
    bool stats, checked, trace;
    bool strict; // the switch's 'single_packets'
    enum sk_trace_form trace_form;
};

#define RUN_DIGESTS 256u // read in one pause

struct run_control {
    pthread_t thread;
    atomic_bool ended; // the lcores are, or never were
    uint64_t watchdog_due, server_due, jobs_due, stats_due, stats_from, idle_due, links_due,
        reopen_due;
    uint64_t watchdog_ns; // between two answers to systemd; 0: it does not ask
    uint64_t worked;      // when there was something to do last
    uint64_t looked;      // at the control socket
    bool is_unasked; // the last wait would have ended for the control socket, and did for others
    struct sk_digest_reader digests;
    uint64_t digests_lost; // told to the listeners
    struct sk_switch_stats last;
    struct sk_digest read[RUN_DIGESTS];
    bool gone[SK_PORTS]; // whose interface was deleted: there is an alarm
    bool reloading;      // by a signal: its program is being compiled
    uint64_t client;     // whose request is being answered; 0: nobody's
    unsigned n_changes;  // of links
    struct {
        uint16_t port;
        bool up;
    } changes[SK_PORTS];
};

// Messages that controllers did not take: how many when it was said last, and when it may be said
// again.
struct run_lost {
    uint64_t n, due;
};

struct run {
    cpu_set_t anywhere;     // the processors that the process was given
    struct run_options opt; // with what the configuration says filled in, when there is one
    struct sk_config *config;
    struct sk_program *program;
    struct run_source *source; // of the program
    struct sk_switch *sw;
    uint64_t hash_secret; // of its tables and of the ToR's
    struct sk_ports *ports;
    struct sk_config_port
        *port_list; // n_port_list of them, with texts of their own: what 'ports' has
    size_t n_port_list;
    struct sk_server *server; // null: no control socket
    struct sk_lcores *lcores;
    struct run_compiling *compiling; // or null
    struct tor_log *log;             // its socket; null: none
    char *pid_file;                  // written; or null
    struct sk_recording *recording;
    struct run_record *record;
    struct run_journal *journal; // of the ToR's control plane; null: nothing is recorded
    uint64_t configured_at;
    struct sk_violations *violations;
    struct sk_tracer *tracer;
    struct run_control control;
    struct run_watch *watch;
    struct run_page *page;                     // null: the configuration has none
    struct tor *tor;                           // null: the configuration has none
    struct libra_s *libra;                     // null: the configuration has none
    struct service *service;                   // of jobs; null: the configuration has none
    struct published *published;               // null: the configuration has none
    struct published_tables *job_tables;       // of the job service without a ToR; or null
    struct published_tables *published_tables; // the same; null also with a ToR
    uint64_t published_removed; // when a job of a ToR was taken away last, until nothing of it is
                                // under way; or 0
    struct sessions *sessions;  // null: the configuration has none
    struct run_sample *sample;  // null: no samples are taken
    struct run_trace *trace;    // null: none was asked for, or it is over
    struct brt *brt;            // null: the configuration has none
    struct run_client_program *client_program; // that a controller sent; null: none waits
    // a controller's program came, and the configuration's groups and sessions went
    bool copies_gone;
    struct run_lost brt_lost, p4rt_lost;
    struct p4rt *p4rt; // null: the configuration has none
};

// The switch's clock: the time of day when the process began, and from there on without any jumps,
// so that captures have dates and a replay of them has the same times.
void run_clock_start(void);
uint64_t run_now(void);

// Prints the sentence to standard error; false.
bool run_say(const char *sentence);

// ---- start.c
// Null with a sentence. Once there is a configuration, of a regular file alone: a running switch
// waits for nobody.
struct sk_config *run_read_config(const struct run *r, struct sk_error *err);
// Everything but the threads. False after a sentence.
bool run_start(struct run *r);
// Paths in the configuration are relative to it: the path from here, malloc'ed.
char *run_beside_config(const struct run *r, const char *path);

// ---- control.c
// False after a sentence. The thread ends, and with it the lcores, when run_stop() was called.
bool run_control_start(struct run *r);
void run_control_end(struct run *r); // the lcores have ended
void run_stop(int signal_number);    // a signal handler
void run_hang_up(int signal_number); // another: the configuration is read again
bool run_is_stopped(void);           // run_stop() was called
void run_pause(void *run);
void run_resume(void *run);
bool run_idle(void *run);                   // the lcores sleep
struct sk_pauses run_pauses(struct run *r); // for reading in slices
void run_resume_same(void *run); // nothing was changed meanwhile: flow caches keep what they have

struct sk_service run_service(struct run *r, uint64_t now);

// ---- watch.c
bool run_watch_start(struct run *r);    // false after a sentence
void run_watch_reloaded(struct run *r); // there is another configuration
void run_watch_turn(struct run *r, uint64_t now);
void run_watch_look_now(struct run *r,
                        uint64_t now); // for alarms, which are looked for each second
// Hears every event; true: it was an alarm, which listeners are told of.
bool run_watch_event(struct run *r, const json_t *event);
json_t *run_watch_alarms(void *run); // struct sk_service's
json_t *run_watch_aggregators(void *run);
// A pause is wanted; all pipes wait; they go on.
void run_watch_pause_wanted(struct run *r);
void run_watch_paused(struct run *r);
void run_watch_resumed(struct run *r);
uint16_t run_watch_port(const struct run *r); // of the metrics; 0: none
void run_watch_end(struct run *r);

// ---- page.c
bool run_page_start(struct run *r); // false after a sentence
void run_page_turn(struct run *r, uint64_t now);
void run_page_program_changed(struct run *r); // another one runs
uint16_t run_page_port(const struct run *r);  // 0: there is no page
void run_page_end(struct run *r);

// ---- tor.c, all but the first on the control thread
bool run_tor_start(struct run *r); // false after a sentence
void run_tor_turn(struct run *r, uint64_t now);
void run_tor_digest(struct run *r, const struct sk_digest *digest);
void run_tor_link(struct run *r, uint16_t port, bool up);
void run_tor_ports_changed(struct run *r);
void run_tor_program_changed(struct run *r, bool kept); // while the switch pauses
// Nobody runs the switch any more, or listens: jobs that are removed from here on change tables
// alone.
void run_tor_stopped(struct run *r);
// Whether the section is good where there are such ports; and from now on it is, with the ports of
// now. 0, or negative with a sentence and nothing changed.
int run_tor_try(struct run *r, const struct sk_at *section, const struct sk_config_port *ports,
                size_t n_ports, struct sk_error *err);
// Whether all jobs of the section that are new in it can be placed, in a switch with the program.
// The same. Those that were added at run time are not considered.
int run_tor_try_jobs(struct run *r, const struct sk_at *section, const struct sk_program *program,
                     const struct sk_config_port *ports, size_t n_ports, struct sk_error *err);
int run_tor_reload(struct run *r, const struct sk_at *section, struct sk_error *err);
json_t *run_tor_request(struct run *r, const char *op, const struct sk_at *at, bool *known);
// The same without looking who it is for: null with a sentence. r->tor is there.
json_t *run_tor_ask(struct run *r, const char *op, json_t *request, struct sk_error *err);
// A link has changed for packets, which wait: before run_tor_link().
void run_tor_port(struct run *r, uint16_t port, bool up);
void run_tor_end(struct run *r); // frees

// ---- jobs.c, all but the first on the control thread
bool run_jobs_start(struct run *r); // after the ToR; false after a sentence
// The descriptor of the job service for poll(), readable when the service has something to do. -1
// if no service runs, or if it has used up its time for now.
int run_jobs_fd(const struct run *r, uint64_t now);
void run_jobs_turn(struct run *r, uint64_t now);
// The request 'op' was answered with 'result': what the service knows is added to a list of jobs;
// it is told of a job that was removed.
void run_jobs_answered(struct run *r, const char *op, const json_t *request, json_t *result);
struct sk_watch_control;
void run_jobs_count(const struct run *r, struct sk_watch_control *out); // for metrics
// The program was replaced.
void run_jobs_program_changed(struct run *r);
uint16_t run_jobs_port(const struct run *r); // 0: there is no service
void run_jobs_end(struct run *r);
struct admission_request;
struct admission_place;
struct admission_job;
// Of admission_ops, with the run as 'aux': jobs of the ToR.
int run_jobs_locate(void *aux, const struct admission_request *worker,
                    struct admission_place *place, struct sk_error *err);
void run_jobs_remove(void *aux, const char *name);
// 'more': members of the request for the job, borrowed; may be null.
int run_jobs_admit(struct run *r, struct admission_job *job, json_t *more, struct sk_error *err);

// ---- published.c, all but the first on the control thread
bool run_published_start(struct run *r); // false after a sentence
int run_published_fd(const struct run *r);
uint64_t run_published_wait(const struct run *r); // as run_brt_wait()
void run_published_turn(struct run *r);
// As run_sessions_program_changed().
void run_published_program_changed(struct run *r, bool kept);
json_t *run_published_request(struct run *r, const char *op, const struct sk_at *at, bool *known);
void run_published_count(const struct run *r, struct sk_watch_control *out); // for metrics
uint16_t run_published_port(const struct run *r);                            // 0: none
void run_published_end(struct run *r);

// ---- sessions.c and libra.c, all but the first on the control thread
bool run_libra_start(struct run *r); // false after a sentence
void run_libra_turn(struct run *r, uint64_t now);
json_t *run_libra_request(struct run *r, const char *op, const struct sk_at *at, bool *known);
void run_libra_end(struct run *r);

bool run_sessions_start(struct run *r); // false after a sentence
void run_sessions_turn(struct run *r, uint64_t now);
// The program was replaced, while the pipes pause. 'kept': all that was in registers.
void run_sessions_program_changed(struct run *r, bool kept);
json_t *run_sessions_request(struct run *r, const char *op, const struct sk_at *at, bool *known);
void run_sessions_end(struct run *r);

// ---- brt.c, all but the first on the control thread
bool run_brt_start(struct run *r); // false after a sentence
struct sk_config_controllers;
struct brt_listen_options;
// Listens where a section of the configuration says, with paths made absolute.
int run_controllers_listen(struct run *r, const struct sk_config_controllers *c,
                           int (*listen)(struct run *r, const struct brt_listen_options *options,
                                         struct sk_error *err),
                           struct sk_error *err);
// Says now and then how many messages clients have not taken in time.
void run_controllers_say_lost(const char *who, uint64_t lost, struct run_lost *said, uint64_t now);
int run_brt_fd(const struct run *r);        // for poll(); -1: nothing listens
uint64_t run_brt_wait(const struct run *r); // ns until it has something to do without being asked
void run_brt_turn(struct run *r);
void run_brt_program_changed(struct run *r);
bool run_brt_wants_digests(const struct run *r);
void run_brt_digests(struct run *r, const struct sk_digest *digests, size_t n);
bool run_brt_wants_idle(const struct run *r);
void run_brt_idle(struct run *r, const struct sk_idle_event *event);
bool run_brt_is_asymmetric(void *run, const struct sk_table_desc *table);
uint16_t run_brt_port(const struct run *r); // 0: none
void run_brt_end(struct run *r);

// ---- client_program.c: what struct brt_host has for programs that clients send; 'run' is it
struct brt_sent; // brt/brt.h
struct brt_description;
struct brt_snapshot_field;
int run_client_program_compile(void *run, const struct brt_sent *sent, size_t n,
                               struct sk_error *err);
int run_client_program_compiled(void *run, struct sk_switch **sw, struct brt_description *described,
                                struct sk_error *err); // of SK_PIPES
int run_client_program_run(void *run, struct sk_error *err);
void run_client_program_forget(void *run);
// ---- p4rt.c, all but the first on the control thread; before the end of brt.c's
bool run_p4rt_start(struct run *r); // after run_brt_start(); false after a sentence
int run_p4rt_fd(const struct run *r);
uint64_t run_p4rt_wait(const struct run *r);
void run_p4rt_turn(struct run *r);
void run_p4rt_program_changed(struct run *r); // after run_brt_program_changed()
bool run_p4rt_wants_digests(const struct run *r);
void run_p4rt_digests(struct run *r, const struct sk_digest *digests, size_t n);
bool run_p4rt_wants_idle(const struct run *r);
void run_p4rt_idle(struct run *r, const struct sk_idle_event *event);
uint16_t run_p4rt_port(const struct run *r);
void run_p4rt_end(struct run *r);

// ---- sample.c
bool run_sample_start(struct run *r); // after the ports; false after a sentence
void run_sample_turn(struct run *r, uint64_t now);
void run_sample_end(struct run *r);

// ---- trace.c
json_t *run_trace_start(struct run *r, const struct sk_at *at); // requests
json_t *run_trace_read(struct run *r, const struct sk_at *at);
json_t *run_trace_stop(struct run *r, const struct sk_at *at);
void run_trace_turn(struct run *r, uint64_t now);
void run_trace_disarm(struct run *r);                // before a port or the program goes away
void run_trace_left(struct run *r, uint64_t client); // the client is gone
void run_trace_end(struct run *r);                   // the lcores have ended
int run_snapshot_check(void *run, const struct brt_snapshot_field *fields, size_t n,
                       struct sk_error *err);
int run_snapshot_arm(void *run, uint8_t pipes, const struct brt_snapshot_field *fields, size_t n,
                     struct sk_error *err); // of struct brt_host, as the others
int run_snapshot_look(void *run, char **text);
void run_snapshot_drop(void *run);

// ---- ports.c
// False after a sentence. 'ports' then has what the configuration has.
bool run_open_ports(struct run *r);
void run_free_port_list(struct run *r);
// null: there is none
const struct sk_config_port *run_port_named(const struct run *r, const char *name);
const struct sk_config_port *run_port_of(const struct run *r, uint16_t port);
// Name and metadata as 'p' has them, of a port that is there. While the lcores run.
void run_describe_port(struct run *r, const struct sk_config_port *p);
// While the lcores run. 0, or negative with a sentence and nothing changed.
int run_add_port(struct run *r, const struct sk_config_port *p, struct sk_error *err);
int run_remove_port(struct run *r, uint16_t port, struct sk_error *err);
// Opens one port that waits, or whose interface was deleted and is there again. One port in a call,
// since opening may take a while. Returns false if no port can be opened.
bool run_reopen_port(struct run *r);
void run_follow_interfaces(struct run *r); // an alarm for each port whose interface was deleted
// A port that was removed and cannot be opened is in the list all the same, and waits.
void run_keep_port(struct run *r, const struct sk_config_port *p);
// Its device has a link, and nobody set it down.
bool run_link_is_up(const struct run *r, uint16_t port);
int run_enable_port(struct run *r, uint16_t port, bool enabled);

// ---- service.c
void run_notify(const char *what); // to systemd, if there is one that waits for it
void run_notify_reloading(void);
void run_watchdog_begin(struct run *r); // before the control thread
void run_watchdog(struct run *r, uint64_t now);
// Drops privileges after everything is open. False after a message.
bool run_service_start(struct run *r);
void run_service_end(struct run *r);

// ---- program.c
// A program for controllers of BF Runtime and of P4Runtime, as text; null: the configuration has
// none of these.
struct run_description {
    char *bfrt, *text, *p4info; // BF Runtime's, the preprocessed P4 text, P4Runtime's
};
// Which program: file, folders, macros; or several, each with its pipes, of which this is the
// first. As the configuration says, or (path not null) with another file.
struct run_source *run_source_new(const struct run *r, const struct sk_config *config,
                                  const char *path);
// Of texts that are preprocessed already, and that nobody vouches for: each the file NAME.p4 in a
// folder of the process's own, which goes with the source. Null with a sentence.
struct run_source *run_source_sent(const struct run *r, const struct brt_sent *sent, size_t n,
                                   struct sk_error *err);
struct run_source *run_source_copy(const struct run_source *s);
void run_source_free(struct run_source *s); // with those after it; null allowed
bool run_source_same(const struct run_source *a,
                     const struct run_source *b); // files, folders, macros and pipes
const struct compile_options *run_source_options(const struct run_source *s);
// Of several the next; null: it is the last.
struct run_source *run_source_next(const struct run_source *s);
char *run_source_name(const struct run_source *s); // the program's; the caller frees it
// The source's programs, compiled, in their order: of one itself, of several a program of them all,
// to which they belong then. Null with a sentence.
struct sk_program *run_source_join(const struct run_source *s, struct sk_program *const *parts,
                                   struct sk_error *err);
// The descriptions of what was compiled of it, for controllers: taken over.
void run_source_describe(struct run_source *s, struct run_description description);
const struct run_description *run_source_description(const struct run_source *s);
// By a process of its own: 1 while it is being compiled, ask again; 0 with the program, which is
// the caller's; or negative with a sentence. It ends when all clients that asked for it are gone,
// or nobody has asked for ten seconds.
int run_compile(struct run *r, struct run_source *source, struct sk_program **program,
                struct sk_error *err);
void run_compile_turn(struct run *r, uint64_t now);
void run_compile_left(struct run *r, uint64_t client); // the client is gone
void run_compile_end(struct run *r);
// The program takes the place of the one that runs, with all that can be kept; 'to' (or null): and
// with what is in tables, registers... as that configuration has it. 0, or negative with a sentence
// and nothing changed.
struct run_exchange *run_exchange_new(struct run *r, const struct sk_program *program,
                                      struct sk_error *err);
void run_exchange_free(struct run_exchange *x); // null allowed
int run_exchange(struct run *r, struct run_exchange *x, const struct sk_config *to,
                 struct sk_error *err);
void run_exchange_back(struct run *r, struct run_exchange *x);       // as before the exchange
struct sk_switch *run_exchange_switch(const struct run_exchange *x); // without packets until then
// The same without what the old program has: tables as they were written in run_exchange_switch(),
// with its multicast, mirror sessions and metadata of ports.
int run_exchange_fresh(struct run *r, struct run_exchange *x, struct sk_error *err);
// Metadata of ports as the configuration has it, as the switch's program lays it out; what that
// does not take is added to 'lost', if not null.
void run_describe_ports(struct run *r, struct sk_switch *sw, json_t *lost);
// What was kept and lost, into 'done'.
void run_exchange_tell(const struct run *r, const struct run_exchange *x, json_t *done);
// It does from here on: both are taken over, and the old ones freed.
void run_runs(struct run *r, struct sk_program *program, struct run_source *source);
// The same of a program that a controller sent, who knows.
void run_runs_of_client(struct run *r, struct sk_program *program, struct run_source *source);
// The file is compiled beside the running switch, and takes its program's place: {"state":
// "compiling"}, ask again, or "replaced" with what was kept and lost. 0, or negative with a
// sentence and nothing changed.
int run_program(struct run *r, const char *path, json_t **done, struct sk_error *err);

// ---- builder.c
// What compiles all programs of a source, which outlives it, beside packets. Null with a sentence.
struct run_builder;
struct run_builder *run_builder_start(const struct run *r, const struct run_source *source,
                                      bool checked, struct sk_error *err);
bool run_builder_ended(struct run_builder *b); // without waiting
// After the end, once: the caller's, or null with a sentence.
struct sk_program *run_builder_program(struct run_builder *b, struct sk_error *err);
// The descriptions go to 'source', which is one as it was compiled.
void run_builder_describe(struct run_builder *b, struct run_source *source);
void run_builder_free(struct run_builder *b); // ends what it compiles; null allowed

// ---- compiler.c
// A process that compiles, within the limits of the configuration's "requests". 'beside': packets
// flow, and it has what processors have left. Null with a sentence. It ends with the thread that
// called.
struct run_compiler;
struct run_compiler *run_compiler_start(const struct run *r, const struct compile_options *opt,
                                        bool beside, struct sk_error *err);
// A process that says where the program's tables would be on the chip (`silken check --json`).
// Beside the running switch, the same otherwise.
struct run_compiler *run_compiler_report(const struct run *r, const struct compile_options *opt,
                                         struct sk_error *err);
// What it says, malloc'ed; or null with a sentence. After it has ended.
char *run_compiler_text(struct run_compiler *c, struct sk_error *err);
bool run_compiler_ended(struct run_compiler *c); // without waiting; one past its time is ended
// After it has ended: the program, or null with a sentence; and all that the compiler said, as long
// as 'c'.
struct sk_program *run_compiler_program(struct run_compiler *c, struct sk_error *err);
const char *run_compiler_messages(struct run_compiler *c);
void run_compiler_free(struct run_compiler *c); // ends it within a tenth of a second; null allowed
// malloc'ed.
struct run_description run_compiler_description(struct run_compiler *c);
// Waits for it, or for run_stop(). Null after messages.
struct sk_program *run_compile_now(const struct run *r, const struct compile_options *opt,
                                   struct run_description *description);

// ---- reload.c
// The file is read again, checked beside the running switch, and what differs is changed: ports,
// and what control/config/change.h says. 0, with what was done as an object (a new reference); or
// negative with a sentence, and everything as it was. With another program {"state": "compiling"}
// at first: ask again.
int run_reload(struct run *r, json_t **done, struct sk_error *err);

// ---- requests.c
// sk_service's 'other'.
json_t *run_request(void *run, const char *op, const struct sk_at *at, bool *known);
// To all that listen; a reference is taken over.
void run_event(void *run, json_t *event);

// ---- print.c
void run_print_start(const struct run *r);
void run_print_rates(struct run *r, uint64_t now);
// False when a packet or a buffer is missing: a fault of ours or of a driver.
bool run_print_end(const struct run *r, uint32_t lost_buffers);

#endif
