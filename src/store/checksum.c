#include <string.h>

#include "store/store-internal.h"

int64_t pleat_store_checksum(int64_t number, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t sum = 0xcbf29ce484222325u;
    uint64_t head[2] = {(uint64_t)number, size};
    for (int i = 0; i < 16; i++)
        sum = (sum ^ (head[i / 8] >> (i % 8 * 8) & 0xff)) * 0x100000001b3u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ byte[i]) * 0x100000001b3u;
    int64_t stored; /* SQLite's integers are signed */
    memcpy(&stored, &sum, sizeof(stored));
    return stored;
}
