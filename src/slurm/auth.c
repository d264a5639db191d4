#include "slurm/auth.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "seal/seal.h"

#define SOCKET "socket="

/* Operations are called from one thread. */
static struct {
    bool known, munge;
    char socket[PLEAT_SEAL_ROOM / 4]; /* of munged; "": where munge has it */
} auth;

/* info: "socket=PATH,ttl=300"; a path alone in old configurations. */
void pleat_slurm_auth_learn(const char *type, const char *info)
{
    const char *at = info;
    auth.known = true;
    auth.munge = !strcmp(type, "auth/munge");
    auth.socket[0] = '\0';
    while (*at && *at != '/' && strncmp(at, SOCKET, strlen(SOCKET)) != 0) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    if (!*at)
        return;
    if (*at != '/')
        at += strlen(SOCKET);
    snprintf(auth.socket, sizeof(auth.socket), "%.*s", (int)strcspn(at, ","), at);
}

static int learn(int (*cluster)(json_t **cluster, struct pleat_error *err), struct pleat_error *err)
{
    json_t *said = NULL;
    int failure = auth.known ? 0 : cluster(&said, err);
    if (!failure)
        json_decref(said);
    return failure;
}

int pleat_slurm_auth_seal(int (*cluster)(json_t **cluster, struct pleat_error *err),
                          const char *secret, char **sealed, struct pleat_error *err)
{
    static bool told;
    *sealed = NULL;
    int failure = learn(cluster, err);
    if (failure || !auth.munge)
        return failure;
    if (pleat_seal_is_there())
        return pleat_seal(auth.socket, secret, sealed, err);
    if (!told)
        fprintf(stderr,
                "pleat-slurm: agents' keys are sent over Slurm's network as they are: there "
                "is no libmunge.so.2 here, or this was built without munge.h\n");
    told = true;
    return 0;
}
