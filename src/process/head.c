#include "process/head.h"

#include <string.h>

#define MAGIC UINT32_C(0x31544c50) /* "PLT1" */

static void put(unsigned char *bytes, uint64_t value, int count)
{
    for (int i = 0; i < count; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

void pleat_head_write(const struct pleat_head *head, unsigned char bytes[PLEAT_HEAD_BYTES])
{
    put(bytes, MAGIC, 4);
    bytes[4] = head->kind;
    bytes[5] = head->flags;
    bytes[6] = head->window_messages;
    bytes[7] = head->window_bytes;
    put(bytes + 8, (uint32_t)head->from, 4);
    put(bytes + 12, (uint32_t)head->type, 4);
    put(bytes + 16, head->stream, 8);
    put(bytes + 24, head->number, 8);
    put(bytes + 32, head->ack_stream, 8);
    put(bytes + 40, head->received, 8);
    put(bytes + 48, head->taken, 8);
    put(bytes + 56, head->taken_bytes, 8);
}

/* Whether what was read can be. */
static int check(const struct pleat_head *head, size_t size)
{
    if (head->from < 0 || head->taken > head->received || head->window_messages > 63 ||
        head->window_bytes > 63)
        return PLEAT_E_PROTOCOL;
    if (head->kind == PLEAT_HEAD_DATA)
        return head->type < 0 || !head->stream || !head->number || head->flags ? PLEAT_E_PROTOCOL
                                                                               : 0;
    if (size != PLEAT_HEAD_BYTES)
        return PLEAT_E_PROTOCOL;
    if (head->kind == PLEAT_HEAD_PING)
        return !head->stream || head->flags ? PLEAT_E_PROTOCOL : 0;
    return head->kind != PLEAT_HEAD_ACK || !head->ack_stream ||
                   head->flags > (PLEAT_HEAD_GAP | PLEAT_HEAD_ECHO)
               ? PLEAT_E_PROTOCOL
               : 0;
}

int pleat_head_read(const unsigned char *bytes, size_t size, struct pleat_head *head)
{
    memset(head, 0, sizeof(*head));
    if (size < PLEAT_HEAD_BYTES || get(bytes, 4) != MAGIC)
        return PLEAT_E_PROTOCOL;
    head->kind = bytes[4];
    head->flags = bytes[5];
    head->window_messages = bytes[6];
    head->window_bytes = bytes[7];
    head->from = (int32_t)get(bytes + 8, 4);
    head->type = (int32_t)get(bytes + 12, 4);
    head->stream = get(bytes + 16, 8);
    head->number = get(bytes + 24, 8);
    head->ack_stream = get(bytes + 32, 8);
    head->received = get(bytes + 40, 8);
    head->taken = get(bytes + 48, 8);
    head->taken_bytes = get(bytes + 56, 8);
    return check(head, size);
}
