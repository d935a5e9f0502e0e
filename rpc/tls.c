// SPDX-License-Identifier: Apache-2.0
//
// tls: TLS by OpenSSL, the names in certificates of clients, and the client's side.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "rpc/client.h"
#include "rpc/rpc_impl.h"

// ---- sockets: writing with OpenSSL's own BIO would raise SIGPIPE ----

static int tls_socket_result(BIO *bio, ssize_t n, int retry) {
    BIO_clear_retry_flags(bio);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_flags(bio, BIO_FLAGS_SHOULD_RETRY | retry);
    return (int)n;
}

static int tls_socket_fd(BIO *bio) {
    return (int)(intptr_t)BIO_get_data(bio);
}

static int tls_socket_read(BIO *bio, char *bytes, int room) {
    const ssize_t n = recv(tls_socket_fd(bio), bytes, (size_t)room, 0);
    return tls_socket_result(bio, n, BIO_FLAGS_READ);
}

static int tls_socket_write(BIO *bio, const char *bytes, int length) {
    const ssize_t n = send(tls_socket_fd(bio), bytes, (size_t)length, MSG_NOSIGNAL);
    return tls_socket_result(bio, n, BIO_FLAGS_WRITE);
}

static long tls_socket_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *tls_socket_method(void) {
    static BIO_METHOD *method; // kept until the process ends
    if (method)
        return method;
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "silken socket");
    if (!method)
        abort();
    BIO_meth_set_read(method, tls_socket_read);
    BIO_meth_set_write(method, tls_socket_write);
    BIO_meth_set_ctrl(method, tls_socket_control);
    return method;
}

// ---- the server's side ----

static int tls_fail(struct sk_error *err, const char *what, const char *path) {
    const unsigned long code = ERR_get_error();
    const char *why = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return sk_fail(err, "cannot use %s '%s' for TLS: %s", what, path, why ? why : strerror(errno));
}

static int tls_choose(SSL *tls, const unsigned char **out, unsigned char *length,
                      const unsigned char *offered, unsigned n, void *aux) {
    static const unsigned char ours[] = "\x02h2";
    unsigned char *chosen;
    (void)tls, (void)aux;
    if (SSL_select_next_proto(&chosen, length, ours, sizeof ours - 1, offered, n) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static int tls_files(SSL_CTX *context, const struct rpc_options *o, struct sk_error *err) {
    const char *key = o->key ? o->key : o->certificate;
    if (SSL_CTX_use_certificate_chain_file(context, o->certificate) != 1)
        return tls_fail(err, "certificate", o->certificate);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return tls_fail(err, "key", key);
    if (!o->client_authority)
        return 0;
    if (SSL_CTX_load_verify_locations(context, o->client_authority, NULL) != 1)
        return tls_fail(err, "client authority", o->client_authority);
    SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(o->client_authority));
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return 0;
}

SSL_CTX *rpc_tls_open(const struct rpc_options *o, struct sk_error *err) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context)
        abort();
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    // RFC 9113, 9.2.2: TLS 1.2 only with ephemeral keys and authenticated encryption
    SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                     SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(context, tls_choose, NULL);
    if (tls_files(context, o, err) == 0)
        return context;
    SSL_CTX_free(context);
    return NULL;
}

SSL *rpc_tls_start(SSL_CTX *context, int fd) {
    SSL *tls = SSL_new(context);
    BIO *bio = tls ? BIO_new(tls_socket_method()) : NULL;
    if (!bio) {
        SSL_free(tls);
        return NULL;
    }
    BIO_set_data(bio, (void *)(intptr_t)fd);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls, bio, bio);
    SSL_set_accept_state(tls);
    return tls;
}

// Appends the subject of the client's certificate to its address; '?' stands for bytes that are not
// printable ASCII.
static void tls_name_peer(struct rpc_connection *c) {
    char subject[200];
    X509 *certificate = SSL_get1_peer_certificate(c->tls);
    const size_t n = strlen(c->peer);
    if (!certificate)
        return;
    X509_NAME_oneline(X509_get_subject_name(certificate), subject, sizeof subject);
    X509_free(certificate);
    for (char *at = subject; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    snprintf(c->peer + n, sizeof c->peer - n, " %s", subject);
}

static bool tls_is_http2(SSL *tls) {
    const unsigned char *name;
    unsigned length;
    SSL_get0_alpn_selected(tls, &name, &length);
    return length == 2 && memcmp(name, "h2", 2) == 0;
}

int rpc_tls_handshake(struct rpc_connection *c) {
    ERR_clear_error();
    const int rc = SSL_do_handshake(c->tls), why = SSL_get_error(c->tls, rc);
    if (rc == 1) {
        tls_name_peer(c);
        return tls_is_http2(c->tls) ? 1 : -1;
    }
    c->blocked = why == SSL_ERROR_WANT_WRITE;
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

static ssize_t tls_result(SSL *tls, int rc) {
    const int why = rc > 0 ? SSL_ERROR_NONE : SSL_get_error(tls, rc);
    if (rc > 0 || why == SSL_ERROR_ZERO_RETURN)
        return rc > 0 ? rc : 0;
    errno = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? EAGAIN : EIO;
    return -1;
}

ssize_t rpc_tls_read(SSL *tls, void *bytes, size_t room) {
    ERR_clear_error();
    return tls_result(tls, SSL_read(tls, bytes, (int)room));
}

ssize_t rpc_tls_write(SSL *tls, const void *bytes, size_t length) {
    ERR_clear_error();
    return tls_result(tls, SSL_write(tls, bytes, (int)length));
}

// ---- the client's side ----

const char *rpc_tls_why(void) {
    const unsigned long code = ERR_peek_last_error();
    const char *why = code ? ERR_reason_error_string(code) : NULL;
    return why ? why : strerror(errno);
}

// A key with a passphrase is refused: nobody is asked.
static int tls_no_passphrase(char *room, int size, int writing, void *aux) {
    (void)room, (void)size, (void)writing, (void)aux;
    return 0;
}

static int tls_client_files(SSL_CTX *context, const struct rpc_client_tls *o,
                            struct sk_error *err) {
    const char *key = o->key ? o->key : o->certificate;
    ERR_clear_error();
    if (o->key && !o->certificate)
        return sk_fail(err, "the key '%s' needs a certificate, and no certificate is given",
                       o->key);
    if (o->authority ? SSL_CTX_load_verify_locations(context, o->authority, NULL) != 1
                     : SSL_CTX_set_default_verify_paths(context) != 1)
        return tls_fail(err, "authority", o->authority ? o->authority : "of the system");
    if (o->certificate && SSL_CTX_use_certificate_chain_file(context, o->certificate) != 1)
        return tls_fail(err, "certificate", o->certificate);
    if (o->certificate && SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return tls_fail(err, "key", key);
    return 0;
}

static SSL_CTX *tls_client_context(const struct rpc_client_tls *o, struct sk_error *err) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context)
        abort();
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_default_passwd_cb(context, tls_no_passphrase);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (tls_client_files(context, o, err) == 0)
        return context;
    SSL_CTX_free(context);
    return NULL;
}

// The certificate must be of this name, or of this address.
static bool tls_expect(SSL *tls, const char *name) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), name) == 1)
        return true;
    ERR_clear_error();
    SSL_set_hostflags(tls, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(tls, name) == 1 && SSL_set_tlsext_host_name(tls, name) == 1;
}

static int tls_client_handshake(SSL *tls, const char *server, struct sk_error *err) {
    ERR_clear_error();
    errno = 0;
    const int rc = SSL_do_handshake(tls), how = SSL_get_error(tls, rc);
    const long verified = SSL_get_verify_result(tls);
    if (rc == 1)
        return tls_is_http2(tls) ? 0 : sk_fail(err, "%s: it speaks TLS, but not HTTP/2", server);
    if (verified != X509_V_OK)
        return sk_fail(err, "%s: its certificate is not accepted: %s", server,
                       X509_verify_cert_error_string(verified));
    if (how == SSL_ERROR_WANT_READ || how == SSL_ERROR_WANT_WRITE)
        return sk_fail(err, "%s: it does not answer", server);
    if (!ERR_peek_error() && (!errno || errno == ECONNRESET || errno == EPIPE))
        return sk_fail(err, "%s: it closed the connection during the TLS handshake", server);
    return sk_fail(err, "%s: the TLS handshake failed: %s", server, rpc_tls_why());
}

SSL *rpc_tls_connect(int fd, const char *server, const struct rpc_client_tls *options,
                     struct sk_error *err) {
    static const unsigned char protocols[] = "\x02h2";
    SSL_CTX *context = tls_client_context(options, err);
    if (!context)
        return NULL;
    SSL *tls = rpc_tls_start(context, fd);
    SSL_CTX_free(context); // the connection holds it
    if (!tls)
        abort();
    SSL_set_connect_state(tls);
    if (SSL_set_alpn_protos(tls, protocols, sizeof protocols - 1) ||
        !tls_expect(tls, options->name))
        sk_fail(err, "%s: '%s' is not a name that a certificate can have", server, options->name);
    else if (tls_client_handshake(tls, server, err) == 0)
        return tls;
    SSL_free(tls);
    return NULL;
}
