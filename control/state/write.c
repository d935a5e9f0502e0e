// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "control/state/state_impl.h"

struct writer {
    struct state_walk walk; // first: its address is ours
    FILE *out;
    int last;    // section written last, -1: none
    bool inside; // it has items
};

// Ends the section before and begins those up to 'to'; empty ones are there too.
static void state_write_begin(struct writer *w, int to) {
    while (w->last < to) {
        if (w->last >= 0)
            fputs(w->inside ? "\n],\n" : "],\n", w->out);
        w->last++;
        w->inside = false;
        fprintf(w->out, "\"%s\": [", state_section_name((enum state_section)w->last));
    }
}

static void write_item(struct state_walk *walk, enum state_section s, json_t *item) {
    struct writer *w = (struct writer *)walk;
    state_write_begin(w, (int)s);
    char *text = json_dumps(item, 0);
    if (!text)
        abort();
    fprintf(w->out, "%s\n%s", w->inside ? "," : "", text);
    w->inside = true;
    free(text);
}

bool sk_state_write(struct sk_switch *sw, struct sk_pauses *pauses, FILE *out) {
    struct writer w = {
        .walk = {.sw = sw, .pauses = pauses, .item = write_item}, .out = out, .last = -1};
    fputs("{\n\"silken_state\": 1,\n", out);
    state_walk(&w.walk);
    state_write_begin(&w, STATE_SECTIONS - 1);
    fputs(w.inside ? "\n]\n}\n" : "]\n}\n", out);
    return fflush(out) == 0 && !ferror(out);
}
