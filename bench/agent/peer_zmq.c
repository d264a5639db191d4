/* One of two processes with nothing but libzmq, with the same encryption.
 * usage: peer_zmq PERCENT ENDPOINT SECRET PUBLIC 0|1 */
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

#include "agent/cases.h"

static void *wire_socket;

static void must(int good)
{
    if (!good) {
        fprintf(stderr, "libzmq: %s\n", zmq_strerror(zmq_errno()));
        exit(1);
    }
}

static void send_bytes(const void *bytes, size_t count)
{
    must(zmq_send(wire_socket, bytes, count, 0) >= 0);
}

static void receive_bytes(void *bytes, size_t count)
{
    must(zmq_recv(wire_socket, bytes, count, 0) >= 0);
}

int main(int argc, char **argv)
{
    const struct wire wire = {send_bytes, receive_bytes};
    if (argc != 6)
        return 2;
    int first = argv[5][0] == '0', yes = 1;
    void *context = zmq_ctx_new();
    wire_socket = zmq_socket(context, ZMQ_DEALER);
    must(wire_socket && !zmq_setsockopt(wire_socket, ZMQ_CURVE_SECRETKEY, argv[3], 40));
    if (first)
        must(!zmq_setsockopt(wire_socket, ZMQ_CURVE_SERVER, &yes, sizeof(yes)) &&
             !zmq_bind(wire_socket, argv[2]));
    else
        must(!zmq_setsockopt(wire_socket, ZMQ_CURVE_SERVERKEY, argv[4], 40) &&
             !zmq_setsockopt(wire_socket, ZMQ_CURVE_PUBLICKEY, argv[4], 40) &&
             !zmq_connect(wire_socket, argv[2]));
    cases_run(&wire, first, atoi(argv[1]));
    zmq_close(wire_socket);
    zmq_ctx_term(context);
    return 0;
}
