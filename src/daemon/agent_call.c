/* How sites that bring their agents start these, which call over TCP. */
#include "daemon/agent_call.h"

#include <stdio.h>

#include "daemon/agent.h"
#include "daemon/agent_listen.h"

int agent_call(struct daemon *d, uint32_t site, uint32_t node, struct pleat_agent_call *call,
               struct pleat_error *err)
{
    /* what the call lends, up to the next one */
    static char path[600], number[16], address[300], key[300];
    static const char *argv[20];
    const struct pleat_config_site *of = &d->config.sites[site];
    struct pleat_string where = {0}, line = {0};
    int rc = pleat_paths_beside("pleat-agent", path, sizeof(path), err);
    if (!rc)
        rc = agent_key_make(d, site, node, &line, err);
    if (rc)
        return rc;
    struct agent *agent = agent_get(d, site, node);
    if (agent)
        agent->unwanted = false; /* the earlier one has ended: its number is free */
    agent_listen_address(d, &where);
    snprintf(address, sizeof(address), "%s", where.text ? where.text : "");
    snprintf(key, sizeof(key), "%s", line.text);
    pleat_wire_wipe(line.text, line.length);
    pleat_string_finish(&where);
    pleat_string_finish(&line);
    snprintf(number, sizeof(number), "%u", node);
    const char *const words[] = {path,         "--connect", address,        "--key-fd", "0",
                                 "--instance", d->instance, "--site",       of->name,   "--node",
                                 number,       "--state",   d->paths.state, "--guarded"};
    size_t count = sizeof(words) / sizeof(words[0]);
    for (size_t i = 0; i < count; i++)
        argv[i] = words[i];
    if (!of->cpusets)
        argv[count++] = "--no-cpusets";
    if (!of->memory_groups)
        argv[count++] = "--no-memory-groups";
    argv[count] = NULL;
    *call = (struct pleat_agent_call){.argv = argv, .input = key};
    return 0;
}
