// SPDX-License-Identifier: Apache-2.0
//
// fuzz_http: what comes to the ports of the metrics and of the page. The parser must take the same
// requests out of the bytes however they arrive, say nothing of bytes that are not a whole request
// yet, and always come to an end. What is read of a request is text within its room.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "control/watch/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Names have letters, so a host that is an address is not one of them.
static void ask_about(const struct http_request *r) {
    static const char *const names[] = {"a.example", NULL};
    char value[16];
    if (http_host_is_own(r->host, NULL) && !http_host_is_own(r->host, names))
        abort();
    if (!r->origin[0] && !http_is_same_origin(r))
        abort();
    for (size_t size = 1; size <= sizeof value; size++)
        if (http_query_value(r->query, "a", value, size) && strlen(value) >= size)
            abort();
}

static void check(const struct http_request *r) {
    if (r->status != 200 && (r->status < 400 || r->status > 599))
        abort();
    if (r->status != 200 && !r->close)
        abort(); // the rest of the connection cannot be trusted
    if (memchr(r->path, 0, sizeof r->path) == NULL)
        abort();
    if (r->status == 200 && r->path[0] != '/' && r->path[0] != 0)
        abort();
    if (!memchr(r->query, 0, sizeof r->query) || !memchr(r->host, 0, sizeof r->host) ||
        !memchr(r->origin, 0, sizeof r->origin))
        abort();
    ask_about(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size = size < HTTP_HEAD ? size : HTTP_HEAD;
    char *bytes = malloc(size ? size : 1); // so that reading beyond is seen
    if (!bytes)
        abort();
    memcpy(bytes, data, size);
    for (size_t at = 0; at < size;) {
        struct http_request r, early;
        const size_t n = http_parse(bytes + at, size - at, &r);
        if (n > size - at)
            abort();
        if (n == 0)
            break;
        check(&r);
        for (size_t k = 0; k < n; k++) // not whole: nothing
            if (http_parse(bytes + at, k, &early) != 0)
                abort();
        at += n;
        if (r.close)
            break;
    }
    struct sockaddr_storage a;
    char text[100];
    const size_t n = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, bytes, n);
    text[n] = 0;
    if (sk_socket_address(text, &a))
        sk_socket_is_local(&a);
    free(bytes);
    return 0;
}
