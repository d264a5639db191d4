/* authenticator.h - how the two ends of a connection find out who the other one is: a row of the
 * table for each way. The kind of the peer's address decides which way is taken. */
#ifndef PLEAT_WIRE_AUTHENTICATOR_H
#define PLEAT_WIRE_AUTHENTICATOR_H

#include <uv.h>

#include "wire/address.h"
#include "wire/tls.h"

/* What an end proves itself with. The strings and the key are borrowed. */
struct pleat_credentials {
    bool server;
    const char *identity; /* of a client: its identity */
    const unsigned char *key;
    pleat_key_of *key_of; /* of a server: who may connect */
    void *arg;            /* the argument of key_of */
};

struct pleat_authenticator {
    const char *name;
    enum pleat_address_kind kind; /* the kind of address whose peers are identified in this way */
    /* Asks the kernel about a stream that is connected, before anything is read from it.
     * PLEAT_E_PERMISSION: the peer is refused. NULL: the kernel does not know. */
    int (*ask)(uv_stream_t *stream, bool server, int *pid, struct pleat_error *err);
    /* Makes the TLS session that proves the identity, and encrypts. NULL: nothing more is to be
     * proved. */
    int (*prove)(const struct pleat_credentials *credentials, struct pleat_tls **tls,
                 struct pleat_error *err);
};

/* Never NULL. */
const struct pleat_authenticator *pleat_authenticator_of(enum pleat_address_kind kind);

#endif
