/* seal.h - a secret that a batch system's starter carries to a node, over a network that others may
 * read, sealed by munge: the service by which the hosts of a cluster know each other's users.
 *
 * A sealed secret is encrypted with the key that the munged of all hosts of the cluster have;
 * munged opens it for this user only, and once on each host. libmunge is loaded when it is needed:
 * a host without it can do everything else.
 */
#ifndef PLEAT_SEAL_SEAL_H
#define PLEAT_SEAL_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Bytes of a line with a sealed secret of up to 512 bytes and its socket, with its NUL. */
#define PLEAT_SEAL_ROOM 4096

/* Whether this program was built with munge, and libmunge is on this host. */
bool pleat_seal_is_there(void);

/* socket: of the munged of the cluster, the same path on each host; "": where munge has it. *line
 * is the caller's, to be freed: "munge SOCKET CREDENTIAL". Blocks until munged has answered.
 * PLEAT_E_UNSUPPORTED: as pleat_seal_is_there; PLEAT_E_CLOSED: munged does not answer;
 * PLEAT_E_INVALID: socket is no absolute path; PLEAT_E_SYSTEM: anything else. */
int pleat_seal(const char *socket, const char *secret, char **line,
               struct pleat_error *err) PLEAT_MUST_CHECK;

/* Whether it begins as a line of pleat_seal does. */
bool pleat_seal_is_sealed(const char *line);

/* The secret, ended by a NUL. Blocks likewise. Errors as above, and PLEAT_E_PERMISSION: it was
 * sealed by another user, for another one, or with another key, was changed, is too old, or was
 * opened before; PLEAT_E_INVALID, too: no such line, or the secret has `size` bytes or more. */
int pleat_seal_open(const char *line, char *secret, size_t size,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
