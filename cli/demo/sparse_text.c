// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/sparse_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST ((size_t)64 << 20)
#define LETTERS 31u
#define FEWEST  1000u

struct text_word {
    char letters[LETTERS + 1];
    uint32_t count, first; // how often; where it stands first
    uint16_t number;
};

static size_t text_next(const char *text, size_t size, size_t at, struct text_word *w) {
    unsigned n = 0;
    while (at < size && !isalpha((unsigned char)text[at]))
        at++;
    for (; at < size && isalpha((unsigned char)text[at]); at++)
        if (n < LETTERS)
            w->letters[n++] = (char)tolower((unsigned char)text[at]);
    w->letters[n] = 0;
    return at;
}

static int text_by_letters(const void *a, const void *b) {
    const struct text_word *x = a, *y = b;
    const int order = strcmp(x->letters, y->letters);
    return order ? order : x->first < y->first ? -1 : x->first > y->first;
}

// The most frequent first; of equals the one that comes first.
static int text_by_count(const void *a, const void *b) {
    const struct text_word *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int text_by_word(const void *a, const void *b) {
    return strcmp(((const struct text_word *)a)->letters, ((const struct text_word *)b)->letters);
}

static size_t text_distinct(struct text_word *words, size_t n) {
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++)
        if (distinct && strcmp(words[distinct - 1].letters, words[i].letters) == 0)
            words[distinct - 1].count++;
        else
            words[distinct++] = words[i];
    return distinct;
}

static bool text_number(struct sparse_text *t, const struct text_word *all, size_t n) {
    struct text_word *words = malloc(n * sizeof *words);
    t->words = malloc(n * sizeof *t->words);
    if (!words || !t->words) {
        free(words);
        return false;
    }
    memcpy(words, all, n * sizeof *words);
    qsort(words, n, sizeof *words, text_by_letters);
    t->distinct = text_distinct(words, n);
    qsort(words, t->distinct, sizeof *words, text_by_count);
    for (size_t i = 0; i < t->distinct; i++)
        words[i].number = (uint16_t)(i < TEXT_WORDS - 1 ? i : TEXT_WORDS - 1);
    qsort(words, t->distinct, sizeof *words, text_by_word);
    for (size_t i = 0; i < n; i++) {
        const struct text_word *w =
            bsearch(&all[i], words, t->distinct, sizeof *words, text_by_word);
        t->words[i] = w->number;
    }
    t->n = n;
    free(words);
    return true;
}

static int text_take(struct sparse_text *t, const char *text, size_t size, const char *path,
                     char *error, size_t error_size) {
    struct text_word w = {.count = 1}, *all = NULL;
    size_t n = 0, room = 0;
    for (size_t at = text_next(text, size, 0, &w); w.letters[0];
         at = text_next(text, size, at, &w)) {
        if (n == room) {
            room = room ? 2 * room : 1u << 16;
            struct text_word *more = realloc(all, room * sizeof *all);
            if (!more) {
                free(all);
                snprintf(error, error_size, "out of memory");
                return -1;
            }
            all = more;
        }
        w.first = (uint32_t)n;
        all[n++] = w;
    }
    bool good = n >= FEWEST;
    if (!good)
        snprintf(error, error_size, "%s has %zu words; it should have %u at least", path, n,
                 FEWEST);
    else if (!(good = text_number(t, all, n)))
        snprintf(error, error_size, "out of memory");
    free(all);
    return good ? 0 : -1;
}

int sparse_text_read(struct sparse_text *t, const char *path, char *error, size_t error_size) {
    FILE *f = fopen(path, "r");
    char *text = malloc(LARGEST + 1);
    int rc = -1;
    *t = (struct sparse_text){0};
    if (!f || !text) {
        snprintf(error, error_size, "%s: %s", path, strerror(f ? ENOMEM : errno));
    } else {
        const size_t size = fread(text, 1, LARGEST + 1, f);
        if (ferror(f))
            snprintf(error, error_size, "%s: %s", path, strerror(errno));
        else if (size > LARGEST)
            snprintf(error, error_size, "%s has more than %zu bytes", path, LARGEST);
        else
            rc = text_take(t, text, size, path, error, error_size);
    }
    if (f)
        fclose(f);
    free(text);
    if (rc)
        sparse_text_clear(t);
    return rc;
}

void sparse_text_clear(struct sparse_text *t) {
    free(t->words);
    *t = (struct sparse_text){0};
}
