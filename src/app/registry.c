/* What is registered; compares it between the ranks, and says what differs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/session.h"

#define VALUES_BYTES_MAX ((size_t)1 << 30)

/* ---- registering ---- */

static bool name_taken(const struct pleat_session *session, const char *name)
{
    for (size_t i = 0; i < session->values.count; i++)
        if (!strcmp(session->values.items[i].name, name))
            return true;
    for (const struct pleat_object *object = session->objects; object; object = object->next)
        if (!strcmp(object->name, name))
            return true;
    return false;
}

static int check_name(const struct pleat_session *session, const char *name,
                      struct pleat_error *err)
{
    if (session->state != PLEAT_SESSION_OPEN)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "values, rows and arrays are registered before pleat_session_begin");
    if (!name || !*name || strlen(name) >= PLEAT_NAME_SIZE)
        return pleat_error_set(err, PLEAT_E_INVALID, "a name has 1 to %d bytes",
                               PLEAT_NAME_SIZE - 1);
    if (name_taken(session, name))
        return pleat_error_set(err, PLEAT_E_EXISTS, "'%s' is registered already", name);
    return 0;
}

/* The value that is registered at the same address. Most likely another variable was meant, which
 * would not be saved. NULL: there is none. */
static const struct pleat_value *value_at(const struct pleat_session *session, const void *ptr,
                                          size_t bytes)
{
    const uintptr_t first = (uintptr_t)ptr;
    for (size_t i = 0; i < session->values.count; i++) {
        const struct pleat_value *value = &session->values.items[i];
        const uintptr_t other = (uintptr_t)value->ptr;
        if (first < other + value->bytes && other < first + bytes)
            return value;
    }
    return NULL;
}

int pleat_value_register(struct pleat_session *session, const char *name, void *ptr, size_t bytes,
                         struct pleat_error *err)
{
    int code = check_name(session, name, err);
    if (code)
        return code;
    if (!ptr || !bytes)
        return pleat_error_set(err, PLEAT_E_INVALID, "value '%s' has no address or no bytes", name);
    const struct pleat_value *other = value_at(session, ptr, bytes);
    if (other)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "values '%s' and '%s' are in part the same variable: is the address "
                               "of one of them wrong?",
                               name, other->name);
    if (bytes > VALUES_BYTES_MAX - session->values_bytes)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "values together may have %zu bytes, '%s' would exceed it",
                               VALUES_BYTES_MAX, name);
    struct pleat_value value = {.ptr = ptr, .bytes = bytes};
    memcpy(value.name, name, strlen(name) + 1);
    if (pleat_array_push(&session->values, value))
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to register '%s'", name);
    session->values_bytes += bytes;
    return 0;
}

int pleat_session_add(struct pleat_session *session, struct pleat_object *object, const char *name,
                      struct pleat_error *err)
{
    int code = check_name(session, name, err);
    if (code)
        return code;
    memcpy(object->name, name, strlen(name) + 1);
    uint64_t end = object->offset + object->ops->stored(object);
    if (end > PLEAT_STATE_WINDOW_FIRST)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "all data with '%s' are beyond any memory",
                               name);
    struct pleat_object **last = &session->objects;
    while (*last)
        last = &(*last)->next;
    *last = object;
    session->objects_bytes = end;
    return 0;
}

void pleat_registry_release(struct pleat_session *session)
{
    for (struct pleat_object *object = session->objects; object; object = object->next)
        if (object->ops->release)
            object->ops->release(object);
}

/* ---- comparing ---- */

/* A value or an object, in words. */
struct entry {
    char name[PLEAT_NAME_SIZE];
    char text[112];
};

static size_t count_of(const struct pleat_session *session)
{
    size_t count =
        session->values.count + (size_t)session->action_count + (size_t)session->point_count;
    for (const struct pleat_object *object = session->objects; object; object = object->next)
        count++;
    return count;
}

/* What was registered, values first; NULL: no memory. */
static struct entry *describe(const struct pleat_session *session)
{
    struct entry *entries = calloc(count_of(session) + 1, sizeof(*entries));
    struct entry *entry = entries;
    for (size_t i = 0; entry && i < session->values.count; i++, entry++) {
        const struct pleat_value *value = &session->values.items[i];
        memcpy(entry->name, value->name, sizeof(entry->name));
        snprintf(entry->text, sizeof(entry->text), "value of %zu bytes", value->bytes);
    }
    for (const struct pleat_object *object = entry ? session->objects : NULL; object;
         object = object->next, entry++) {
        memcpy(entry->name, object->name, sizeof(entry->name));
        object->ops->text(object, entry->text, sizeof(entry->text));
    }
    for (int i = 0; entry && i < session->action_count; i++, entry++) {
        memcpy(entry->name, session->actions[i].name, sizeof(entry->name));
        snprintf(entry->text, sizeof(entry->text), "action");
    }
    for (int i = 0; entry && i < session->point_count; i++, entry++) {
        memcpy(entry->name, session->points[i].name, sizeof(entry->name));
        snprintf(entry->text, sizeof(entry->text), "adaptation point %s",
                 session->points[i].resizes ? "to resize" : "for times");
    }
    return entries;
}

static void say_entry(const struct entry *entry, char *text, size_t size)
{
    if (!entry)
        snprintf(text, size, "nothing");
    else
        snprintf(text, size, "'%s' (%s)", entry->name, entry->text);
}

/* Fills *text with the first difference; leaves it empty if there is none. */
static void compare(const struct entry *first, size_t first_count, const struct entry *mine,
                    size_t mine_count, int rank, struct pleat_error *text)
{
    char here[PLEAT_NAME_SIZE + 128];
    char there[PLEAT_NAME_SIZE + 128];
    size_t i = 0;
    while (i < first_count && i < mine_count && !strcmp(first[i].name, mine[i].name) &&
           !strcmp(first[i].text, mine[i].text))
        i++;
    if (i == first_count && i == mine_count)
        return;
    say_entry(i < mine_count ? &mine[i] : NULL, here, sizeof(here));
    say_entry(i < first_count ? &first[i] : NULL, there, sizeof(there));
    pleat_error_set(
        text, PLEAT_E_INVALID,
        "rank %d has registered %s where rank 0 has %s; names, sizes and order must agree", rank,
        here, there);
}

/* Every rank compares with rank 0. *text: this rank's difference. */
static int compare_all(struct pleat_session *session, MPI_Comm comm, bool excused, int rank,
                       struct pleat_error *text, struct pleat_error *err)
{
    int count = (int)count_of(session);
    struct entry *mine = describe(session);
    int failed = pleat_mpi_check(MPI_Bcast(&count, 1, MPI_INT, 0, comm), "comparing", err);
    struct entry *first = failed ? NULL : calloc((size_t)count + 1, sizeof(*first));
    int code = mine && first ? 0 : PLEAT_E_NOMEM;
    int agreed = 0;
    if (!failed)
        failed = pleat_mpi_agree(comm, code, &agreed, err);
    if (!failed && agreed)
        pleat_error_set(text, agreed, "no memory to compare what the ranks have registered");
    if (!failed && !agreed) {
        if (rank == 0)
            memcpy(first, mine, (size_t)count * sizeof(*first));
        failed = pleat_mpi_check(MPI_Bcast(first, count * (int)sizeof(*first), MPI_BYTE, 0, comm),
                                 "comparing", err);
        if (!failed && !excused)
            compare(first, (size_t)count, mine, count_of(session), rank, text);
    }
    free(mine);
    free(first);
    return failed;
}

int pleat_registry_check(struct pleat_session *session, MPI_Comm comm, uint64_t hash, bool excused,
                         int *differs, struct pleat_error *err)
{
    bool same = false;
    int rank = 0;
    *differs = 0;
    int failed = pleat_mpi_same(comm, hash, excused, &same, err);
    if (failed || same)
        return failed;
    struct pleat_error text = {0};
    failed = pleat_mpi_check(MPI_Comm_rank(comm, &rank), "comparing", err);
    if (!failed)
        failed = compare_all(session, comm, excused, rank, &text, err);
    if (!failed)
        failed = pleat_mpi_share_error(comm, &text, err);
    if (failed)
        return failed;
    if (!text.code)
        pleat_error_set(&text, PLEAT_E_INVALID,
                        "the ranks have registered data that differ in distribution or in process "
                        "grid: all must describe them alike");
    *differs = text.code;
    if (err)
        *err = text;
    return 0;
}
