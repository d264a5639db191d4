/* evolve_where.c - on which nodes a process of an evolving run can be, and which program it is
 * there: nodes can be of several architectures. */
#include "agent/evolve.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

const char *pleat_machine_here(void)
{
    static struct utsname name;
    if (!*name.machine && uname(&name))
        return "unknown";
    return name.machine;
}

const char *pleat_proc_machine(const struct pleat_proc *proc)
{
    return proc->is_far ? pleat_machine_of(proc->evolve, proc->far.site, proc->far.node)
                        : pleat_machine_here();
}

/* The architectures of the nodes of a site, by number; NULL: the run's. */
static json_t *machines_at(const struct pleat_evolve *evolve, const char *site)
{
    return site ? json_object_get(json_object_get(evolve->sites, site), "machines")
                : evolve->machines;
}

const char *pleat_machine_of(const struct pleat_evolve *evolve, const char *site, uint32_t node)
{
    char number[16];
    snprintf(number, sizeof(number), "%u", node);
    return json_string_value(json_object_get(machines_at(evolve, site), number));
}

const char *pleat_site_named(const struct pleat_evolve *evolve, const char *name)
{
    for (size_t i = 0; i < json_array_size(evolve->may); i++) {
        const char *known = json_string_value(json_array_get(evolve->may, i));
        if (!strcmp(known, name))
            return known;
    }
    return NULL;
}

int pleat_site_check(const struct pleat_evolve *evolve, const char *name, const char **site,
                     struct pleat_error *err)
{
    const char *own = evolve->run->agent->options.site;
    *site = name && strcmp(name, own) != 0 ? pleat_site_named(evolve, name) : NULL;
    if (!name || !strcmp(name, own))
        return 0;
    if (!*site)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a process at site '%.60s' is not possible: this job's processes "
                               "are at site '%s', and at another one only where its user names "
                               "that (pleat run --evolving --sites %.60s)",
                               name, own, name);
    if (evolve->sites && !json_object_get(evolve->sites, *site))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a process at site '%.60s' is not possible: that site is removed, "
                               "or being removed ('pleat sites')",
                               name);
    return 0;
}

bool pleat_proc_is_beside(const struct pleat_proc *one, const struct pleat_proc *other)
{
    return one->is_far == other->is_far &&
           (!one->is_far || (one->far.node == other->far.node && one->far.site == other->far.site));
}

bool pleat_program_is_any(const json_t *argv)
{
    const char *program = json_string_value(json_array_get(argv, 0));
    return program && strstr(program, PLEAT_PROCESS_ARCHITECTURE);
}

bool pleat_machine_suits(const struct pleat_evolve *evolve, const char *machine,
                         const char *architecture, const json_t *argv)
{
    if (architecture)
        return machine && !strcmp(machine, architecture);
    return !machine || !strcmp(machine, pleat_machine_here()) ||
           pleat_program_is_any(argv ? argv : evolve->argv);
}

json_t *pleat_command_on(const json_t *argv, const char *machine)
{
    const char *program = json_string_value(json_array_get(argv, 0)), *at;
    struct pleat_string own = {0};
    json_t *copy = json_deep_copy(argv);
    if (!copy || !pleat_program_is_any(argv))
        return copy;
    for (; (at = strstr(program, PLEAT_PROCESS_ARCHITECTURE));
         program = at + strlen(PLEAT_PROCESS_ARCHITECTURE))
        pleat_string_addf(&own, "%.*s%s", (int)(at - program), program, machine);
    pleat_string_add(&own, program);
    if (own.failed || json_array_set_new(copy, 0, json_string(own.text))) {
        json_decref(copy);
        copy = NULL;
    }
    pleat_string_finish(&own);
    return copy;
}

json_t *pleat_proc_command(const struct pleat_proc *proc)
{
    const char *machine = pleat_proc_machine(proc);
    return pleat_command_on(proc->argv ? proc->argv : proc->evolve->argv,
                            machine ? machine : pleat_machine_here());
}

/* Has one of the site's nodes that architecture, as the daemon says? What they have is added to
 * `list`, each once. */
static bool is_there(json_t *machines, const char *architecture, struct pleat_string *list)
{
    bool found = false;
    const char *node;
    json_t *name, *said = json_object();
    json_object_foreach(machines, node, name)
    {
        const char *text = json_string_value(name);
        found = found || !strcmp(text, architecture);
        if (json_object_get(said, text))
            continue;
        pleat_string_addf(list, "%s%s", list->length ? ", " : "", text);
        (void)json_object_set_new(said, text, json_true());
    }
    json_decref(said);
    return found;
}

int pleat_architecture_check(const struct pleat_evolve *evolve, const char *site,
                             const char *architecture, struct pleat_error *err)
{
    struct pleat_string list = {0};
    int result = 0;
    bool is_one = !site && !strcmp(architecture, pleat_machine_here());
    bool unknown =
        site ? !evolve->sites ||
                   json_is_true(json_object_get(json_object_get(evolve->sites, site), "others"))
             : evolve->others;
    bool others = unknown && pleat_architecture_number(architecture);
    if (!is_one && !*evolve->host)
        result = pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                 "no process of the architecture '%.60s' is possible: this job's "
                                 "processes are on one node, which is %s",
                                 architecture, pleat_machine_here());
    else if (!is_one && !is_there(machines_at(evolve, site), architecture, &list) && !others)
        result = pleat_error_set(
            err, PLEAT_E_UNSUPPORTED,
            "no process of the architecture '%.60s' is possible: no node of site '%s' is known to "
            "have it, but only %.200s (names are those of 'uname -m')",
            architecture, site ? site : evolve->run->agent->options.site,
            list.length && !list.failed ? list.text : pleat_machine_here());
    pleat_string_finish(&list);
    return result;
}
