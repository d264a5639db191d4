/* The vectors of the reference implementation of SipHash-2-4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/siphash.h"

static void test_known_values(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        uint64_t hash;
    } known[] = {{0, UINT64_C(0x726fdb47dd0e0e31)},
                 {1, UINT64_C(0x74f839c593dc67fd)},
                 {7, UINT64_C(0xab0200f58b01d137)},
                 {8, UINT64_C(0x93f5f5799a932462)},
                 {15, UINT64_C(0xa129ca6149be45e5)}};
    unsigned char key[PLEAT_SIPHASH_KEY], bytes[16];
    for (unsigned i = 0; i < sizeof(key); i++)
        key[i] = bytes[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        assert_int_equal(pleat_siphash(key, bytes, known[i].count), known[i].hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
