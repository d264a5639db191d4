#include "tls_fuzz.h"

#include <string.h>

#include "base/random.h"
#include "must.h"
#include "wire/tls.h"

unsigned long pleat_fuzz_tls_answered;

static bool key_of(void *arg, const char *identity, unsigned char key[PLEAT_WIRE_KEY])
{
    (void)arg;
    must(pleat_wire_identity_is(identity));
    memset(key, 7, PLEAT_WIRE_KEY);
    return true;
}

static struct pleat_tls *make(bool server, struct pleat_string *out)
{
    static const unsigned char key[PLEAT_WIRE_KEY] = {5};
    struct pleat_tls *tls = NULL;
    if (server) {
        must(pleat_tls_server(key_of, NULL, &tls, NULL) == 0);
    } else {
        must(pleat_tls_client("a", key, &tls, NULL) == 0);
        must(pleat_tls_handshake(tls, out, NULL) == 0); /* speaks first */
        out->length = 0;
    }
    return tls;
}

void pleat_fuzz_tls(const uint8_t *bytes, size_t size)
{
    struct pleat_random random;
    struct pleat_string out = {0};
    struct pleat_error err = {0};
    char plain[64];
    size_t count = 0;
    if (size < 1)
        return;
    pleat_random_init(&random, bytes[0]);
    struct pleat_tls *tls = make(bytes[0] & 1, &out);
    int status = 0;
    for (size_t at = 1; at < size && status == 0;) {
        size_t cut = 1 + (size_t)pleat_random_below(&random, bytes[0] & 2 ? 64 : 65536);
        if (cut > size - at)
            cut = size - at;
        status = pleat_tls_feed(tls, (const char *)bytes + at, cut, &err);
        at += cut;
        if (status == 0)
            status = pleat_tls_handshake(tls, &out, &err);
        must(status <= 0);
        must(out.length < 100000);
    }
    must(!*pleat_tls_identity(tls));
    must(pleat_tls_read(tls, plain, sizeof(plain), &count, &err) == PLEAT_E_STATE && count == 0);
    must(pleat_tls_write(tls, "x", 1, &out, &err) == PLEAT_E_STATE);
    pleat_fuzz_tls_answered += out.length > 0;
    pleat_string_finish(&out);
    pleat_tls_destroy(tls);
}
