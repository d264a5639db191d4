/* The table of methods that clients can call (docs/protocol.md, "Client and daemon"). */
#include <string.h>

#include "daemon/clients.h"
#include "daemon/log.h"
#include "daemon/methods.h"
#include "wire/message.h"

/* Calls the method. 0, and *answer is what is to be sent at once (empty: the answer comes later);
 * or an error. */
static int call(struct client *client, const struct pleat_message *message,
                struct pleat_string *answer, struct pleat_error *err)
{
    static const struct {
        const char *name;
        method *call;
    } methods[] = {
        {"submit", method_submit},
        {"jobs", method_jobs},
        {"job", method_job},
        {"cancel", method_cancel},
        {"resize", method_resize},
        {"limits", method_limits},
        {"wait", method_wait},
        {"output", method_output},
        {"events", method_events},
        {"follow", method_follow},
        {"sites", method_sites},
        {"nodes", method_nodes},
        {"site_add", method_site_add},
        {"site_remove", method_site_remove},
        {"drain", method_drain},
        {"undrain", method_undrain},
        {"info", method_info},
        {"policies", method_policies},
        {"configure", method_configure},
        {"stop", method_stop},
        {"history", method_history},
        {"programs", method_programs},
        {"programs_clear", method_programs_clear},
        {"why", method_why},
        {"top", method_top},
        {"clean", method_clean},
        {"hold", method_hold},
        {"release", method_release},
        {"requeue", method_requeue},
        {"revise", method_revise},
        {"forecast", method_forecast},
        {"checkpoint", method_checkpoint},
        {"input", method_input_of_job},
        {"terminal", method_terminal},
        {"window", method_window},
    };
    int rc = pleat_error_set(err, PLEAT_E_NOTFOUND, "no method '%s'", message->method);
    client->answer = answer;
    client->message = message;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (!strcmp(methods[i].name, message->method))
            rc = methods[i].call(client, message->id, message->params, err);
    client->answer = NULL;
    client->message = NULL;
    return rc;
}

/* If the log turns out to be damaged while an answer is made, the log is repaired and the answer is
 * made again. */
void method_call(struct client *client, const struct pleat_message *message)
{
    struct pleat_error err = {0};
    struct pleat_string answer = {0};
    int rc = call(client, message, &answer, &err);
    if ((rc < 0 || answer.length) && log_mend(client->daemon)) {
        pleat_string_finish(&answer);
        memset(&err, 0, sizeof(err));
        rc = call(client, message, &answer, &err);
    }
    if (rc < 0)
        client_fail(client, message->id, &err);
    else if (answer.length)
        client_send(client, &answer);
}
