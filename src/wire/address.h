/* address.h - where a peer is: at a unix socket of this machine, or at a host and port. The kind of
 * the address decides how both ends find out who the other one is (authenticator.h). */
#ifndef PLEAT_WIRE_ADDRESS_H
#define PLEAT_WIRE_ADDRESS_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

#define PLEAT_ADDRESS_HOST_MAX 253 /* bytes of a name in the DNS */

enum pleat_address_kind { PLEAT_ADDRESS_UNIX, PLEAT_ADDRESS_TCP };

struct pleat_address {
    enum pleat_address_kind kind;
    char path[108];                        /* unix */
    char host[PLEAT_ADDRESS_HOST_MAX + 1]; /* tcp: a name or a number, without brackets */
    uint16_t port;                         /* tcp; from 1 */
};

/* Reads "/a/path", "host:port" or "[number]:port" (for numbers of IPv6). PLEAT_E_INVALID,
 * PLEAT_E_TOOBIG. No name is looked up. */
int pleat_address_parse(const char *text, struct pleat_address *address,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the address as pleat_address_parse reads it. */
void pleat_address_text(const struct pleat_address *address, struct pleat_string *out);
/* Whether text can be the host of an address: letters, digits, '.', '-', '_', or the number of an
 * IPv6 address. */
int pleat_address_check_host(const char *text, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
