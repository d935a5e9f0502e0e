// SPDX-License-Identifier: Apache-2.0
//
// twin: `silken twin`: a chip, or another switch, and Silken beside it.
//
// Files:
//
//     twin.c  chooses; the command line of all
//     diff.c  silken twin diff
//     dump.c  silken twin dump
//     pack.c  silken twin pack
#ifndef SILKEN_CLI_TWIN_TWIN_H
#define SILKEN_CLI_TWIN_TWIN_H

#include "cli/cli.h"

// What the command line says.
struct twin_words {
    const char *words[2]; // no options
    unsigned n;
    bool json, everything;
    struct cli_list ignore;
    const char *program; // of dump
    bool tls;            // of dump; set by the files, too
    const char *authority, *certificate, *key, *server_name;
    const char *speed; // of pack
};
// Makes a folder that has nothing yet: what is written would replace what is there, or lie among
// it. False after a message.
bool twin_new_folder(const char *path);
// Each returns the exit status.
int twin_run_diff(const struct twin_words *w);
int twin_run_dump(const struct twin_words *w);
int twin_run_pack(const struct twin_words *w);

#endif
