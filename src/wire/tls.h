/* tls.h - TLS 1.3 between two ends with the same key. All is encrypted, each end proves to the
 * other that it has the key, and data that were replayed or changed on the way are refused.
 *
 * Bytes in, bytes out: nothing here reads or writes a socket, waits, or looks at a clock. The keys
 * of a connection come from a fresh Diffie-Hellman exchange, so the shared key does not help to
 * read what was recorded before. There are no certificates, no other versions, no tickets, no data
 * before the end of the handshake.
 *
 * A caller without the right key is refused in the same way whether the identity that it names is
 * known or not.
 */
#ifndef PLEAT_WIRE_TLS_H
#define PLEAT_WIRE_TLS_H

#include <stdbool.h>

#include "base/array.h"
#include "base/error.h"

#define PLEAT_WIRE_KEY 32           /* bytes of a key */
#define PLEAT_WIRE_IDENTITY_MAX 127 /* bytes of an identity, from '!' to '~' */

struct pleat_tls;

/* Fills in the key of an identity. False: nobody of that name may connect. Called from inside
 * pleat_tls_handshake. */
typedef bool pleat_key_of(void *arg, const char *identity, unsigned char key[PLEAT_WIRE_KEY]);

/* PLEAT_E_INVALID: that is no identity; PLEAT_E_NOMEM. The key is copied. */
int pleat_tls_client(const char *identity, const unsigned char key[PLEAT_WIRE_KEY],
                     struct pleat_tls **tls, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_tls_server(pleat_key_of *key_of, void *arg, struct pleat_tls **tls,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts NULL. */
void pleat_tls_destroy(struct pleat_tls *tls);

/* Takes bytes that came from the peer. PLEAT_E_TOOBIG: earlier ones were not read; PLEAT_E_NOMEM.
 */
int pleat_tls_feed(struct pleat_tls *tls, const char *bytes, size_t count,
                   struct pleat_error *err) PLEAT_MUST_CHECK;
/* Goes on with the handshake, and appends to *out what the peer is to be sent. 1: both ends have
 * proved their identity. 0: more has to come. PLEAT_E_PERMISSION: the peer does not have the key,
 * or does not speak this TLS; PLEAT_E_NOMEM. */
int pleat_tls_handshake(struct pleat_tls *tls, struct pleat_string *out,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The identity whose key both ends have: in a server the caller's, in a client its own. "" before
 * the end of the handshake. */
const char *pleat_tls_identity(const struct pleat_tls *tls);

/* After the handshake. Decrypts at most `size` bytes. 1: *count bytes are there; 0: more has to
 * come, or pleat_tls_is_over. PLEAT_E_PROTOCOL: what came was changed, or is no TLS. */
int pleat_tls_read(struct pleat_tls *tls, char *buffer, size_t size, size_t *count,
                   struct pleat_error *err) PLEAT_MUST_CHECK;
/* The peer has said that it sends nothing more. A stream that ends without that was cut off. */
bool pleat_tls_is_over(const struct pleat_tls *tls);
/* Encrypts, and appends to *out. */
int pleat_tls_write(struct pleat_tls *tls, const char *bytes, size_t count,
                    struct pleat_string *out, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the word that nothing more will be sent. */
void pleat_tls_bye(struct pleat_tls *tls, struct pleat_string *out);

/* "64 hexadecimal digits" to a key, and back. False: it is not that. */
bool pleat_wire_key_parse(const char *text, unsigned char key[PLEAT_WIRE_KEY]);
void pleat_wire_key_text(const unsigned char key[PLEAT_WIRE_KEY],
                         char text[2 * PLEAT_WIRE_KEY + 1]);
bool pleat_wire_identity_is(const char *text);
/* Overwrites a secret, even if the compiler sees that it is not read again. */
void pleat_wire_wipe(void *bytes, size_t count);

#endif
