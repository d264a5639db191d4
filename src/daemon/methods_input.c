/* The method by which `pleat run` hands over standard input (docs/protocol.md). */
#include "daemon/clients.h"
#include "daemon/inputs.h"
#include "daemon/methods.h"
#include "wire/message.h"

int method_input_of_job(struct client *client, int64_t request, const json_t *params,
                        struct pleat_error *err)
{
    enum { MOST = 1048576 };
    const struct pleat_message *message = client->message;
    struct input_piece piece = {.bytes = message->bytes, .count = message->bytes_count};
    int64_t run = 0;
    int rc = params_job_number(client, params, &piece.job, err);
    if (!rc)
        rc = pleat_get_int(params, "run", false, 0, INT64_MAX, &run, err);
    if (!rc)
        rc = pleat_get_int(params, "offset", false, 0, INT64_MAX / 2, &piece.offset, err);
    if (!rc)
        rc = pleat_get_bool(params, "end", false, &piece.end, err);
    if (!rc && piece.count > MOST)
        rc = pleat_error_set(err, PLEAT_E_TOOBIG, "a piece of input has at most %d bytes", MOST);
    piece.run = (uint64_t)run;
    if (!rc)
        inputs_take(client, request, &piece);
    return rc;
}
