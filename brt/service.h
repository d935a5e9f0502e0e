// SPDX-License-Identifier: Apache-2.0
//
// service: the calls of the service, without the transport: a test or a fuzzer makes calls without
// a network.
#ifndef SILKEN_BRT_SERVICE_H
#define SILKEN_BRT_SERVICE_H

#include <protobuf-c/protobuf-c.h>

#include "brt/brt.h"

// What carries calls; 'call' is its own (struct rpc_call). Functions as in rpc/rpc.h.
struct brt_carrier {
    bool (*send)(void *call, const void *bytes, size_t length);
    bool (*give)(void *call, uint8_t *bytes, size_t length);
    void (*end)(void *call, enum rpc_status status, const char *message, const uint8_t *details,
                size_t details_length);
    const char *(*metadata)(const void *call, const char *name);
};
extern const struct brt_carrier brt_network; // calls are struct rpc_call
struct brt_call {
    const struct brt_carrier *carrier;
    void *call;
};
// False: enough is queued, or the call is over.
bool brt_send(const struct brt_call *c, const ProtobufCMessage *message);

void brt_write(struct brt *b, const struct brt_call *c, const uint8_t *bytes, size_t length);
void brt_read(struct brt *b, const struct brt_call *c, const uint8_t *bytes, size_t length);
void brt_set_config(struct brt *b, const struct brt_call *c, const uint8_t *bytes, size_t length);
void brt_set_config_over(struct brt *b, const void *call); // whoever ended it
void brt_get_config(struct brt *b, const struct brt_call *c, const uint8_t *bytes, size_t length);
// Of a stream: each message, and its end.
void brt_stream_message(struct brt *b, const struct brt_call *c, const uint8_t *bytes,
                        size_t length);
void brt_stream_room(struct brt *b, const void *call); // it takes messages again
void brt_stream_over(struct brt *b, const void *call);

#endif
