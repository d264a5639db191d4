/* head.h - the first bytes of every message between two processes.
 *
 * Everything is little-endian. Who can send one has the run's key, but may be of another version or
 * damaged: what is read here is checked, and what does not fit is dropped.
 */
#ifndef PLEAT_PROCESS_HEAD_H
#define PLEAT_PROCESS_HEAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_HEAD_BYTES 64

enum pleat_head_kind {
    PLEAT_HEAD_DATA = 1, /* the program's bytes follow */
    PLEAT_HEAD_ACK = 2,  /* says only what was received and taken */
    PLEAT_HEAD_PING = 3  /* asks for that; `number`: the last one sent before */
};

enum pleat_head_flag {
    PLEAT_HEAD_GAP = 1, /* of an ACK: something is missing after `received` */
    PLEAT_HEAD_ECHO = 2 /* of an ACK: it answers the ping `number` */
};

struct pleat_head {
    uint8_t kind, flags;
    /* the window of the sender, as powers of two (rounded down): how often it needs to hear */
    uint8_t window_messages, window_bytes;
    int32_t from;
    int32_t type;        /* of DATA */
    uint64_t stream;     /* of DATA and PING: which stream of messages; each process has one */
    uint64_t number;     /* of DATA: 1, 2, ... in that stream to this receiver */
    uint64_t ack_stream; /* the stream about which the next three are; 0: they say nothing */
    uint64_t received;   /* the last number up to which nothing is missing */
    uint64_t taken;      /* how many of these the program has taken, and their bytes */
    uint64_t taken_bytes;
};

void pleat_head_write(const struct pleat_head *head, unsigned char bytes[PLEAT_HEAD_BYTES]);
/* Reads the head of a message of `size` bytes. 0, or PLEAT_E_PROTOCOL: it is none. */
int pleat_head_read(const unsigned char *bytes, size_t size,
                    struct pleat_head *head) PLEAT_MUST_CHECK;

#endif
