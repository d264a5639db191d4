#include "base/lock_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pleat_boot_id(char *id, size_t size)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file || !fgets(id, (int)size, file))
        snprintf(id, size, "-");
    if (file)
        fclose(file);
    id[strcspn(id, "\n")] = '\0';
}

static void host_name(char *name, size_t size)
{
    if (gethostname(name, size) || !*name)
        snprintf(name, size, "-");
    name[size - 1] = '\0';
    for (char *at = name; *at; at++)
        if (*at <= ' ')
            *at = '_';
}

void pleat_lock_record_make(struct pleat_lock_record *record, const char *socket)
{
    *record = (struct pleat_lock_record){.pid = (int)getpid()};
    snprintf(record->socket, sizeof(record->socket), "%s", socket);
    host_name(record->host, sizeof(record->host));
    pleat_boot_id(record->boot, sizeof(record->boot));
}

int pleat_lock_record_format(const struct pleat_lock_record *record, char *text, size_t size)
{
    return snprintf(text, size, "%d\n%s\n%s %s\n", record->pid, record->socket, record->host,
                    record->boot);
}

/* Reads one line. A line without a newline is still being written, and does not count. */
static const char *take_line(const char *text, char *line, size_t size)
{
    size_t length = strcspn(text, "\n");
    *line = '\0';
    if (text[length] != '\n' || length >= size)
        return "";
    memcpy(line, text, length);
    line[length] = '\0';
    return text + length + 1;
}

void pleat_lock_record_parse(struct pleat_lock_record *record, const char *text)
{
    char line[256];
    *record = (struct pleat_lock_record){0};
    text = take_line(text, line, sizeof(line));
    record->pid = atoi(line);
    text = take_line(text, line, sizeof(line));
    if (*line == '/')
        memcpy(record->socket, line, sizeof(record->socket));
    (void)take_line(text, line, sizeof(line));
    if (sscanf(line, "%79s %39s", record->host, record->boot) != 2)
        *record->host = *record->boot = '\0';
}

bool pleat_lock_record_read(struct pleat_lock_record *record, const char *directory)
{
    char path[600], text[512];
    snprintf(path, sizeof(path), "%s/pleatd.lock", directory);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    pleat_lock_record_parse(record, text);
    return length > 0;
}

int pleat_lock_record_check(const struct pleat_lock_record *record, const char *directory,
                            struct pleat_error *err)
{
    struct pleat_lock_record here;
    pleat_lock_record_make(&here, "");
    if (!*record->host || !strcmp(record->host, here.host) || !strcmp(record->boot, here.boot))
        return 0;
    return pleat_error_set(err, PLEAT_E_BUSY,
                           "the log in %s is used by pleatd on host %s (process %d), or its jobs "
                           "still run there: use pleat on that host. If it is off for good, remove "
                           "%s/pleatd.lock; for a queue of this host's own set XDG_STATE_HOME or "
                           "PLEAT_DIR",
                           directory, record->host, record->pid, directory);
}
