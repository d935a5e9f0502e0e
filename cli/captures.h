// SPDX-License-Identifier: Apache-2.0
//
// captures: what subcommands share that run captures through a program: the files that ports
// receive, and what is loaded before the first packet.
#ifndef SILKEN_CLI_CAPTURES_H
#define SILKEN_CLI_CAPTURES_H

#include "cli/cli.h"
#include "pcap/replay/replay.h"

// Whether a word is meant as PORT=FILE.
bool cli_begins_with_port(const char *word);
// 'path' is borrowed; 'items' is malloc'ed, the caller frees it.
void cli_push_file(struct replay_files *list, uint16_t port, const char *path);
// Adds "PORT=FILE", of which the word is borrowed; 'form' says in messages what it should have
// been. 0, or the exit status after a message.
int cli_add_port_file(const char *command, struct replay_files *list, const char *form,
                      const char *word);

// Reads the configurations of replay->config_paths and compiles and loads the program, into
// 'replay'. False after a message. cli_unload() frees what was loaded, also then.
bool cli_load(const char *command, struct replay_options *replay,
              const struct compile_options *compile);
void cli_unload(struct replay_options *replay);

#endif
