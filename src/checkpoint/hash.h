/* hash.h - the checksum of checkpoints: XXH3, 64 bits. At the speed of memory, and it notices what
 * disks and copies do to data; it is no defence against intent. */
#ifndef PLEAT_CHECKPOINT_HASH_H
#define PLEAT_CHECKPOINT_HASH_H

#define XXH_INLINE_ALL
#include <stdint.h>
#include <xxhash.h>

struct pleat_checkpoint_hashing {
    XXH3_state_t state;
};

static inline uint64_t pleat_checkpoint_hash(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

static inline void pleat_checkpoint_hash_begin(struct pleat_checkpoint_hashing *hashing)
{
    XXH3_INITSTATE(&hashing->state);
    (void)XXH3_64bits_reset(&hashing->state);
}

static inline void pleat_checkpoint_hash_add(struct pleat_checkpoint_hashing *hashing,
                                             const void *data, size_t bytes)
{
    (void)XXH3_64bits_update(&hashing->state, data, bytes);
}

static inline uint64_t pleat_checkpoint_hash_end(const struct pleat_checkpoint_hashing *hashing)
{
    return XXH3_64bits_digest(&hashing->state);
}

#endif
