// SPDX-License-Identifier: Apache-2.0
//
// fuzz_journal: any bytes as a note about a control plane; what is one is read again as it was
// written.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/journal/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct journal_note n, again;
    struct sk_error err;
    char *text = strndup((const char *)data, size); // who reads a note has a zero after it
    if (text && journal_read(text, strlen(text), &n, &err) == 0) {
        char *written = journal_write(&n);
        if (journal_read(written, strlen(written), &again, &err) || again.kind != n.kind)
            abort();
        char *twice = journal_write(&again);
        if (strcmp(written, twice) != 0)
            abort();
        free(written);
        free(twice);
        journal_free(&n);
        journal_free(&again);
    }
    free(text);
    return 0;
}
