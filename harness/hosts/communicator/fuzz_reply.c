// SPDX-License-Identifier: Apache-2.0
//
// fuzz_reply: what a job service says, any bytes: a reply has texts that end and are printable.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/communicator/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const char *text, size_t cap) {
    if (!memchr(text, '\0', cap))
        abort();
    for (const char *c = text; *c; c++)
        if (*c < ' ' || *c >= 0x7f)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct sk_reply r;
    sk_reply_read(&r, (const char *)data, size);
    look_at(r.state, sizeof r.state);
    look_at(r.error, sizeof r.error);
    look_at(r.missing, sizeof r.missing);
    look_at(r.worker_ip, sizeof r.worker_ip);
    look_at(r.worker_mac, sizeof r.worker_mac);
    look_at(r.switch_ip, sizeof r.switch_ip);
    look_at(r.switch_mac, sizeof r.switch_mac);
    return 0;
}
