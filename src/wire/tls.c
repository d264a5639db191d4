#include "wire/tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* More than the largest record, and a feed. */
#define HELD_MAX ((size_t)256 * 1024)
/* A handshake without certificates needs less. */
#define HANDSHAKE_MAX ((size_t)16 * 1024)

/* A key that was shared before proves itself with SHA-256, so suites with SHA-384 are left out. A
 * kind of signature has to be named, and is never used: there are no certificates. */
static const char suites[] = "NONE:+VERS-TLS1.3:+AES-128-GCM:+CHACHA20-POLY1305:+AEAD"
                             ":+GROUP-X25519:+GROUP-SECP256R1:+ECDHE-PSK"
                             ":+SIGN-ECDSA-SECP256R1-SHA256";

struct pleat_tls {
    gnutls_session_t session;
    gnutls_psk_server_credentials_t server;
    gnutls_psk_client_credentials_t client;
    pleat_key_of *key_of;
    void *arg;
    struct pleat_string in; /* came, and is not read yet from `taken` on */
    size_t taken;
    struct pleat_string *out; /* where what is to be sent goes, during a call */
    char identity[PLEAT_WIRE_IDENTITY_MAX + 1];
    bool established;
    bool over;
};

void pleat_wire_wipe(void *bytes, size_t count)
{
    gnutls_memset(bytes, 0, count);
}

bool pleat_wire_identity_is(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (text[i] < '!' || text[i] > '~')
            return false;
    return length > 0 && length <= PLEAT_WIRE_IDENTITY_MAX;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool pleat_wire_key_parse(const char *text, unsigned char key[PLEAT_WIRE_KEY])
{
    if (strlen(text) != (size_t)2 * PLEAT_WIRE_KEY)
        return false;
    for (size_t i = 0; i < PLEAT_WIRE_KEY; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        key[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

void pleat_wire_key_text(const unsigned char key[PLEAT_WIRE_KEY], char text[2 * PLEAT_WIRE_KEY + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < PLEAT_WIRE_KEY; i++) {
        text[2 * i] = digits[key[i] >> 4];
        text[2 * i + 1] = digits[key[i] & 15];
    }
    text[(size_t)2 * PLEAT_WIRE_KEY] = '\0';
}

/* ---- what GnuTLS calls ---- */

static ssize_t pull(gnutls_transport_ptr_t arg, void *buffer, size_t size)
{
    struct pleat_tls *tls = arg;
    size_t left = tls->in.length - tls->taken;
    if (left == 0) {
        gnutls_transport_set_errno(tls->session, EAGAIN);
        return -1;
    }
    size_t count = left < size ? left : size;
    memcpy(buffer, tls->in.text + tls->taken, count);
    tls->taken += count;
    return (ssize_t)count;
}

static int pull_timeout(gnutls_transport_ptr_t arg, unsigned ms)
{
    const struct pleat_tls *tls = arg;
    (void)ms;
    return tls->in.length > tls->taken;
}

static ssize_t push(gnutls_transport_ptr_t arg, const void *bytes, size_t count)
{
    struct pleat_tls *tls = arg;
    if (tls->out)
        pleat_string_add_bytes(tls->out, bytes, count);
    if (!tls->out || tls->out->failed) {
        gnutls_transport_set_errno(tls->session, ENOMEM);
        return -1;
    }
    return (ssize_t)count;
}

/* A caller that names an unknown identity is checked against a random key, and fails as with a
 * wrong key.
 */
static int find_key(gnutls_session_t session, const gnutls_datum_t *name, gnutls_datum_t *key)
{
    struct pleat_tls *tls = gnutls_session_get_ptr(session);
    char identity[PLEAT_WIRE_IDENTITY_MAX + 1] = "";
    key->data = gnutls_malloc(PLEAT_WIRE_KEY);
    key->size = PLEAT_WIRE_KEY;
    if (!key->data || getrandom(key->data, PLEAT_WIRE_KEY, 0) != PLEAT_WIRE_KEY) {
        gnutls_free(key->data); /* this sets it to NULL */
        return -1;
    }
    if (name->size <= PLEAT_WIRE_IDENTITY_MAX && !memchr(name->data, '\0', name->size))
        memcpy(identity, name->data, name->size);
    if (pleat_wire_identity_is(identity))
        (void)tls->key_of(tls->arg, identity, key->data);
    return 0;
}

/* ---- life ---- */

static int make(struct pleat_tls **made, unsigned flags, struct pleat_error *err)
{
    struct pleat_tls *tls = calloc(1, sizeof(*tls));
    if (!tls)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for an encrypted connection");
    /* the socket's owner ignores SIGPIPE; here no socket is written */
    int status =
        gnutls_init(&tls->session, flags | GNUTLS_NONBLOCK | GNUTLS_NO_TICKETS | GNUTLS_NO_SIGNAL);
    if (!status)
        status = gnutls_priority_set_direct(tls->session, suites, NULL);
    if (status) {
        pleat_tls_destroy(tls);
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED, "GnuTLS cannot encrypt: %s",
                               gnutls_strerror(status));
    }
    gnutls_session_set_ptr(tls->session, tls);
    gnutls_handshake_set_max_packet_length(tls->session, HANDSHAKE_MAX);
    gnutls_transport_set_ptr(tls->session, tls);
    gnutls_transport_set_pull_function(tls->session, pull);
    gnutls_transport_set_pull_timeout_function(tls->session, pull_timeout);
    gnutls_transport_set_push_function(tls->session, push);
    *made = tls;
    return 0;
}

static int use(struct pleat_tls *tls, int status, void *credentials, struct pleat_error *err)
{
    if (!status)
        status = gnutls_credentials_set(tls->session, GNUTLS_CRD_PSK, credentials);
    if (!status)
        return 0;
    pleat_tls_destroy(tls);
    return pleat_error_set(err, PLEAT_E_NOMEM, "GnuTLS cannot take a key: %s",
                           gnutls_strerror(status));
}

int pleat_tls_client(const char *identity, const unsigned char key[PLEAT_WIRE_KEY],
                     struct pleat_tls **tls, struct pleat_error *err)
{
    unsigned char copy[PLEAT_WIRE_KEY];
    gnutls_datum_t datum = {copy, PLEAT_WIRE_KEY};
    if (!pleat_wire_identity_is(identity))
        return pleat_error_set(err, PLEAT_E_INVALID, "an identity has from 1 to %d signs",
                               PLEAT_WIRE_IDENTITY_MAX);
    int status = make(tls, GNUTLS_CLIENT, err);
    if (status)
        return status;
    memcpy(copy, key, sizeof(copy));
    memcpy((*tls)->identity, identity, strlen(identity) + 1);
    status = gnutls_psk_allocate_client_credentials(&(*tls)->client);
    if (!status)
        status =
            gnutls_psk_set_client_credentials((*tls)->client, identity, &datum, GNUTLS_PSK_KEY_RAW);
    pleat_wire_wipe(copy, sizeof(copy));
    return use(*tls, status, (*tls)->client, err);
}

int pleat_tls_server(pleat_key_of *key_of, void *arg, struct pleat_tls **tls,
                     struct pleat_error *err)
{
    int status = make(tls, GNUTLS_SERVER, err);
    if (status)
        return status;
    (*tls)->key_of = key_of;
    (*tls)->arg = arg;
    status = gnutls_psk_allocate_server_credentials(&(*tls)->server);
    if (!status)
        gnutls_psk_set_server_credentials_function2((*tls)->server, find_key);
    return use(*tls, status, (*tls)->server, err);
}

void pleat_tls_destroy(struct pleat_tls *tls)
{
    if (!tls)
        return;
    if (tls->session)
        gnutls_deinit(tls->session);
    if (tls->server)
        gnutls_psk_free_server_credentials(tls->server);
    if (tls->client)
        gnutls_psk_free_client_credentials(tls->client);
    pleat_string_finish(&tls->in);
    free(tls);
}

/* ---- bytes in ---- */

int pleat_tls_feed(struct pleat_tls *tls, const char *bytes, size_t count, struct pleat_error *err)
{
    if (tls->taken > 0) {
        tls->in.length -= tls->taken;
        memmove(tls->in.text, tls->in.text + tls->taken, tls->in.length);
        tls->taken = 0;
    }
    if (count > HELD_MAX - tls->in.length)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "more than %zu bytes came and make no sense",
                               HELD_MAX);
    pleat_string_add_bytes(&tls->in, bytes, count);
    if (tls->in.failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for %zu received bytes", count);
    return 0;
}

static bool is_to_be_waited_for(ssize_t status)
{
    return status == GNUTLS_E_AGAIN || status == GNUTLS_E_INTERRUPTED;
}

/* Checks, beyond what GnuTLS accepts, that both ends have proved with this version that they have
 * the key.
 */
static bool is_as_wanted(const struct pleat_tls *tls)
{
    return gnutls_protocol_get_version(tls->session) == GNUTLS_TLS1_3 &&
           gnutls_kx_get(tls->session) == GNUTLS_KX_ECDHE_PSK &&
           gnutls_auth_get_type(tls->session) == GNUTLS_CRD_PSK &&
           !gnutls_session_is_resumed(tls->session);
}

/* In a server: takes the identity of the caller. */
static bool take_identity(struct pleat_tls *tls)
{
    gnutls_datum_t name = {0};
    if (tls->client)
        return true;
    if (gnutls_psk_server_get_username2(tls->session, &name) || name.size == 0 ||
        name.size > PLEAT_WIRE_IDENTITY_MAX || memchr(name.data, '\0', name.size))
        return false;
    memcpy(tls->identity, name.data, name.size);
    tls->identity[name.size] = '\0';
    return pleat_wire_identity_is(tls->identity);
}

int pleat_tls_handshake(struct pleat_tls *tls, struct pleat_string *out, struct pleat_error *err)
{
    if (tls->established)
        return 1;
    tls->out = out;
    int status;
    do
        status = gnutls_handshake(tls->session);
    while (status == GNUTLS_E_WARNING_ALERT_RECEIVED);
    tls->out = NULL;
    if (out->failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a handshake");
    if (is_to_be_waited_for(status))
        return 0;
    if (status == 0 && is_as_wanted(tls) && take_identity(tls)) {
        tls->established = true;
        return 1;
    }
    return pleat_error_set(err, PLEAT_E_PERMISSION,
                           "the peer does not prove that it has the same key (%s)",
                           status ? gnutls_strerror(status) : "another kind of proof");
}

const char *pleat_tls_identity(const struct pleat_tls *tls)
{
    return tls->established ? tls->identity : "";
}

int pleat_tls_read(struct pleat_tls *tls, char *buffer, size_t size, size_t *count,
                   struct pleat_error *err)
{
    struct pleat_string answers = {0};
    *count = 0;
    if (!tls->established)
        return pleat_error_set(err, PLEAT_E_STATE, "the handshake is not over");
    if (tls->over)
        return 0;
    /* An answer could only be due to a request for new keys, which Pleat never makes. */
    tls->out = &answers;
    ssize_t got = gnutls_record_recv(tls->session, buffer, size);
    tls->out = NULL;
    bool answered = answers.length > 0;
    pleat_string_finish(&answers);
    if (answered)
        return pleat_error_set(err, PLEAT_E_PROTOCOL, "the peer asks for other keys");
    if (is_to_be_waited_for(got))
        return 0;
    if (got < 0)
        return pleat_error_set(err, PLEAT_E_PROTOCOL, "what came is not what was sent: %s",
                               gnutls_strerror((int)got));
    *count = (size_t)got;
    tls->over = got == 0;
    return got > 0;
}

bool pleat_tls_is_over(const struct pleat_tls *tls)
{
    return tls->over;
}

/* ---- bytes out ---- */

int pleat_tls_write(struct pleat_tls *tls, const char *bytes, size_t count,
                    struct pleat_string *out, struct pleat_error *err)
{
    size_t done = 0;
    ssize_t status = 0;
    if (!tls->established)
        return pleat_error_set(err, PLEAT_E_STATE, "the handshake is not over");
    tls->out = out;
    while (done < count && status >= 0) {
        status = gnutls_record_send(tls->session, bytes + done, count - done);
        if (status > 0)
            done += (size_t)status;
    }
    tls->out = NULL;
    if (out->failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for %zu bytes to send", count);
    if (status < 0)
        return pleat_error_set(err, PLEAT_E_SYSTEM, "cannot encrypt: %s",
                               gnutls_strerror((int)status));
    return 0;
}

void pleat_tls_bye(struct pleat_tls *tls, struct pleat_string *out)
{
    if (!tls->established)
        return;
    tls->out = out;
    (void)gnutls_bye(tls->session, GNUTLS_SHUT_WR);
    tls->out = NULL;
}
