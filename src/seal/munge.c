#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "seal/seal.h"

#define PREFIX "munge "
#define USUAL_SOCKET "-" /* in a line: where munge has it */

bool pleat_seal_is_sealed(const char *line)
{
    return !strncmp(line, PREFIX, strlen(PREFIX));
}

#ifdef PLEAT_MUNGE
#include <dlfcn.h>
#include <munge.h>

/* libmunge, whose ABI has been the same since 2004. */
static struct {
    __typeof__(&munge_ctx_create) create;
    __typeof__(&munge_ctx_destroy) destroy;
    __typeof__(&munge_ctx_set) set;
    __typeof__(&munge_ctx_strerror) text_of;
    __typeof__(&munge_strerror) text;
    __typeof__(&munge_encode) encode;
    __typeof__(&munge_decode) decode;
    bool loaded;
} lib;

static bool load(void)
{
    static const struct {
        const char *name;
        void *place; /* of a pointer to a function */
    } wanted[] = {{"munge_ctx_create", &lib.create}, {"munge_ctx_destroy", &lib.destroy},
                  {"munge_ctx_set", &lib.set},       {"munge_ctx_strerror", &lib.text_of},
                  {"munge_strerror", &lib.text},     {"munge_encode", &lib.encode},
                  {"munge_decode", &lib.decode}};
    void *library = lib.loaded ? NULL : dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        void *symbol = dlsym(library, wanted[i].name);
        if (!symbol) {
            dlclose(library);
            return false;
        }
        memcpy(wanted[i].place, &symbol, sizeof(symbol));
    }
    lib.loaded = lib.loaded || library;
    return lib.loaded;
}

bool pleat_seal_is_there(void)
{
    return load();
}

static int no_munge(struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED, "libmunge.so.2 is not on this host");
}

static int failed(munge_ctx_t context, munge_err_t code, const char *what, struct pleat_error *err)
{
    const char *text = context ? lib.text_of(context) : NULL;
    int as = PLEAT_E_SYSTEM;
    if (code == EMUNGE_SOCKET || code == EMUNGE_TIMEOUT)
        as = PLEAT_E_CLOSED;
    else if (code == EMUNGE_BAD_CRED || code == EMUNGE_BAD_VERSION ||
             (code >= EMUNGE_CRED_INVALID && code <= EMUNGE_CRED_UNAUTHORIZED))
        as = PLEAT_E_PERMISSION;
    return pleat_error_set(err, as, "munge cannot %s: %s", what, text ? text : lib.text(code));
}

/* With the socket, as it stands in a line. NULL: it cannot be made. */
static munge_ctx_t context_of(const char *socket)
{
    munge_ctx_t context = lib.create();
    if (context && strcmp(socket, USUAL_SOCKET) != 0 &&
        lib.set(context, MUNGE_OPT_SOCKET, socket) != EMUNGE_SUCCESS) {
        lib.destroy(context);
        return NULL;
    }
    return context;
}

/* The cipher is named, since a munged may be configured to encrypt nothing; the time is the
 * longest, since a starter may take long. */
static int encode(munge_ctx_t context, const char *secret, char **credential,
                  struct pleat_error *err)
{
    munge_err_t code = lib.set(context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES128);
    if (code == EMUNGE_SUCCESS)
        code = lib.set(context, MUNGE_OPT_TTL, MUNGE_TTL_MAXIMUM);
    if (code == EMUNGE_SUCCESS)
        code = lib.set(context, MUNGE_OPT_UID_RESTRICTION, geteuid());
    if (code == EMUNGE_SUCCESS)
        code = lib.encode(credential, context, secret, (int)strlen(secret));
    return code == EMUNGE_SUCCESS ? 0 : failed(context, code, "seal a key", err);
}

int pleat_seal(const char *socket, const char *secret, char **line, struct pleat_error *err)
{
    char *credential = NULL;
    if (!load())
        return no_munge(err);
    if (*socket && (*socket != '/' || strpbrk(socket, " \t\r\n")))
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' is no absolute path of a socket",
                               socket);
    const char *place = *socket ? socket : USUAL_SOCKET;
    munge_ctx_t context = context_of(place);
    int failure = context ? encode(context, secret, &credential, err)
                          : pleat_error_set(err, PLEAT_E_SYSTEM, "munge has no memory");
    if (!failure && asprintf(line, PREFIX "%s %s", place, credential) < 0)
        abort();
    free(credential);
    if (context)
        lib.destroy(context);
    return failure;
}

/* What munged gives is wiped before it is freed. */
static int take(void *text, int length, char *secret, size_t size, struct pleat_error *err)
{
    int failure = 0;
    if (length < 0 || (size_t)length >= size || memchr(text, '\0', (size_t)length))
        failure = pleat_error_set(err, PLEAT_E_INVALID,
                                  "what munge has opened is no text of less "
                                  "than %zu bytes",
                                  size);
    else
        memcpy(secret, text, (size_t)length);
    if (!failure)
        secret[length] = '\0';
    if (length > 0)
        explicit_bzero(text, (size_t)length);
    return failure;
}

static int decode(munge_ctx_t context, const char *credential, char *secret, size_t size,
                  struct pleat_error *err)
{
    void *text = NULL;
    int length = 0;
    uid_t user = (uid_t)-1;
    munge_err_t code = lib.decode(credential, context, &text, &length, &user, NULL);
    int failure = code == EMUNGE_SUCCESS ? 0 : failed(context, code, "open the key", err);
    if (!failure && user != geteuid())
        failure = pleat_error_set(err, PLEAT_E_PERMISSION, "the key was sealed by user %u",
                                  (unsigned)user);
    if (!failure && !text)
        failure = pleat_error_set(err, PLEAT_E_INVALID, "nothing was sealed");
    if (!failure)
        failure = take(text, length, secret, size, err);
    else if (text && length > 0)
        explicit_bzero(text, (size_t)length);
    free(text);
    return failure;
}

int pleat_seal_open(const char *line, char *secret, size_t size, struct pleat_error *err)
{
    char socket[PLEAT_SEAL_ROOM];
    const char *place = pleat_seal_is_sealed(line) ? line + strlen(PREFIX) : "";
    size_t length = strcspn(place, " ");
    if (length == 0 || place[length] != ' ' || length >= sizeof(socket) ||
        (*place != '/' && strncmp(place, USUAL_SOCKET " ", 2) != 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "it is not of the form munge SOCKET "
                               "CREDENTIAL");
    if (!load())
        return no_munge(err);
    memcpy(socket, place, length);
    socket[length] = '\0';
    munge_ctx_t context = context_of(socket);
    int failure = context ? decode(context, place + length + 1, secret, size, err)
                          : pleat_error_set(err, PLEAT_E_SYSTEM, "munge has no memory");
    if (context)
        lib.destroy(context);
    return failure;
}

#else

static int no_munge(struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED, "this program was built without munge");
}

bool pleat_seal_is_there(void)
{
    return false;
}

int pleat_seal(const char *socket, const char *secret, char **line, struct pleat_error *err)
{
    (void)socket;
    (void)secret;
    (void)line;
    return no_munge(err);
}

int pleat_seal_open(const char *line, char *secret, size_t size, struct pleat_error *err)
{
    (void)line;
    (void)secret;
    (void)size;
    return no_munge(err);
}

#endif
