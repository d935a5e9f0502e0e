// SPDX-License-Identifier: Apache-2.0
//
// golden: comparing text with a file that holds what it should be.
//
// With UPDATE_GOLDEN=1 in the environment the file is written anew; read the difference before it
// is committed.
#ifndef HARNESS_COMPILER_GOLDEN_H
#define HARNESS_COMPILER_GOLDEN_H

#include <stdbool.h>

// False, after a message that shows the first line that differs, when 'got' is not what the file
// holds. 'what' names the case in the message.
bool golden_same(const char *what, const char *got, const char *path);

#endif
