// SPDX-License-Identifier: Apache-2.0
//
// fuzz_state: any bytes as the state that is expected of a switch that has something of everything;
// what is one is compared. The switch's own state, read back, never differs.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/config/config.h"
#include "base/file.h"
#include "control/state/state.h"
#include "harness/control/fuzz_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t compare(struct sk_switch *sw, const char *text, size_t length, FILE *messages) {
    struct sk_error err = {""};
    struct sk_expected_state *e = sk_expected_state_parse("fuzz.json", text, length, sw, &err);
    if (!e && strncmp(err.text, "fuzz.json:", 10) != 0)
        abort(); // refused without a place
    size_t n = e ? sk_expected_state_compare(e, sw, SIZE_MAX, messages) : 0;
    sk_expected_state_free(e);
    return n;
}

static struct sk_switch *make_switch(FILE *nowhere) {
    static const char path[] = "harness/control/everything.json";
    static struct sk_program *prog; // as long as the process
    char error[256], *state;
    struct sk_error err = {""};
    size_t length;
    prog = fuzz_program();
    struct sk_switch *sw =
        sk_switch_new(prog, &(struct sk_switch_options){.tx = sk_tx_nowhere, .n_packets = 2}, error,
                      sizeof error);
    char *text = sk_read_file(path, &length, &err);
    struct sk_config *c = text ? sk_config_parse(path, text, length, &err) : NULL;
    if (!sw || !c || sk_config_apply(c, sw, &err))
        abort();
    sk_config_free(c);
    free(text);
    FILE *out = open_memstream(&state, &length);
    if (!out || !sk_state_write(sw, NULL, out) || fclose(out) ||
        compare(sw, state, length, nowhere))
        abort();
    free(state);
    return sw;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct sk_switch *sw;
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "we");
    if (!sw)
        sw = make_switch(nowhere);
    compare(sw, (const char *)data, size, nowhere);
    return 0;
}
