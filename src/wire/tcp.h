/* tcp.h - how Pleat sets up TCP. */
#ifndef PLEAT_WIRE_TCP_H
#define PLEAT_WIRE_TCP_H

#include <uv.h>

/* Small messages leave at once. A peer that is gone without a word is noticed, also while nothing
 * is sent: after about half a minute the connection breaks. */
void pleat_tcp_watch(uv_tcp_t *tcp);

#endif
