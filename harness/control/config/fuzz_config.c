// SPDX-License-Identifier: Apache-2.0
//
// fuzz_config: any bytes as a configuration file, applied to a switch when they are one; and as
// requests on the control socket, a line each. Its program has one of each object.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/socket/requests.h"
#include "harness/control/fuzz_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void requests(struct sk_switch *sw, const struct sk_config *c, const char *text,
                     size_t size) {
    const struct sk_service service = {
        .sw = sw, .ports = c ? c->ports : NULL, .n_ports = c ? c->n_ports : 0};
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        json_t *reply = sk_request(&service, text, length);
        if (!reply || json_is_boolean(json_object_get(reply, "ok")) == 0)
            abort();
        json_decref(reply);
        size -= end ? length + 1 : length;
        text += end ? length + 1 : length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct sk_program *prog;
    if (!prog)
        prog = fuzz_program();
    char error[256];
    struct sk_error err = {""};
    struct sk_switch *sw =
        sk_switch_new(prog, &(struct sk_switch_options){.tx = sk_tx_nowhere, .n_packets = 2}, error,
                      sizeof error);
    struct sk_config *c = sk_config_parse("fuzz.json", (const char *)data, size, &err);
    int rc = c ? sk_config_apply(c, sw, &err) : -1;
    if (rc && !err.text[0])
        abort(); // refused without a word
    requests(sw, c, (const char *)data, size);
    sk_config_free(c);
    sk_switch_free(sw);
    return 0;
}
