/* loop - the smallest malleable program: a loop that does nothing, with a state that is carried
 * along.
 *
 * It measures what a resize costs (--state), and tests Pleat itself: it checks every byte of its
 * state after each resize, and misbehaves on request.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static const char usage[] =
    "usage: mpirun ... loop [options]\n"
    "A loop of barriers that carries state along when it is resized, and checks it.\n"
    "  --iterations N   iterations (default 1000)\n"
    "  --resizes N      end after N resizes, however many iterations that takes\n"
    "  --until FILE     end when there is such a file\n"
    "  --state BYTES    bytes of state, all ranks together (default 64K; K, M, G allowed)\n"
    "  --rows N         rows of the state (default 1000)\n"
    "  --halo N         halo rows on either side of a block (default 1)\n"
    "  --pause MS       sleep in every iteration (default 0)\n"
    "  --pauses LIST    milliseconds with 1 rank, 2, ...: 60,30 for example; the last for all "
    "beyond\n"
    "  --grids          computes on process grids of 1 and of 2 rows, for 64 iterations each in "
    "turn, "
    "and\n"
    "                   sleeps longer by a factor of 1 / rows + 1 / columns\n"
    "  --loose          no barrier: ranks run at their own speed\n"
    "  --announce       ask before each adaptation point whether a resize comes there, and check "
    "it\n"
    "  --ask FILE       does what FILE says each time that its number is another one: \"1 ask 2\"\n"
    "                   asks for two more ranks, \"2 must 2\" cannot go on without them, \"3 back "
    "1\"\n"
    "                   gives one back, \"4 least 3\" needs three ranks from now on, \"5 most 4\" "
    "can\n"
    "                   use four; and prints the answers\n"
    "  --limit FILE     at most as many ranks as the number in FILE, where there is such a file\n"
    "  --sizes LEAST:MOST:SIZES   the numbers of ranks that it can use, for example 2:5: or "
    "1:0:powers\n"
    "  --even           it can use even numbers of ranks only\n"
    "Answering offers (default: accept all):\n"
    "  --accept LIST    accept only sizes in LIST, for example 1,2,4,8\n"
    "  --greedy         answer with more than was offered\n"
    "Misbehaving, for tests:\n"
    "  --die-at I       rank --die-rank (default 0) kills itself in iteration I\n"
    "  --die-rank R     which rank dies\n"
    "  --stuck-at I     from iteration I on, never reach an adaptation point\n"
    "  --die-joining    a rank that joins kills itself before it has joined\n"
    "  --mismatch       ranks that join, or are started again, register other rows, so that they\n"
    "                   are not let in\n";

struct options {
    long long iterations, resizes, state, rows, halo, die_at, die_rank, stuck_at;
    double pause_ms;
    const char *accept, *pauses, *until, *limit, *sizes, *ask;
    int even, loose, announce, greedy, die_joining, mismatch, grids;
};

enum {
    ITERATIONS = 1,
    RESIZES,
    STATE,
    ROWS,
    HALO,
    PAUSE,
    PAUSES,
    ACCEPT,
    UNTIL,
    ASK,
    LIMIT,
    SIZES,
    DIE_AT,
    DIE_RANK,
    STUCK_AT,
    HELP
};

static void read_options(int argc, char **argv, struct options *o)
{
    *o = (struct options){.iterations = 1000,
                          .resizes = -1,
                          .state = 65536,
                          .rows = 1000,
                          .halo = 1,
                          .die_at = -1,
                          .stuck_at = -1};
    const struct option table[] = {{"iterations", 1, NULL, ITERATIONS},
                                   {"resizes", 1, NULL, RESIZES},
                                   {"state", 1, NULL, STATE},
                                   {"rows", 1, NULL, ROWS},
                                   {"halo", 1, NULL, HALO},
                                   {"pause", 1, NULL, PAUSE},
                                   {"pauses", 1, NULL, PAUSES},
                                   {"even", 0, &o->even, 1},
                                   {"loose", 0, &o->loose, 1},
                                   {"grids", 0, &o->grids, 1},
                                   {"announce", 0, &o->announce, 1},
                                   {"accept", 1, NULL, ACCEPT},
                                   {"until", 1, NULL, UNTIL},
                                   {"ask", 1, NULL, ASK},
                                   {"limit", 1, NULL, LIMIT},
                                   {"sizes", 1, NULL, SIZES},
                                   {"greedy", 0, &o->greedy, 1},
                                   {"die-at", 1, NULL, DIE_AT},
                                   {"die-rank", 1, NULL, DIE_RANK},
                                   {"stuck-at", 1, NULL, STUCK_AT},
                                   {"die-joining", 0, &o->die_joining, 1},
                                   {"mismatch", 0, &o->mismatch, 1},
                                   {"help", 0, NULL, HELP},
                                   {NULL, 0, NULL, 0}};
    const long long most = 1LL << 50;
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (c == ITERATIONS)
            o->iterations = app_number("iterations", optarg, 0, most);
        else if (c == RESIZES)
            o->resizes = app_number("resizes", optarg, 0, most);
        else if (c == STATE)
            o->state = app_number("state", optarg, 8, most);
        else if (c == ROWS)
            o->rows = app_number("rows", optarg, 1, most);
        else if (c == HALO)
            o->halo = app_number("halo", optarg, 0, 1000);
        else if (c == PAUSES)
            o->pauses = optarg;
        else if (c == PAUSE)
            o->pause_ms = (double)app_number("pause", optarg, 0, 1000000);
        else if (c == ACCEPT)
            o->accept = optarg;
        else if (c == UNTIL)
            o->until = optarg;
        else if (c == LIMIT)
            o->limit = optarg;
        else if (c == ASK)
            o->ask = optarg;
        else if (c == SIZES)
            o->sizes = optarg;
        else if (c == DIE_AT)
            o->die_at = app_number("die-at", optarg, 0, most);
        else if (c == DIE_RANK)
            o->die_rank = app_number("die-rank", optarg, 0, 65535);
        else if (c == STUCK_AT)
            o->stuck_at = app_number("stuck-at", optarg, 0, most);
        else if (c == HELP) {
            fputs(usage, stdout);
            exit(0);
        } else if (c != 0) {
            fputs(usage, stderr);
            exit(2);
        }
    }
}

/* The offer callback: the listed size nearest to the offer, between the present and the offered
 * size. */
static int choose(int current, int offered, int mandatory, void *arg)
{
    const struct options *o = arg;
    int low = current < offered ? current : offered;
    int high = current < offered ? offered : current;
    int best = current;
    (void)mandatory;
    if (o->greedy)
        return 2 * high;
    for (const char *at = o->accept; at && *at;) {
        char *end;
        long size = strtol(at, &end, 10);
        if (end == at)
            break;
        if (size >= low && size <= high &&
            (current < offered ? size > best : best == current || size < best))
            best = (int)size;
        at = *end == ',' ? end + 1 : end;
    }
    return best;
}

/* ---- the state: word i of row r has a value that no other word has ---- */

static unsigned long long word_of(long long row, long long i)
{
    return (unsigned long long)row * 1000003ULL ^ (unsigned long long)i * 2654435761ULL;
}

static void fill(const struct pleat_rows *rows, long long words)
{
    unsigned long long *data = pleat_rows_data(rows);
    for (long long r = 0; r < pleat_rows_count(rows); r++)
        for (long long i = 0; i < words; i++)
            data[r * words + i] = word_of(pleat_rows_first(rows) + r, i);
}

static long long wrong_words(const struct pleat_rows *rows, long long words, long long halo)
{
    const unsigned long long *data = pleat_rows_data(rows);
    long long count = pleat_rows_count(rows);
    long long wrong = 0;
    for (long long r = 0; r < count; r++)
        for (long long i = 0; i < words; i++)
            wrong += data[r * words + i] != word_of(pleat_rows_first(rows) + r, i);
    for (long long i = 0; count && i < halo * words; i++)
        wrong += (data[i - halo * words] != 0) + (data[count * words + i] != 0);
    return wrong;
}

/* Counts wrong words. Rows must not be lost either: all ranks together must have all rows. */
static long long check(struct pleat_session *session, const struct pleat_rows *rows,
                       const struct options *o, long long words)
{
    long long mine[2] = {wrong_words(rows, words, o->halo), pleat_rows_count(rows)};
    long long all[2];
    MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, pleat_session_comm(session));
    return all[0] + (all[1] != o->rows);
}

static void misbehave(const struct pleat_session *session, const struct options *o,
                      long long iteration)
{
    if (iteration == o->die_at && pleat_session_rank(session) == o->die_rank)
        raise(SIGKILL);
    while (o->stuck_at >= 0 && iteration >= o->stuck_at)
        pause();
}

/* Whether to go on, the same on all ranks. */
static int goes_on(const struct pleat_session *session, const struct options *o,
                   const long long *counters)
{
    if (o->until) {
        int there = pleat_session_rank(session) == 0 && access(o->until, F_OK) == 0;
        MPI_Bcast(&there, 1, MPI_INT, 0, pleat_session_comm(session));
        return !there;
    }
    return o->resizes < 0 ? counters[0] < o->iterations : counters[1] < o->resizes;
}

/* Milliseconds to sleep in an iteration on `ranks` ranks. */
static double pause_of(const struct options *o, int ranks)
{
    double pause_ms = o->pause_ms;
    const char *at = o->pauses;
    for (int i = 0; at && i < ranks; i++) {
        char *end;
        pause_ms = (double)strtol(at, &end, 10);
        at = *end == ',' ? end + 1 : NULL;
    }
    return pause_ms;
}

/* Says on which grid it computes in an iteration. Returns the factor by which it sleeps longer. */
static double say_grid(struct pleat_session *session, const struct options *o, long long iteration)
{
    struct pleat_error err;
    int ranks = pleat_session_size(session);
    int rows = iteration / 64 % 2 == 1 && ranks % 2 == 0 ? 2 : 1, grid[2] = {rows, ranks / rows};
    if (!o->grids)
        return 1;
    if (pleat_session_rank(session) == 0 && pleat_session_grid(session, 2, grid, &err))
        app_give_up("cannot say on which grid it computes", &err);
    return 1.0 / grid[0] + 1.0 / grid[1];
}

/* Tells Pleat the number in the file of --limit, if the file is there. */
static void say_limit(struct pleat_session *session, const struct options *o)
{
    struct pleat_error err;
    int most = 0;
    FILE *file = o->limit && pleat_session_rank(session) == 0 ? fopen(o->limit, "r") : NULL;
    if (!file)
        return;
    if (fscanf(file, "%d", &most) == 1 && pleat_session_limit(session, most, &err))
        app_give_up("cannot say how many ranks it can use", &err);
    fclose(file);
}

/* Prints the state of the program's ask, where it has changed. */
static void tell_answer(const struct pleat_session *session, long long number)
{
    static const char *const words[] = {"nothing", "pending", "granted", "refused"};
    static int before;
    static long long of;
    struct pleat_error why;
    int asked = pleat_session_asked(session, &why);
    if (asked == before && number == of)
        return;
    before = asked;
    of = number;
    if (asked > PLEAT_ASKED_PENDING)
        printf("ANSWER %lld %s on %d: %s\n", number, words[asked], pleat_session_size(session),
               why.text);
    fflush(stdout);
}

/* Rank 0 asks for what the file of --ask says, once. *number: of the last line that was done. */
static void ask(struct pleat_session *session, const struct options *o, long long *number)
{
    struct pleat_error err;
    char word[8] = "";
    long long next = 0;
    int count = 0, result = 0;
    FILE *file = o->ask && pleat_session_rank(session) == 0 ? fopen(o->ask, "r") : NULL;
    if (!file)
        return;
    if (fscanf(file, "%lld %7s %d", &next, word, &count) == 3 && next != *number) {
        *number = next;
        if (!strcmp(word, "back"))
            result = pleat_session_give_back(session, count, &err);
        else if (!strcmp(word, "least"))
            result = pleat_session_limits(session, count, 0, NULL, &err);
        else if (!strcmp(word, "most"))
            result = pleat_session_limits(session, 0, count, NULL, &err);
        else if (!strcmp(word, "soon"))
            result = pleat_session_ask_within(session, count, 0.5, &err);
        else
            result = pleat_session_ask(session, count, !strcmp(word, "must"), &err);
    }
    fclose(file);
    if (result)
        app_give_up("cannot ask", &err);
    tell_answer(session, *number);
}

static int is_even(int ranks, void *arg)
{
    (void)arg;
    return ranks % 2 == 0;
}

/* Says which numbers of ranks the program can use (--sizes, --even). */
static void say_sizes(struct pleat_session *session, const struct options *o)
{
    struct pleat_error err;
    char *end;
    if (o->even && pleat_session_limits_if(session, is_even, NULL, &err))
        app_give_up("cannot say which sizes it can use", &err);
    if (!o->sizes)
        return;
    long least = strtol(o->sizes, &end, 10);
    long most = *end == ':' ? strtol(end + 1, &end, 10) : 0;
    if (*end != ':' ||
        pleat_session_limits(session, (int)least, (int)most, end[1] ? end + 1 : NULL, &err))
        app_give_up("cannot say which sizes it can use", &err);
}

int main(int argc, char **argv)
{
    struct options o;
    struct pleat_session *session;
    struct pleat_rows *rows;
    struct pleat_error err;
    MPI_Comm parent;
    long long counters[4] = {0}; /* iterations, resizes, wrong words, lines of --ask done */

    read_options(argc, argv, &o);
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (o.die_joining && parent != MPI_COMM_NULL)
        raise(SIGKILL);
    if (pleat_session_create(&session, &err))
        app_give_up("cannot create the session", &err);
    pleat_session_on_offer(session, o.accept || o.greedy ? choose : NULL, &o);
    if (o.mismatch && (pleat_session_joined(session) || pleat_session_resumed(session)))
        o.rows++;
    long long words = (o.state / o.rows + 7) / 8;
    if (words < 1)
        words = 1;
    if (pleat_value_register(session, "counters", counters, sizeof(counters), &err) ||
        pleat_rows_create(session, "state", o.rows, (size_t)words * 8, (int)o.halo, &rows, &err))
        app_give_up("cannot register the state", &err);

    if (o.announce && pleat_session_announce(session, &err))
        app_give_up("cannot announce resizes", &err);
    say_limit(session, &o);
    say_sizes(session, &o);
    int begun = app_begin(session);
    if (begun == PLEAT_STARTED) {
        fill(rows, words);
    } else if (begun == PLEAT_JOINED) {
        counters[1]++;
        counters[2] += check(session, rows, &o, words);
    }

    struct app_tally tally;
    app_tally_open(&tally, session, begun);
    int what = begun;
    while (what != PLEAT_LEAVE && goes_on(session, &o, counters)) {
        double longer = say_grid(session, &o, counters[0]);
        app_pause(longer * pause_of(&o, pleat_session_size(session)));
        misbehave(session, &o, counters[0]);
        say_limit(session, &o);
        ask(session, &o, &counters[3]);
        if (!o.loose)
            MPI_Barrier(pleat_session_comm(session));
        counters[0]++;
        app_tally_add(&tally);
        int pending = pleat_session_pending(session);
        if (pending) /* collective work before a resize, as a program with data of its own would do
                      */
            MPI_Barrier(pleat_session_comm(session));
        what = pleat_session_adapt(session, &err);
        if (o.announce && what > PLEAT_SAME && !pending) {
            fprintf(stderr, "a resize came unannounced\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (what < 0)
            app_give_up("adaptation point", &err);
        if (what == PLEAT_GREW || what == PLEAT_SHRANK) {
            counters[1]++;
            counters[2] += check(session, rows, &o, words);
        }
    }

    int failed = 0;
    if (what != PLEAT_LEAVE) {
        counters[2] += check(session, rows, &o, words);
        failed = counters[2] != 0 || app_tally_skipped(&tally, counters[0]);
        if (pleat_session_rank(session) == 0)
            printf("RESULT %s iterations=%lld resizes=%lld ranks=%d\n", failed ? "wrong" : "ok",
                   counters[0], counters[1], pleat_session_size(session));
    }
    pleat_session_finish(session);
    MPI_Finalize();
    return failed;
}
