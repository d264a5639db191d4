/* Methods about what was learned of programs in earlier runs. */
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/methods.h"
#include "daemon/programs.h"
#include "daemon/turn_inputs.h"

static int read_names(const json_t *params, const char **program, const char **site,
                      struct pleat_error *err)
{
    int rc = pleat_get_string(params, "program", false, program, err);
    return rc ? rc : pleat_get_string(params, "site", false, site, err);
}

int method_programs(struct client *client, int64_t number, const json_t *params,
                    struct pleat_error *err)
{
    const char *program = NULL, *site = NULL;
    int rc = read_names(params, &program, &site, err);
    if (!rc)
        client_reply(
            client, number,
            json_pack("{s:o}", "programs", programs_to_json(client->daemon, program, site)));
    return rc;
}

int method_programs_clear(struct client *client, int64_t number, const json_t *params,
                          struct pleat_error *err)
{
    const char *program = NULL, *site = NULL;
    int rc = read_names(params, &program, &site, err);
    if (rc)
        return rc;
    int cleared = programs_clear(client->daemon, program, site);
    turn_want(client->daemon); /* which writes that */
    client_reply(client, number, json_pack("{s:i}", "cleared", cleared));
    return 0;
}
