/* The methods by which `pleat run` hands over standard input, and what is about its terminal, where
 * the job is on another host (docs/protocol.md). */
#include "daemon/clients.h"
#include "daemon/inputs.h"
#include "daemon/methods.h"
#include "daemon/terminals.h"
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

int method_terminal(struct client *client, int64_t request, const json_t *params,
                    struct pleat_error *err)
{
    struct terminal_seen seen = {0};
    int64_t run = 0;
    int rc = params_job_number(client, params, &seen.job, err);
    if (!rc)
        rc = pleat_get_int(params, "run", false, 0, INT64_MAX, &run, err);
    if (!rc)
        rc = pleat_get_int(params, "offset", false, 0, INT64_MAX / 2, &seen.offset, err);
    seen.run = (uint64_t)run;
    if (!rc)
        terminals_show(client, request, &seen);
    return rc;
}

int method_window(struct client *client, int64_t request, const json_t *params,
                  struct pleat_error *err)
{
    int64_t job = 0, rows = 0, columns = 0;
    int rc = params_job_number(client, params, &job, err);
    if (!rc)
        rc = pleat_get_int(params, "rows", true, 0, UINT16_MAX, &rows, err);
    if (!rc)
        rc = pleat_get_int(params, "columns", true, 0, UINT16_MAX, &columns, err);
    if (rc)
        return rc;
    terminals_resize(client->daemon, job, (uint16_t)rows, (uint16_t)columns);
    client_reply(client, request, json_object());
    return 0;
}
