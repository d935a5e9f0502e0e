// SPDX-License-Identifier: Apache-2.0
//
// service: the calls of the service, without the transport (brt/service.h): a test or a fuzzer
// makes calls without a network. Each of the first five ends its call.
#ifndef SILKEN_P4RT_SERVICE_H
#define SILKEN_P4RT_SERVICE_H

#include "brt/service.h"
#include "p4rt/p4rt.h"

typedef void p4rt_call_fn(struct p4rt *p, const struct brt_call *c, const uint8_t *bytes,
                          size_t length);
p4rt_call_fn p4rt_write, p4rt_read, p4rt_set_config, p4rt_get_config, p4rt_capabilities;
// Of a stream: each message, and its end.
p4rt_call_fn p4rt_stream_message;
void p4rt_stream_room(struct p4rt *p, const void *call); // it takes messages again
void p4rt_stream_over(struct p4rt *p, const void *call);

#endif
