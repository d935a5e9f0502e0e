// SPDX-License-Identifier: Apache-2.0
//
// align: puts preprocessed text back into the columns it was written in.
//
// The C preprocessor keeps line numbers but squeezes the space between tokens, so a message about
// its output would point at the wrong column of the user's line. Space means nothing in P4: here
// each token that also stands on the original line is moved back to its column with blanks. What a
// macro expanded to stays where it is, and what follows an expansion that is longer than the
// macro's call stays after it. Internal to preprocess.h.
#ifndef SILKEN_COMPILER_SYNTAX_ALIGN_H
#define SILKEN_COMPILER_SYNTAX_ALIGN_H

#include "compiler/base/arena.h"

// Reads the files that the text's line markers name; text of unreadable files is left alone.
// Returns zero-terminated text, '*length' its length.
char *align_columns(struct arena *a, const char *text, size_t *length);

#endif
