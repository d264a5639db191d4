/* app_items [options] - a malleable program with data of changing size and of its own: items of any
 * size, particles in order and by owner, a sparse matrix, rows in its own memory. Between any two
 * adaptation points all of it changes; after each resize it is checked, byte for byte, and that
 * nothing is missing or there twice. --crowd N: particles of a rank at first; --entries N: of each
 * row of the matrix, more. --still: their numbers and lengths stay as they are, and after each
 * resize rank 0 prints how many bytes were sent from rank to rank in messages of items. */
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pleat.h>

#include "app_crash.h"

#define TEXTS 61
#define HUGE_TEXT 17
#define HUGE_BYTES (17 << 20) /* larger than a message */
#define ROWS 257
#define OWNED 101

static long long counters[3]; /* iterations, resizes, wrong ones */
static const char
    *fails; /* "open", "owner", "lose", "skip", "drop": how this rank's functions fail */
static unsigned long long salt;
static int few;
static int still;
static long long sent; /* bytes of items to other ranks */

#define ITEMS_TAG 0x5050

#pragma GCC visibility push(default)
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int rank = -1;
    PMPI_Comm_rank(comm, &rank);
    if (to != rank && tag == ITEMS_TAG)
        sent += count;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}
#pragma GCC visibility pop

static unsigned long long mix(unsigned long long a, unsigned long long b)
{
    unsigned long long h = (a + 1) * 0x9e3779b97f4a7c15ULL ^ (b + 7) * 0xc2b2ae3d27d4eb4fULL;
    return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL;
}

static _Noreturn void give_up(const struct pleat_error *err)
{
    fprintf(stderr, "items: %s\n", err->text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void wrong(const char *what, long long which)
{
    printf("wrong: %s %lld, iteration %lld\n", what, which, counters[0]);
    counters[2]++;
}

/* Sums of all ranks; and the ranks below. */
static void sum(struct pleat_session *session, const long long *mine, long long *all, int count)
{
    PMPI_Allreduce(mine, all, count, MPI_LONG_LONG, MPI_SUM, pleat_session_comm(session));
}

static long long below(struct pleat_session *session, long long mine)
{
    long long before = 0;
    PMPI_Exscan(&mine, &before, 1, MPI_LONG_LONG, MPI_SUM, pleat_session_comm(session));
    return pleat_session_rank(session) ? before : 0;
}

static int is_balanced(struct pleat_session *session, long long mine, long long all)
{
    int size = pleat_session_size(session);
    return mine == all / size + (pleat_session_rank(session) < all % size);
}

/* ---- texts: items of any size, some empty, one huge ---- */

struct text {
    long long id;
    unsigned char *bytes;
};

static struct texts {
    struct text *text;
    long long count;
} texts, coming;

static long long text_bytes(long long id)
{
    return id == HUGE_TEXT && !few ? HUGE_BYTES : id * 37 % 200;
}

static unsigned char text_byte(long long id, long long i)
{
    return (unsigned char)mix((unsigned long long)id + salt, (unsigned long long)i);
}

static void texts_open(struct texts *t, long long count)
{
    t->text = calloc(count ? (size_t)count : 1, sizeof(*t->text));
    t->count = count;
}

static void texts_close(struct texts *t)
{
    for (long long i = 0; i < t->count; i++)
        free(t->text[i].bytes);
    free(t->text);
    *t = (struct texts){0};
}

static int64_t count_texts(void *arg)
{
    (void)arg;
    return texts.count;
}

static int64_t packed_bytes(int64_t item, void *arg)
{
    (void)arg;
    return 8 + text_bytes(texts.text[item].id);
}

static void pack_text(int64_t item, void *to, void *arg)
{
    (void)arg;
    const struct text *text = &texts.text[item];
    if (fails && !strcmp(fails, "skip") && item == 1)
        return;
    memcpy(to, &text->id, 8);
    memcpy((char *)to + 8, text->bytes, (size_t)text_bytes(text->id));
}

static int open_texts(int64_t count, int64_t bytes, void *arg)
{
    (void)arg;
    (void)bytes;
    if (fails && !strcmp(fails, "open"))
        return 1;
    texts_open(&coming, count);
    return 0;
}

static void unpack_text(int64_t item, const void *from, int64_t bytes, void *arg)
{
    (void)arg;
    struct text *text = &coming.text[item];
    if (fails && !strcmp(fails, "drop") && item == 1)
        return;
    memcpy(&text->id, from, 8);
    text->bytes = malloc((size_t)bytes);
    memcpy(text->bytes, (const char *)from + 8, (size_t)bytes - 8);
    if (fails && !strcmp(fails, "lose") && bytes > 8)
        text->bytes[0] ^= 1;
    if (bytes != 8 + text_bytes(text->id))
        wrong("length of text", text->id);
}

/* Takes out those that did not come. */
static void drop_missing(struct texts *t)
{
    long long count = 0;
    for (long long i = 0; i < t->count; i++)
        if (t->text[i].bytes)
            t->text[count++] = t->text[i];
    t->count = count;
}

static void close_texts(int taken, void *arg)
{
    (void)arg;
    drop_missing(&coming);
    texts_close(taken ? &texts : &coming);
    if (taken)
        texts = coming;
    coming = (struct texts){0};
}

/* At first the last rank has them all. */
static void make_texts(int rank, int size)
{
    texts_open(&texts, rank == size - 1 ? TEXTS : 0);
    for (long long i = 0; i < texts.count; i++) {
        texts.text[i].id = i;
        texts.text[i].bytes = malloc((size_t)text_bytes(i) + 1);
    }
}

static void fill_texts(void)
{
    for (long long i = 0; i < texts.count; i++)
        for (long long b = 0; b < text_bytes(texts.text[i].id); b++)
            texts.text[i].bytes[b] = text_byte(texts.text[i].id, b);
}

static void check_texts(struct pleat_session *session)
{
    long long first = below(session, texts.count), all;
    sum(session, &(long long){texts.count}, &all, 1);
    if (all != TEXTS || !is_balanced(session, texts.count, all))
        wrong("number of texts", texts.count);
    for (long long i = 0; i < texts.count; i++) {
        const struct text *text = &texts.text[i];
        if (text->id != first + i)
            wrong("order of text", text->id);
        for (long long b = 0; b < text_bytes(text->id); b++)
            if (text->bytes[b] != text_byte(text->id, b)) {
                wrong("text", text->id);
                break;
            }
    }
}

/* ---- particles, which come and go; in order, and by owner ---- */

struct particle {
    long long id;
    unsigned long long value;
    char kind;
};

static struct crowd {
    const char *name;
    struct pleat_particles *particles;
    long long expected[2]; /* of all ranks: number, sum of hashes */
    int by_owner;
} crowds[2] = {{.name = "crowd"}, {.name = "cells", .by_owner = 1}};

static int owner_of(const void *particle, int size, void *arg)
{
    struct particle p;
    (void)arg;
    if (fails && !strcmp(fails, "owner"))
        return size;
    memcpy(&p, particle, sizeof(p));
    return (int)(mix((unsigned long long)p.id, 3) % (unsigned long long)size);
}

static void set_count(struct crowd *crowd, long long count)
{
    struct pleat_error err;
    if (pleat_particles_set_count(crowd->particles, count, &err))
        give_up(&err);
}

static long long hash_of(const struct particle *p)
{
    return (long long)(mix((unsigned long long)p->id, 11) >> 8);
}

static void add_particles(struct crowd *crowd, int rank, int count)
{
    long long n = pleat_particles_count(crowd->particles);
    set_count(crowd, n + count);
    struct particle *p = pleat_particles_data(crowd->particles);
    for (int i = 0; i < count; i++)
        p[n + i].id = (long long)salt * 1000000 + rank * 1000 + i;
}

/* Some ranks get particles, some lose them; then all are counted. */
static void change_crowd(struct pleat_session *session, struct crowd *crowd)
{
    int rank = pleat_session_rank(session);
    long long n = pleat_particles_count(crowd->particles);
    unsigned long long fate = still ? 2 : mix(salt, (unsigned long long)rank) % 3;
    if (fate == 0)
        add_particles(crowd, rank, 5 + rank);
    else if (fate == 1 && n > 40)
        set_count(crowd, n - 3);
    struct particle *p = pleat_particles_data(crowd->particles);
    long long mine[2] = {pleat_particles_count(crowd->particles), 0};
    for (long long i = 0; i < mine[0]; i++) {
        p[i].value = mix((unsigned long long)p[i].id, salt);
        p[i].kind = (char)(p[i].id % 100);
        mine[1] += hash_of(&p[i]);
    }
    sum(session, mine, crowd->expected, 2);
}

static void check_crowd(struct pleat_session *session, const struct crowd *crowd)
{
    const struct particle *p = pleat_particles_data(crowd->particles);
    long long mine[2] = {pleat_particles_count(crowd->particles), 0}, all[2];
    for (long long i = 0; i < mine[0]; i++) {
        mine[1] += hash_of(&p[i]);
        if (p[i].value != mix((unsigned long long)p[i].id, salt) || p[i].kind != p[i].id % 100)
            wrong(crowd->name, p[i].id);
        if (crowd->by_owner &&
            owner_of(&p[i], pleat_session_size(session), NULL) != pleat_session_rank(session))
            wrong("owner", p[i].id);
    }
    sum(session, mine, all, 2);
    if (all[0] != crowd->expected[0] || all[1] != crowd->expected[1])
        wrong("number of particles", mine[0]);
    if (!crowd->by_owner && !is_balanced(session, mine[0], all[0]))
        wrong("balance", mine[0]);
}

/* ---- a sparse matrix, some rows of which are empty ---- */

static struct pleat_csr *matrix;
static long long more_entries; /* in each row */

static long long length_of(long long row)
{
    return more_entries + (row + (long long)salt) * 7 % 13;
}

static void fill_matrix(void)
{
    struct pleat_error err;
    long long first = pleat_csr_first(matrix), count = pleat_csr_count(matrix);
    int64_t lengths[ROWS];
    for (long long i = 0; i < count; i++)
        lengths[i] = length_of(first + i);
    if (pleat_csr_set_lengths(matrix, lengths, &err))
        give_up(&err);
    const int64_t *start = pleat_csr_start(matrix);
    int *column = pleat_csr_field(matrix, 0);
    double *value = pleat_csr_field(matrix, 1);
    for (long long i = 0; i < count; i++)
        for (int64_t at = start[i]; at < start[i + 1]; at++) {
            column[at] = (int)(first + i + at - start[i]);
            value[at] = (double)(mix((unsigned long long)(first + i), salt) % 1000000) +
                        (double)(at - start[i]);
        }
}

static void check_matrix(void)
{
    long long first = pleat_csr_first(matrix), count = pleat_csr_count(matrix);
    const int64_t *start = pleat_csr_start(matrix);
    const int *column = pleat_csr_field(matrix, 0);
    const double *value = pleat_csr_field(matrix, 1);
    for (long long i = 0; i < count; i++) {
        if (start[i + 1] - start[i] != length_of(first + i)) {
            wrong("length of row", first + i);
            return;
        }
        for (int64_t at = start[i]; at < start[i + 1]; at++)
            if (column[at] != first + i + at - start[i] ||
                value[at] != (double)(mix((unsigned long long)(first + i), salt) % 1000000) +
                                 (double)(at - start[i]))
                wrong("entry of row", first + i);
    }
}

/* ---- rows in memory of its own ---- */

struct own_row {
    unsigned long long a, b, c;
};

static struct own_row *own, *own_coming;

static const void *own_data(void *arg)
{
    (void)arg;
    return own;
}

static void *open_own(int64_t count, void *arg)
{
    (void)arg;
    own_coming = calloc(count ? (size_t)count : 1, sizeof(*own_coming));
    return own_coming;
}

static void close_own(int taken, void *arg)
{
    (void)arg;
    free(taken ? own : own_coming);
    if (taken)
        own = own_coming;
    own_coming = NULL;
}

static void own_block(struct pleat_session *session, int64_t *first, int64_t *count)
{
    pleat_owned_block(OWNED, pleat_session_size(session), pleat_session_rank(session), first,
                      count);
}

/* The memory moves, too, as that of a program with two buffers. */
static void fill_own(struct pleat_session *session)
{
    int64_t first, count;
    own_block(session, &first, &count);
    free(own);
    own = calloc(count ? (size_t)count : 1, sizeof(*own));
    for (int64_t i = 0; i < count; i++)
        own[i] = (struct own_row){(unsigned long long)(first + i), salt,
                                  mix((unsigned long long)(first + i), salt)};
}

static void check_own(struct pleat_session *session)
{
    int64_t first, count;
    own_block(session, &first, &count);
    for (int64_t i = 0; i < count; i++)
        if (own[i].a != (unsigned long long)(first + i) || own[i].b != salt ||
            own[i].c != mix((unsigned long long)(first + i), salt))
            wrong("own row", first + i);
}

/* ---- the program ---- */

static void create(struct pleat_session *session, int mismatch)
{
    static const struct pleat_items_ops text_ops = {.count = count_texts,
                                                    .bytes = packed_bytes,
                                                    .pack = pack_text,
                                                    .open = open_texts,
                                                    .unpack = unpack_text,
                                                    .close = close_texts};
    static const struct pleat_owned_ops own_ops = {own_data, open_own, close_own};
    const size_t fields[] = {sizeof(int), sizeof(double)};
    struct pleat_error err;
    if (pleat_value_register(session, "counters", counters, sizeof(counters), &err) ||
        pleat_value_register(session, "salt", &salt, sizeof(salt), &err) ||
        pleat_items_register(session, "texts", &text_ops, 0, NULL, &err) ||
        pleat_csr_create(session, "matrix", ROWS, fields, mismatch ? 1 : 2, &matrix, &err) ||
        pleat_owned_register(session, "own", OWNED, sizeof(struct own_row), &own_ops, NULL, &err))
        give_up(&err);
    for (int i = 0; i < 2; i++) {
        struct crowd *c = &crowds[i];
        if (pleat_particles_create(session, c->name, sizeof(struct particle), &c->particles,
                                   &err) ||
            pleat_value_register(session, i ? "expected cells" : "expected crowd", c->expected,
                                 sizeof(c->expected), &err))
            give_up(&err);
        if (c->by_owner)
            pleat_particles_on_owner(c->particles, owner_of, NULL);
    }
}

static void check(struct pleat_session *session)
{
    long long all;
    check_texts(session);
    check_crowd(session, &crowds[0]);
    check_crowd(session, &crowds[1]);
    check_matrix();
    check_own(session);
    sum(session, &counters[2], &all, 1);
    counters[2] = all;
    sum(session, &sent, &all, 1);
    if (still && pleat_session_rank(session) == 0)
        printf("SENT %lld on %d\n", all, pleat_session_size(session));
    fflush(stdout);
    sent = 0;
}

static void change(struct pleat_session *session)
{
    salt += !still;
    fill_texts();
    change_crowd(session, &crowds[0]);
    change_crowd(session, &crowds[1]);
    fill_matrix();
    fill_own(session);
}

static int run(struct pleat_session *session, long long iterations, long long resizes)
{
    struct pleat_error err;
    int what = PLEAT_SAME;
    while (what != PLEAT_LEAVE &&
           (resizes >= 0 ? counters[1] < resizes : counters[0] < iterations)) {
        const struct timespec moment = {0, 5000000};
        nanosleep(&moment, NULL);
        change(session);
        counters[0]++;
        app_crash_inside(1);
        what = pleat_session_adapt(session, &err);
        app_crash_inside(0);
        if (what < 0)
            give_up(&err);
        if (what == PLEAT_GREW || what == PLEAT_SHRANK) {
            counters[1]++;
            check(session);
        }
    }
    return what;
}

int main(int argc, char **argv)
{
    long long iterations = 100, resizes = -1, crowd = 10;
    const char *fail = NULL;
    int mismatch = 0;
    const struct option options[] = {
        {"iterations", 1, NULL, 'i'}, {"resizes", 1, NULL, 'r'}, {"mismatch", 0, &mismatch, 1},
        {"fail", 1, NULL, 'f'},       {"few", 0, &few, 1},       {"still", 0, &still, 1},
        {"crowd", 1, NULL, 'c'},      {"entries", 1, NULL, 'e'}, {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'i')
            iterations = atoll(optarg);
        else if (c == 'r')
            resizes = atoll(optarg);
        else if (c == 'c')
            crowd = atoll(optarg);
        else if (c == 'e')
            more_entries = atoll(optarg);
        else if (c == 'f')
            fail = optarg;
        else if (c)
            return 2;
    }
    struct pleat_session *session;
    struct pleat_error err;
    MPI_Init(&argc, &argv);
    app_crash_init();
    if (pleat_session_create(&session, &err))
        give_up(&err);
    create(session, mismatch && pleat_session_rank(session) == 1);
    /* the last one of three has the texts at first */
    if (fail && pleat_session_rank(session) == (strcmp(fail, "skip") ? 1 : 2))
        fails = fail;
    app_crash_inside(1);
    int begun = pleat_session_begin(session, &err);
    app_crash_inside(0);
    if (begun < 0)
        give_up(&err);
    int what = begun;
    if (begun == PLEAT_STARTED) {
        make_texts(pleat_session_rank(session), pleat_session_size(session));
        add_particles(&crowds[0], pleat_session_rank(session), (int)crowd);
        add_particles(&crowds[1], pleat_session_rank(session), 30);
    } else if (begun == PLEAT_JOINED) {
        counters[1]++;
        check(session);
    }
    if (what != PLEAT_LEAVE)
        what = run(session, iterations, resizes);
    if (what != PLEAT_LEAVE && pleat_session_rank(session) == 0)
        printf("RESULT %s iterations=%lld resizes=%lld ranks=%d\n", counters[2] ? "wrong" : "ok",
               counters[0], counters[1], pleat_session_size(session));
    pleat_session_finish(session);
    texts_close(&texts);
    free(own);
    MPI_Finalize();
    return 0;
}
