#include "gridengine/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gridengine/xml.h"

/* The first that fits counts: a job that does not exist before all else that does not. */
static const struct pleat_adapter_saying known[] = {
    {"commlib error", PLEAT_E_CLOSED},
    {"to contact qmaster", PLEAT_E_CLOSED},
    {"message to qmaster", PLEAT_E_CLOSED},
    {"receiving gdi request", PLEAT_E_CLOSED},
    {"qmaster is not running", PLEAT_E_CLOSED},
    {"denied: job \"", PLEAT_E_NOTFOUND},
    {"jobs are allowed", PLEAT_E_BUSY},
    {"no suitable queues", PLEAT_E_INVALID},
    {"does not exist", PLEAT_E_INVALID},
    {"is not a parallel environment", PLEAT_E_INVALID},
    {"unknown queue", PLEAT_E_INVALID},
    {"unknown resource", PLEAT_E_INVALID},
    {"nvalid resource", PLEAT_E_INVALID},
    {"not configured", PLEAT_E_INVALID},
    {"no permission", PLEAT_E_PERMISSION},
    {"not allowed", PLEAT_E_PERMISSION},
    {"no access", PLEAT_E_PERMISSION},
    {"is no submit host", PLEAT_E_PERMISSION},
    {"is not an admin host", PLEAT_E_PERMISSION},
    {"neither submit nor admin host", PLEAT_E_PERMISSION},
    {NULL, 0},
};

int pleat_gridengine_ask(const char *const *argv, char **said, struct pleat_error *err)
{
    return pleat_adapter_ask(argv, NULL, known, said, err);
}

int pleat_gridengine_ask_xml(const char *const *argv, json_t **root, struct pleat_error *err)
{
    char *text;
    int failure = pleat_gridengine_ask(argv, &text, err);
    if (failure)
        return failure;
    failure = pleat_xml_read(text, root, err);
    free(text);
    return failure;
}

const char *pleat_gridengine_value(const char *text, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    value[0] = '\0';
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0 || (line[length] != ' ' && line[length] != '\t'))
            continue;
        const char *from = line + length + strspn(line + length, " \t");
        size_t end = strcspn(from, "\n");
        while (end > 0 && (from[end - 1] == ' ' || from[end - 1] == '\t'))
            end--;
        snprintf(value, size, "%.*s", (int)end, from);
        break;
    }
    return value;
}
