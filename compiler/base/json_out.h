// SPDX-License-Identifier: Apache-2.0
//
// json_out: writing JSON as it comes, indented by two spaces.
//
//     struct json_out j = {.out = f};
//     jout_open(&j, NULL, '{');
//     jout_string(&j, "name", "pipe.Ingress.forward");
//     jout_u64(&j, "size", 1024);
//     jout_close(&j, '}');
//
// In an object every value has a key; in an array the key is null. Written here because a schema
// holds unsigned 64-bit numbers (a meter's default rate is 2^64 - 1), which libjansson, whose
// integers are signed, cannot write. Nothing is kept: write errors are seen by the stream's owner.
#ifndef SILKEN_COMPILER_BASE_JSON_OUT_H
#define SILKEN_COMPILER_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_out {
    FILE *out;
    unsigned depth;
    bool started; // something stands in the innermost object or array
};

void jout_open(struct json_out *j, const char *key, char bracket); // '{' or '['
void jout_close(struct json_out *j, char bracket);
void jout_string(struct json_out *j, const char *key, const char *s);
void jout_u64(struct json_out *j, const char *key, uint64_t v);
void jout_i64(struct json_out *j, const char *key, int64_t v);
void jout_null(struct json_out *j, const char *key);
void jout_bool(struct json_out *j, const char *key, bool v);
void jout_empty(struct json_out *j, const char *key); // an array without elements

#endif
