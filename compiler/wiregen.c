// SPDX-License-Identifier: Apache-2.0
//
// wiregen: writes the C wire structs of a P4 program's headers (compiler/describe/wire.h). A
// program of its own because the hosts, which are part of `silken`, are compiled against what it
// writes.
#include <stdio.h>
#include <stdlib.h>

#include "compiler/compile.h"

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: wiregen PROG.p4 OUT.h\n");
        return 2;
    }
    struct compile_options opt = {.path = argv[1], .wire_header = argv[2], .parse_only = true};
    char *done = compile_p4(&opt, stderr);
    if (!done)
        return 1;
    free(done);
    return 0;
}
