// SPDX-License-Identifier: Apache-2.0
//
// grpc: a gRPC client of one connection, for measurements: calls of one message in each direction,
// several of them on their way at a time. It blocks, and ends the process with a sentence when
// something fails, a call's status included.
//
// Not thread-safe.
#ifndef SILKEN_BENCH_GRPC_H
#define SILKEN_BENCH_GRPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grpc;

struct grpc *grpc_open(const char *unix_path);
void grpc_close(struct grpc *g);

// Starts a call: 'path' is "/package.Service/Method" and must outlive it; 'bytes' are copied.
void grpc_start(struct grpc *g, const char *path, const void *bytes, size_t length);
// Waits until at most 'most' calls are on their way.
void grpc_wait(struct grpc *g, unsigned most);
// Starts a call and waits for it alone. The last message of its reply, valid until the next call;
// 'all', if not null: the bytes of all messages of the reply.
const uint8_t *grpc_call(struct grpc *g, const char *path, const void *bytes, size_t length,
                         size_t *reply, uint64_t *all);

#endif
