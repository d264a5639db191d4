/* libFuzzer's entry for one fuzz function, which the build names. */
#include <stddef.h>
#include <stdint.h>

void FUZZ_FUNCTION(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* the build hides symbols; the fuzzer's main must find this one */
__attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    FUZZ_FUNCTION(bytes, size);
    return 0;
}
