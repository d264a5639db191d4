/* usable.c - the program says which numbers of ranks it can use (pleat_session_limits). Ranks that
 * are too many at the start leave in pleat_session_begin; the agent is told, so that the program is
 * offered only what it can use. */
#include <stdio.h>
#include <string.h>

#include "app/session.h"

int pleat_own_limits_floor(const struct pleat_own_limits *limits, int ranks)
{
    if (!limits->said)
        return ranks;
    if (limits->most && ranks > limits->most)
        ranks = limits->most;
    int fits = pleat_sizes_floor(&limits->sizes, ranks);
    return fits >= limits->least ? fits : 0;
}

void pleat_own_limits_text(const struct pleat_own_limits *limits, char *text, size_t size)
{
    struct pleat_string sizes = {0};
    pleat_sizes_format(&limits->sizes, &sizes);
    int used = snprintf(text, size, "at least %d", limits->least);
    if (limits->most)
        used += snprintf(text + used, size - (size_t)used, ", at most %d", limits->most);
    if (limits->sizes.kind != PLEAT_SIZES_ANY && !sizes.failed)
        snprintf(text + used, size - (size_t)used, ", sizes %s", sizes.text);
    pleat_string_finish(&sizes);
}

void pleat_own_limits_finish(struct pleat_own_limits *limits)
{
    pleat_array_finish(&limits->list);
}

int pleat_session_halos(const struct pleat_session *session, int ranks, struct pleat_error *err)
{
    int code = 0;
    for (const struct pleat_object *object = session->objects; object && !code;
         object = object->next)
        if (object->ops->usable)
            code = object->ops->usable(object, ranks, err);
    return code;
}

int pleat_session_floor(const struct pleat_session *session, int ranks)
{
    int fits = pleat_own_limits_floor(&session->limits, ranks);
    while (fits > 0 && pleat_session_halos(session, fits, NULL))
        fits = fits > 1 ? pleat_own_limits_floor(&session->limits, fits - 1) : 0;
    return fits;
}

#define LOOKED_AT                                                                                  \
    4096 /* most sizes that are looked at one by one, as the list of them has to be short */

/* Lists the sizes that are left where halos forbid some. False: they forbid none. */
static bool list_sizes(const struct pleat_session *session, struct pleat_string *sizes)
{
    int most = (int)pleat_mailbox_room(session->mailbox);
    bool forbids = false;
    for (int ranks = 1; ranks <= most && ranks <= LOOKED_AT; ranks++) {
        char text[16];
        if (pleat_own_limits_floor(&session->limits, ranks) != ranks)
            continue;
        if (pleat_session_halos(session, ranks, NULL)) {
            forbids = true;
            continue;
        }
        int length = snprintf(text, sizeof(text), "%s%d", sizes->length ? "," : "", ranks);
        if (sizes->length + (size_t)length >= PLEAT_MAILBOX_SIZES)
            break; /* larger sizes are not offered, though they may be usable */
        pleat_string_add(sizes, text);
    }
    return forbids && sizes->length;
}

/* The smallest number of ranks that the program can use. */
static int smallest(const struct pleat_own_limits *limits)
{
    int size = pleat_sizes_ceil(&limits->sizes, limits->least);
    return size > 0 ? size : PLEAT_SIZE_MAX;
}

/* Asks for more ranks, for a program that needs more than it has; or withdraws that, when it can do
 * with what it has. */
static void ask(struct pleat_session *session)
{
    bool lacks = session->size < session->limits.least;
    if (session->state == PLEAT_SESSION_RUNNING && (lacks || session->lacks))
        pleat_session_want(session, lacks ? smallest(&session->limits) : 0, true);
    session->lacks = lacks && session->state == PLEAT_SESSION_RUNNING;
}

/* Rank 0 tells the agent. */
static int tell(struct pleat_session *session, struct pleat_error *err)
{
    const struct pleat_own_limits *limits = &session->limits;
    struct pleat_string sizes = {0};
    int code = 0;
    if (!session->mailbox || session->rank != 0 || session->joiner)
        return 0;
    if (!list_sizes(session, &sizes)) {
        pleat_string_finish(&sizes);
        sizes = (struct pleat_string){0};
        if (limits->sizes.kind != PLEAT_SIZES_ANY)
            pleat_sizes_format(&limits->sizes, &sizes);
        else if (!limits->said)
            return 0;
    }
    if (sizes.failed)
        code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory to say the program's sizes");
    else if (sizes.length >= PLEAT_MAILBOX_SIZES)
        code = pleat_error_set(err, PLEAT_E_TOOBIG,
                               "the list of the program's sizes has %zu characters: at most %d",
                               sizes.length, PLEAT_MAILBOX_SIZES - 1);
    else
        pleat_mailbox_limits(&session->self, (uint32_t)limits->least,
                             (uint32_t)(limits->said ? limits->most : session->most),
                             sizes.text ? sizes.text : "");
    pleat_string_finish(&sizes);
    return code;
}

static int check(const struct pleat_own_limits *limits, struct pleat_error *err)
{
    int most = limits->most ? limits->most : PLEAT_SIZE_MAX;
    if (limits->least < 0 || limits->most < 0 || limits->least > most || most > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a program cannot use %d to %d ranks: from 1 to %d, the first not "
                               "above the second; 0 for no limit",
                               limits->least, limits->most, PLEAT_SIZE_MAX);
    if (pleat_sizes_floor(&limits->sizes, most) < (limits->least ? limits->least : 1))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "none of the program's sizes lies between %d and %d ranks",
                               limits->least, most);
    return 0;
}

/* Takes the limits, whose list it owns, in place of what was said before. */
static int take(struct pleat_session *session, struct pleat_own_limits *limits, int code,
                struct pleat_error *err)
{
    if (!code)
        code = check(limits, err);
    if (code) {
        pleat_own_limits_finish(limits);
        return code;
    }
    limits->said = true;
    if (limits->least < 1)
        limits->least = 1;
    pleat_own_limits_finish(&session->limits);
    session->limits = *limits;
    int failed = tell(session, err);
    if (!failed)
        ask(session);
    return failed;
}

int pleat_session_limits(struct pleat_session *session, int least, int most, const char *sizes,
                         struct pleat_error *err)
{
    struct pleat_own_limits limits = {.least = least, .most = most};
    int code = pleat_sizes_parse(sizes ? sizes : "any", &limits.sizes, &limits.list, err);
    return take(session, &limits, code, err);
}

int pleat_session_limits_if(struct pleat_session *session, pleat_size_test accepts, void *arg,
                            struct pleat_error *err)
{
    struct pleat_own_limits limits = {0};
    int code = 0;
    int most = session->mailbox ? (int)pleat_mailbox_room(session->mailbox) : session->size;
    for (int ranks = 1; ranks <= most && !code; ranks++) {
        if (!accepts(ranks, arg))
            continue;
        if (limits.list.count == PLEAT_SIZES_LIST_MAX)
            code = pleat_error_set(err, PLEAT_E_TOOBIG,
                                   "the program accepts more than %d sizes up to %d",
                                   PLEAT_SIZES_LIST_MAX, most);
        else if (pleat_array_push(&limits.list, ranks))
            code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the program's sizes");
    }
    if (!code && !limits.list.count)
        code = pleat_error_set(err, PLEAT_E_INVALID,
                               "the program accepts none of the sizes from 1 to %d", most);
    limits.sizes = (struct pleat_sizes){
        .kind = PLEAT_SIZES_LIST, .list = limits.list.items, .count = (uint32_t)limits.list.count};
    return take(session, &limits, code, err);
}

/* Rank 0 decides: whether there are too few ranks, all of which can be replaced by new ones as
 * nothing was computed yet, and more might suffice. */
static bool may_be_replaced(const struct pleat_session *session)
{
    return session->mailbox && session->limits.said && session->size < smallest(&session->limits) &&
           !(session->resumed && !session->from) &&
           !pleat_session_halos(session, smallest(&session->limits), NULL);
}

/* Pleat is asked for more ranks, which are then started in place of these. Returns whether that is
 * so. Otherwise reason says why not. */
static bool is_replaced(struct pleat_session *session, char reason[PLEAT_MAILBOX_REASON])
{
    int leaves = 0;
    if (session->rank == 0)
        pleat_mailbox_lack(&session->self, (uint32_t)smallest(&session->limits));
    if (session->rank == 0 || !session->nodes)
        leaves = pleat_mailbox_await(&session->self, reason) == PLEAT_VERDICT_LEAVE;
    /* the answer is in rank 0's mailbox */
    return session->nodes && MPI_Bcast(&leaves, 1, MPI_INT, 0, session->comm) != MPI_SUCCESS
               ? false
               : leaves != 0;
}

int pleat_session_fit(struct pleat_session *session, int *fits, struct pleat_error *err)
{
    char text[256] = "", reason[PLEAT_MAILBOX_REASON] = "";
    struct pleat_error why = {0};
    *fits = pleat_session_floor(session, session->size);
    if (*fits && tell(session, &why)) /* errors of the ranks are reported then */
        session->failure = why;
    int found[] = {*fits, !*fits && may_be_replaced(session)};
    int code = pleat_mpi_check(MPI_Bcast(found, 2, MPI_INT, 0, session->comm), "beginning", err);
    *fits = found[0];
    if (code || *fits)
        return code;
    if (found[1] && is_replaced(session, reason))
        return PLEAT_LEAVE;
    /* Rank 0 tells the agent before any rank knows, since the first one that knows may end the
     * program. */
    pleat_own_limits_text(&session->limits, text, sizeof(text));
    if (session->limits.said || !pleat_session_halos(session, session->size, &why))
        pleat_error_set(&why, PLEAT_E_TOOBIG,
                        "the program was started with %d ranks and can use none of these sizes "
                        "(%s): start it with more (pleat run --min, mpirun -n)%s%s",
                        session->size, text, reason[0] ? "; it got no more: " : "", reason);
    if (session->mailbox && session->rank == 0)
        pleat_mailbox_cannot_begin(&session->self, why.text);
    code = pleat_mpi_check(MPI_Bcast(&why, (int)sizeof(why), MPI_BYTE, 0, session->comm),
                           "beginning", err);
    if (code)
        return code;
    if (err)
        *err = why;
    return PLEAT_E_TOOBIG;
}

int pleat_session_limit(struct pleat_session *session, int most, struct pleat_error *err)
{
    if (most < 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a program cannot use %d ranks at most: at least 1, or 0 for any "
                               "number",
                               most);
    session->most = most;
    if (session->mailbox && session->rank == 0 && !session->joiner)
        pleat_mailbox_limit(&session->self, (uint32_t)most);
    return 0;
}
