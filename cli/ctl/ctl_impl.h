// SPDX-License-Identifier: Apache-2.0
//
// ctl_impl: what the files of `silken ctl` share.
//
//     ctl.c          usage, options, which command it is
//     words.c        words of the command line into members of a request; sending it
//     objects.c      commands on what a program has: tables, groups, registers, counters, meters
//     switch.c       commands on the switch: ports, replication, mirroring, generator, events
//     program.c      the program replaced, the configuration read again
//     tor.c          commands on the ToR's control plane: links, VLANs, addresses
//     acl.c          its access lists
//     tor_groups.c   and on multicast groups and LACP
//     routing.c      its neighbours and routes
//     job.c          aggregation jobs
//     batch.c        commands of a file, many in one request
//     trace.c        the way of single packets
//     print.c        replies as text; print_hash.c, print_meter.c: those about hashes and meters
//     ../top/        the switch as it is now, on a terminal
//
// A function that takes words leaves the others in place. After the first mistake, which has been
// printed, c->bad is set, nothing more is printed, and ctl_finish() sends nothing.
#ifndef SILKEN_CLI_CTL_CTL_IMPL_H
#define SILKEN_CLI_CTL_CTL_IMPL_H

#include <jansson.h>

#include "cli/cli.h"
#include "control/tables/names.h"
#include "control/socket/socket.h"

// A command being put together: its words, and the request that is made of them.
struct ctl {
    struct sk_client *client;
    bool json;
    char **words; // what is left; ends with a null
    json_t *request;
    unsigned differ; // bits of the pipes that a table's dump found to have other entries
    bool bad;
    bool collects; // the request is not sent, but goes with others (batch.c)
};

// ---- words.c
bool ctl_is(const char *word, const char *what);
// The next word; without one it prints that 'what' is missing and returns "".
const char *ctl_next_word(struct ctl *c, const char *what);
// "there is no 'GROUP WORD'"; returns EXIT_UNUSABLE.
int ctl_unknown(struct ctl *c, const char *group, const char *word);

long long ctl_number_of(const char *word); // of a word that is one (sk_is_number)
bool ctl_is_pair(const char *word);        // NAME=VALUE

// Members of the request.
void ctl_op(struct ctl *c, const char *name);
void ctl_set_text(struct ctl *c, const char *key, const char *text);
void ctl_set_number(struct ctl *c, const char *key, const char *word);
// 'n' bytes NAME=VALUE into the request's object of that name.
void ctl_add_pair(struct ctl *c, const char *object, const char *text, size_t n);
// "ACTION(ARG=VALUE, ...)", "ACTION", "member(ID)" or "group(ID)"
void ctl_add_action(struct ctl *c, const char *text);

// Words that are taken.
enum { CTL_KEY = 1, CTL_ACTION = 2 };
void ctl_take_entry(struct ctl *c, unsigned parts); // a table, then CTL_KEY | CTL_ACTION, a pipe
void ctl_take_pipe(struct ctl *c);                  // "[pipe N]"
void ctl_take_range(struct ctl *c);                 // "[INDEX[-INDEX]]"
void ctl_take_cells(struct ctl *c);                 // "INDEX" or "all"
void ctl_take_pairs(struct ctl *c, const char *object);
// Words KEY=VALUE become members: numbers, lists of numbers (1,2,-: '-' is null), text.
void ctl_take_members(struct ctl *c);

// Sends the request and prints the result; returns the exit status.
int ctl_finish(struct ctl *c, void (*print)(const json_t *result));
// Page by page: 'list' of each result is printed as it comes.
int ctl_finish_pages(struct ctl *c, const char *list,
                     void (*print)(const json_t *result, bool first));
// The request 'name' with the members that follow the next word.
int ctl_members_request(struct ctl *c, const char *name);

// ---- objects.c: each returns the exit status
int ctl_table(struct ctl *c);
int ctl_group(struct ctl *c);
int ctl_register(struct ctl *c);
int ctl_counter(struct ctl *c);
int ctl_meter(struct ctl *c);
int ctl_hash(struct ctl *c);
int ctl_idle(struct ctl *c);

// ---- switch.c
int ctl_events(struct ctl *c);
int ctl_digest(struct ctl *c);
int ctl_mirror(struct ctl *c);
int ctl_pktgen(struct ctl *c);
int ctl_pre(struct ctl *c);
int ctl_port(struct ctl *c);
int ctl_stats(struct ctl *c);
int ctl_job(struct ctl *c);
int ctl_state(struct ctl *c);
int ctl_alarms(struct ctl *c);
int ctl_reload(struct ctl *c);
int ctl_program(struct ctl *c);

// ---- batch.c
int ctl_batch(struct ctl *c);

// ---- trace.c
int ctl_trace(struct ctl *c);

// ---- tor.c
int ctl_links(struct ctl *c);
int ctl_vlans(struct ctl *c);
int ctl_macs(struct ctl *c);

// ---- acl.c
int ctl_acl(struct ctl *c);

// ---- tor_groups.c
int ctl_groups(struct ctl *c);
int ctl_queriers(struct ctl *c);
int ctl_lacp(struct ctl *c);

// ---- routing.c
int ctl_neighbours(struct ctl *c);
int ctl_routes(struct ctl *c);
int ctl_icmp(struct ctl *c);

// ---- top/top.c
int ctl_top(struct ctl *c);

#endif
