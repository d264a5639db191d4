#include "process/door.h"

#include <errno.h>
#include <string.h>
#include <zmq.h>

int pleat_door_open(struct pleat_processes *all, struct pleat_error *err)
{
    int at_once = 0;
    all->doorman = zmq_socket(all->context, ZMQ_REP);
    if (!all->doorman || zmq_setsockopt(all->doorman, ZMQ_LINGER, &at_once, sizeof(at_once)) ||
        zmq_bind(all->doorman, "inproc://zeromq.zap.01"))
        return pleat_error_set(err, PLEAT_E_SYSTEM, "cannot make a socket of libzmq's: %s",
                               zmq_strerror(zmq_errno()));
    return 0;
}

/* The frames of a question; what is in none is empty. */
enum { VERSION, NUMBER, DOMAIN, ADDRESS, NAME, MECHANISM, KEY, FRAMES };

struct frame {
    size_t size;
    unsigned char bytes[256];
};

static bool is(const struct frame *frame, const void *bytes, size_t size)
{
    return frame->size == size && memcmp(frame->bytes, bytes, size) == 0;
}

/* False: there is no question. */
static bool take(void *doorman, struct frame frames[FRAMES])
{
    int more = 1;
    size_t more_size = sizeof(more);
    memset(frames, 0, FRAMES * sizeof(*frames));
    for (int i = 0; more; i++) {
        zmq_msg_t content;
        zmq_msg_init(&content);
        if (zmq_msg_recv(&content, doorman, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&content);
            return false;
        }
        if (i < FRAMES) {
            size_t size = zmq_msg_size(&content);
            frames[i].size = size <= sizeof(frames[i].bytes) ? size : 0;
            memcpy(frames[i].bytes, zmq_msg_data(&content), frames[i].size);
        }
        zmq_msg_close(&content);
        if (zmq_getsockopt(doorman, ZMQ_RCVMORE, &more, &more_size))
            return false;
    }
    return true;
}

void pleat_door_answer(struct pleat_processes *all)
{
    struct frame frames[FRAMES];
    unsigned char key[32];
    if (!zmq_z85_decode(key, all->public))
        return;
    while (take(all->doorman, frames)) {
        bool yes = is(&frames[VERSION], "1.0", 3) && is(&frames[MECHANISM], "CURVE", 5) &&
                   is(&frames[KEY], key, sizeof(key));
        const char *code = yes ? "200" : "400";
        const char *text = yes ? "" : "not of this run";
        int more = ZMQ_SNDMORE;
        if (zmq_send(all->doorman, "1.0", 3, more) < 0 ||
            zmq_send(all->doorman, frames[NUMBER].bytes, frames[NUMBER].size, more) < 0 ||
            zmq_send(all->doorman, code, 3, more) < 0 ||
            zmq_send(all->doorman, text, strlen(text), more) < 0 ||
            zmq_send(all->doorman, "", 0, more) < 0 || zmq_send(all->doorman, "", 0, 0) < 0)
            return;
    }
}
