// SPDX-License-Identifier: Apache-2.0
//
// sde: the files that controllers of a Tofino look for, of a program that is being compiled.
//
//     struct sde_outputs o;
//     if (sde_begin(&o)) { opt.emit_p4 = o.text_path; opt.bfrt = o.schema_path; compile; }
//     sde_write_files(&o, dir, opt.path, object); sde_end(&o);
#ifndef SILKEN_CLI_SDE_H
#define SILKEN_CLI_SDE_H

#include <stdbool.h>

#include "cli/new_file.h"

struct sde_outputs {
    int text, schema; // files in memory
    char text_path[NEW_FILE_MEMORY], schema_path[NEW_FILE_MEMORY];
};

// False after a message.
bool sde_begin(struct sde_outputs *o);
void sde_end(struct sde_outputs *o);
// The program at 'path' was compiled to 'object', and left its texts in 'o'. Folders below 'dir'
// are made; a file takes its path when all of it is written. False after a message.
bool sde_write_files(const struct sde_outputs *o, const char *dir, const char *path,
                     const char *object);

#endif
