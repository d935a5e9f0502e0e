// SPDX-License-Identifier: Apache-2.0
//
// state: the switch's state at the end of a replay, written to a file and held against one.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "control/state/state.h"
#include "pcap/replay/replay_impl.h"

// Before the packets: a file that cannot be used is told of at once.
int replay_state_open(struct replay_state *s, const struct replay_options *opt,
                      struct sk_switch *sw, struct sk_error *err) {
    size_t length;
    if (!opt->expect_state)
        return 0;
    s->text = sk_read_file(opt->expect_state, &length, err);
    if (s->text)
        s->expected = sk_expected_state_parse(opt->expect_state, s->text, length, sw, err);
    return s->expected ? 0 : -1;
}

static int write_to(const char *path, struct sk_switch *sw, struct sk_error *err) {
    bool standard = strcmp(path, "-") == 0;
    FILE *out = standard ? stdout : fopen(path, "we");
    if (!out)
        return sk_fail(err, "cannot write %s: %s", path, strerror(errno));
    bool good = sk_state_write(sw, NULL, out);
    if (!standard)
        good &= fclose(out) == 0;
    return good ? 0 : sk_fail(err, "cannot write %s: %s", path, strerror(errno));
}

int replay_state_end(struct replay_state *s, const struct replay_options *opt, struct sk_switch *sw,
                     bool stopped, struct replay_update *update, FILE *messages,
                     struct sk_error *err) {
    int rc = 0;
    const char *golden = opt->dump_state[1];
    for (size_t i = 0; rc == 0 && i < 2; i++)
        if (opt->dump_state[i])
            rc = write_to(i == 1 && strcmp(golden, "-") != 0 ? replay_update_add(update, golden)
                                                             : opt->dump_state[i],
                          sw, err);
    if (!s->expected || stopped)
        return rc;
    s->differences = sk_expected_state_compare(s->expected, sw, opt->show, messages);
    if (s->differences)
        fprintf(messages, "the state differs from %s in %zu place%s\n", opt->expect_state,
                s->differences, s->differences == 1 ? "" : "s");
    return rc;
}

void replay_state_close(struct replay_state *s) {
    sk_expected_state_free(s->expected);
    free(s->text);
}
