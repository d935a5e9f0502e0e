// SPDX-License-Identifier: Apache-2.0
//
// sparse_text: words of a text, for the model of next words (sparse.h).
#ifndef SILKEN_CLI_DEMO_SPARSE_TEXT_H
#define SILKEN_CLI_DEMO_SPARSE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define TEXT_WORDS 4096u // the most frequent words; the last number stands for all others

struct sparse_text {
    uint16_t *words; // of the text, in its order: numbers by frequency; owned
    size_t n;
    size_t distinct; // words that the text has
};

// Words are runs of letters, whatever their case, of at most 31; what is longer is cut. 0, or -1
// with a sentence: the file cannot be read, is larger than 64 MiB, or has fewer than 1,000 words.
int sparse_text_read(struct sparse_text *t, const char *path, char *error, size_t error_size);
void sparse_text_clear(struct sparse_text *t);

#endif
