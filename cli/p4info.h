// SPDX-License-Identifier: Apache-2.0
//
// p4info: `silken build --p4info-binary FILE`: a program's P4Info as protobuf's binary form, which
// some clients of P4Runtime read. The compiler writes the text form; this is made of it.
//
//     struct p4info_text t;
//     if (p4info_begin(&t, &opt)) { compile; p4info_write(&t, "l2.p4info.bin"); }
//     p4info_end(&t);
#ifndef SILKEN_CLI_P4INFO_H
#define SILKEN_CLI_P4INFO_H

#include <stdbool.h>

#include "cli/new_file.h"
#include "compiler/compile.h"

struct p4info_text {
    int fd; // of a file in memory; -1: the text goes to a file of the user's
    char memory[NEW_FILE_MEMORY];
    const char *path;
};

// Where the compiler writes the text: to where 'opt' says, or to memory, and 'opt' says so then.
// False after a message.
bool p4info_begin(struct p4info_text *t, struct compile_options *opt);
// After the compilation. False after a message.
bool p4info_write(const struct p4info_text *t, const char *binary);
void p4info_end(struct p4info_text *t);

#endif
