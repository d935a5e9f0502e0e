// SPDX-License-Identifier: Apache-2.0
//
// program: whether a program is that of a ToR: it has the tables that the modules here write, by
// their names.
#include "control/tor/tor.h"

#include "control/tables/names.h"

// Those that every ToR needs; what jobs need is jobs_tables.c's.
static const char *const needed[] = {
    "vlans_in",      "sources",       "destinations", "unjoined", "floods",   "interfaces",
    "vlans_out",     "ipv4_own",      "ipv6_own",     "sets",     "nexthops", "ipv4_hosts",
    "ipv4_prefixes", "ipv6_prefixes", "ipv6_hosts",   "ipv4_acl", "ipv6_acl", "mirrored",
};

int tor_program_check(const struct sk_switch *sw, struct sk_error *err) {
    struct sk_object object;
    struct sk_error why;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (sk_find_object(sw, SK_TABLE, needed[i], &object, &why))
            return sk_fail(
                err,
                "%s is not the program of a ToR, which \"tor\" of the configuration needs "
                "(p4/tor or p4/rack): it has no table '%s'",
                sk_switch_program(sw)->path, needed[i]);
    return 0;
}
