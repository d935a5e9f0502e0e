// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl/ctl_impl.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: silken ctl [-s SOCKET] [-w SECONDS] [--json] COMMAND...\n\n"
    "Reads and changes a running switch. Names are those of the P4 source or any unique suffix;\n"
    "values are written 123, 0x1f, 10.0.0.1, 00:11:22:33:44:55, 10.0.0.0/8, 1..5, 0x10 &&& "
    "0xf0.\n\n"
    "  table list                                  tables with their keys, actions, entries\n"
    "  table dump TABLE [pipe N]                   entries\n"
    "  table add TABLE [PRIORITY] KEY=VALUE... 'ACTION(ARG=VALUE, ...)' [pipe N]\n"
    "  table modify TABLE ...                      (the same)\n"
    "  table delete TABLE [PRIORITY] KEY=VALUE... [pipe N]\n"
    "  table mask TABLE [KEY=MASK... | whole] [pipe N]    bits of its keys that a table compares\n"
    "  table default TABLE 'ACTION(...)' [pipe N]\n"
    "  table default TABLE reset [pipe N]          restore the program's default action\n"
    "  table clear TABLE [pipe N]\n"
    "         'member(ID)' or 'group(ID)' in place of an action if the table has an action "
    "profile;\n"
    "         the profile's members: table add PROFILE '$ACTION_MEMBER_ID=ID' 'ACTION(...)'\n"
    "  group dump SELECTOR | group add|modify SELECTOR ID MEMBER[:down]... [max N]\n"
    "  group delete SELECTOR ID | group clear SELECTOR | group member SELECTOR ID HASH\n"
    "  hash list | hash fields NAME FIELD[[HIGH:LOW]]... [pipe N]    hashes that can be changed\n"
    "  hash algorithm NAME algorithm=CRC_32 | polynomial=... [extend=true] [rotate=N] [pipe N]\n"
    "  hash reset NAME [pipe N] | hash compute NAME FIELD=VALUE... [pipe N]\n"
    "  register list | register read NAME [INDEX[-INDEX]]\n"
    "  register write NAME INDEX [FIELD=]VALUE... [pipe N]\n"
    "  counter list | counter read NAME [INDEX[-INDEX]]    without an index: all that are not "
    "zero\n"
    "  counter write NAME INDEX PACKETS [BYTES] | counter clear NAME\n"
    "  table data TABLE [PRIORITY] KEY=VALUE... [set FIELD=VALUE...] [pipe N]\n"
    "                                              an entry's counts, meter, ageing\n"
    "  meter list | meter read NAME [INDEX[-INDEX]]        meters, low-pass filters, early drop\n"
    "  meter write NAME INDEX|all FIELD=VALUE... [pipe N]  cir_kbps, cbs_kbits, pir_kbps...\n"
    "  meter reset NAME INDEX|all [pipe N]\n"
    "  idle poll                                   entries that became idle, or active again\n"
    "  idle update TABLE                           hit states\n"
    "  events                                      print events as they occur\n"
    "  port                                        ports with their counts\n"
    "  port metadata PORT FIELD=VALUE... | port metadata PORT NUMBER\n"
    "  stats                                       packets of the whole switch, drops by reason\n"
    "  pre                                         multicast nodes and groups\n"
    "  pre node ID RID PORT... | pre group ID NODE[:XID]...\n"
    "  pre delete node ID | pre delete group ID | pre delete ecmp ID\n"
    "  pre lag id=N ports=P,P... [left=N] [right=N]    members on other switches\n"
    "  pre ecmp id=N nodes=N,N,-...                a '-' is an empty slot\n"
    "  pre backup port=P backup=P | pre global rid=N\n"
    "  mirror                                      sessions\n"
    "  mirror set id=N direction=ingress|egress|both [port=P] [mcast_a=N] [max=N] ... (manual)\n"
    "  mirror delete id=N\n"
    "  digest                                      print digests as they arrive, until stopped\n"
    "  port add P DEVICE [--name NAME] [--mtu N] [--queues N] | port remove P|NAME\n"
    "  port set P|NAME up|down | port queues\n"
    "  port queue port=P speed=MBPS [limit=N] [red=N] [yellow=N] [green=N] [guaranteed=N] "
    "[pool=N]\n"
    "  port deflect port=P [qid=N]\n"
    "  port pool set id=N cells=N [red=N] [yellow=N] [green=N] | port pool delete id=N\n"
    "  pktgen                                      enabled applications, with their counts\n"
    "  pktgen buffer pipe=N offset=N bytes=HEX | pktgen off pipe=N app=N\n"
    "  pktgen set pipe=N app=N trigger=one_shot|periodic|port_down|recirculation length=N ...\n"
    "  batch FILE [continue]                       commands, one per line ('-': standard input),\n"
    "                                              many in one request; stops at the first that\n"
    "                                              fails, unless 'continue' is given\n"
    "  reload                                      read the configuration file again\n"
    "  program FILE.p4                             replace the program while packets flow\n"
    "  state dump [--whole]                        all state that packets changed, as JSON;\n"
    "                                              --whole: read in one pause, thus consistent\n"
    "  links | vlans                               links or VLANs of a ToR, with their state\n"
    "  macs [flush] [vid N] [link NAME] [mac ADDRESS]     stations and their links; flush: forget\n"
    "                                              learned ones\n"
    "  acl [LIST]                                  rules of access lists with their counts\n"
    "  acl test LIST FIELD=VALUE...                the rule that a packet would match (manual)\n"
    "  groups [vid N] [link NAME] | queriers       multicast: members of groups, queriers and "
    "routers\n"
    "  lacp                                        LAGs, their members and partners\n"
    "  neighbours | routes | icmp                  MAC addresses of IP neighbours; routes; "
    "ICMP\n"
    "                                              messages that the ToR sent\n"
    "  neighbours flush [vid N] [address A]        resolve their addresses again\n"
    "  job [JOB]                                   aggregation jobs: slots, and the workers that\n"
    "                                              they wait for\n"
    "  job list | job show NAME | job remove NAME  jobs that the switch has admitted\n"
    "  job add NAME --protocol switchml|atp --workers PORT:ADDRESS,... [--server PORT:ADDRESS]\n"
    "      [--slots N | --aggregators N] [--number N] [--vlan V] [--address A] [--udp-port P] "
    "[--resume no] [--sessions no]\n"
    "      [--group A] [--rate MBPS]               (manual)\n"
    "  job add NAME --protocol libra --layout FILE --parameters N --workers "
    "PORT:ADDRESS[/MAC],...\n"
    "      --servers PORT:ADDRESS/MAC,... [--cells N]        with \"libra\" in the configuration\n"
    "  job add NAME --protocol libra --workers PORT:ADDRESS,... [--servers PORT:ADDRESS,...]\n"
    "      [--layout FILE | --number N --epoch N --hot N] [--cells N] [--rate MBPS]\n"
    "      [--vlan V] [--address A] [--udp-port P]            with \"tor\"\n"
    "  alarms                                      current alarms, and when each started\n"
    "  trace [--port PORT]... [--field NAME=VALUE]... [--filter EXPR] [--count N]\n"
    "      [--timeout SECONDS]\n"
    "                                              the path of the next packets that match\n"
    "  top [--once] [--json] [--view all|ports|drops|jobs|alarms] [--interval SECONDS]\n"
    "      [--sort port|in|out|drops|queue|name] [--reverse] [--quiet-too]\n"
    "                                              live: rates, drops, queues, jobs, alarms\n\n"
    "  -s SOCKET    the control socket (default: $SILKEN_SOCKET)\n"
    "  -w SECONDS, --wait SECONDS\n"
    "               how long the switch may take for each answer (30)\n"
    "  --json       print the switch's reply as JSON; also allowed after the command\n";

enum { JSON = 256 };
static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"json", no_argument, NULL, JSON},
    {"wait", required_argument, NULL, 'w'},
    {NULL, 0, NULL, 0},
};

static const struct {
    const char *word;
    int (*run)(struct ctl *c);
} commands[] = {
    {"trace", ctl_trace},       {"batch", ctl_batch},     {"table", ctl_table},
    {"register", ctl_register}, {"counter", ctl_counter}, {"port", ctl_port},
    {"stats", ctl_stats},       {"pre", ctl_pre},         {"job", ctl_job},
    {"meter", ctl_meter},       {"idle", ctl_idle},       {"events", ctl_events},
    {"mirror", ctl_mirror},     {"pktgen", ctl_pktgen},   {"digest", ctl_digest},
    {"hash", ctl_hash},         {"group", ctl_group},     {"state", ctl_state},
    {"top", ctl_top},           {"links", ctl_links},     {"vlans", ctl_vlans},
    {"macs", ctl_macs},         {"groups", ctl_groups},   {"acl", ctl_acl},
    {"queriers", ctl_queriers}, {"lacp", ctl_lacp},       {"alarms", ctl_alarms},
    {"reload", ctl_reload},     {"program", ctl_program}, {"neighbours", ctl_neighbours},
    {"routes", ctl_routes},     {"icmp", ctl_icmp},
};

static int ctl_run_command(struct ctl *c) {
    const char *word = ctl_next_word(c, "a command");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (ctl_is(word, commands[i].word))
            return commands[i].run(c);
    return c->bad ? EXIT_UNUSABLE : cli_misused("ctl", "there is no command '%s'", word);
}

// --json may stand after the command, too.
static void take_json(struct ctl *c) {
    char **to = c->words;
    for (char **from = c->words; *from; from++)
        if (ctl_is(*from, "--json"))
            c->json = true;
        else
            *to++ = *from;
    *to = NULL;
}

int cmd_ctl(int argc, char **argv) {
    const char *path = getenv("SILKEN_SOCKET");
    struct ctl c = {0};
    uint64_t seconds = SK_CLIENT_SECONDS;
    opterr = 0;
    // '+': options end at the command, whose words may start with '-'
    for (int o; (o = getopt_long(argc, argv, "+:hs:w:", options, NULL)) != -1;) {
        if (o == '?' || o == ':')
            return cli_bad_option("ctl", o, argv);
        if (o == 'h') {
            fputs(usage, stdout);
            return EXIT_GOOD;
        }
        if (o == 's')
            path = optarg;
        if (o == 'w' && !cli_decimal(optarg, 1, 86400, &seconds))
            return cli_misused("ctl", "-w takes seconds, 1 to 86400, not '%s'", optarg);
        c.json |= o == JSON;
    }
    c.words = argv + optind;
    take_json(&c);
    if (*c.words && ctl_is(*c.words, "help")) {
        fputs(usage, stdout);
        return EXIT_GOOD;
    }
    if (!*c.words)
        return cli_misused("ctl", "a command is missing");
    if (!path || !*path)
        return cli_misused("ctl",
                           "no switch is named; give its control socket with -s or SILKEN_SOCKET");
    struct sk_error err;
    c.client = sk_client_open_within(path, (unsigned)seconds, &err);
    if (!c.client) {
        fprintf(stderr, "silken ctl: %s\n", err.text);
        return EXIT_FAILED;
    }
    c.request = json_object();
    int status = ctl_run_command(&c);
    json_decref(c.request);
    sk_client_close(c.client);
    return status;
}
