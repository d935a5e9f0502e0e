// SPDX-License-Identifier: Apache-2.0
#include "pipeline/switch/line.h"

#include <string.h>

static void line_plain(void *to, const void *from) {
    memcpy(to, from, LINE_BYTES);
}

#ifdef __x86_64__
#include <immintrin.h>

__attribute__((target("avx"))) static void avx(void *to, const void *from) {
    const __m256i low = _mm256_loadu_si256(from),
                  high = _mm256_loadu_si256((const __m256i *)from + 1);
    _mm256_storeu_si256(to, low);
    _mm256_storeu_si256((__m256i *)to + 1, high);
}

__attribute__((target("avx512f"))) static void avx512(void *to, const void *from) {
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
}

line_fn *line_copier(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? avx512
           : __builtin_cpu_supports("avx")   ? avx
                                             : line_plain;
}
#else
line_fn *line_copier(void) {
    return plain;
}
#endif
