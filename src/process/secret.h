/* secret.h - the run's key. */
#ifndef PLEAT_PROCESS_SECRET_H
#define PLEAT_PROCESS_SECRET_H

#include "base/error.h"

/* Makes the run's keys, as libzmq's texts, of the secret that the agent has left for this process
 * (PLEAT_PROCESS_SECRET_FD, else PLEAT_PROCESS_SECRET: 64 hexadecimal digits). The secret is the
 * secret key itself; all processes of the run have this one pair, and let in nobody else. The
 * descriptor is closed. PLEAT_E_INVALID, PLEAT_E_SYSTEM, PLEAT_E_UNSUPPORTED. */
int pleat_secret_keys(char secret[41], char public[41], struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
