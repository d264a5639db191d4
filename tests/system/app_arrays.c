/* arrays - a malleable program with arrays of many distributions, which checks every element of
 * them after each resize. In each iteration all elements get other values, and all halos rubbish.
 *
 * --resizes N: ends after N resizes; --iterations N: or after N iterations. --few: four
 * arrays only. --slabs: only those that are mapped at a resize, as rows are. --mismatch
 * order|shape|grid: rank 1 registers them in another order, or one with another shape.
 * --narrow: one array only, whose halos are wider than its parts on 8 ranks.
 * --address R: rank R cannot get address space any more. --large BYTES: one array more. --huge: one
 * that is larger than any memory, and not touched.
 */
#include <getopt.h>
#include <pleat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "app_crash.h"

#define BLOCK(n, low, high)                                                                        \
    {                                                                                              \
        (n), PLEAT_BLOCK, 0, (low), (high), 0                                                      \
    }
#define CYCLIC(n, nb)                                                                              \
    {                                                                                              \
        (n), PLEAT_BLOCK_CYCLIC, (nb), 0, 0, 1                                                     \
    }
#define WHOLE(n)                                                                                   \
    {                                                                                              \
        (n), PLEAT_COLLAPSED, 0, 0, 0, 0                                                           \
    }

static const struct item {
    const char *name;
    int dims;
    struct pleat_dimension dim[PLEAT_ARRAY_DIMS];
    size_t bytes;
    int column_major, grid_column_major;
    const char *grid_of;
} table[] = {
    {"matrix", 2, {CYCLIC(61, 4), CYCLIC(53, 3)}, 8, 1, 0, NULL},
    {"cells", 3, {BLOCK(13, 1, 1), BLOCK(11, 2, 0), BLOCK(9, 0, 1)}, 8, 0, 0, NULL},
    {"table", 2, {WHOLE(5), WHOLE(7)}, 3, 0, 0, NULL},
    {"wide slabs", 3, {BLOCK(61, 1, 2), WHOLE(37), WHOLE(11)}, 16, 0, 0, NULL},
    {"list", 1, {WHOLE(100)}, 8, 0, 0, NULL},
    {"line", 1, {BLOCK(1009, 0, 0)}, 8, 0, 0, NULL},
    {"line with halo", 1, {BLOCK(1009, 3, 2)}, 16, 0, 0, NULL},
    {"cyclic", 1, {CYCLIC(1000, 1)}, 1, 0, 0, NULL},
    {"block-cyclic", 1, {CYCLIC(997, 5)}, 24, 0, 0, NULL},
    {"columns first", 2, {CYCLIC(50, 8), CYCLIC(40, 8)}, 16, 1, 1, NULL},
    {"mixed", 2, {BLOCK(33, 0, 0), CYCLIC(29, 2)}, 24, 0, 1, "columns first"},
    {"slabs", 3, {BLOCK(17, 1, 1), WHOLE(6), WHOLE(5)}, 8, 0, 0, NULL},
    {"slabs of columns", 3, {WHOLE(31), WHOLE(40), BLOCK(23, 0, 1)}, 8, 1, 0, NULL},
    {"slabs with edges", 2, {BLOCK(40, 1, 1), {30, PLEAT_COLLAPSED, 0, 1, 1, 0}}, 8, 0, 0, NULL},
    {"pencils", 3, {BLOCK(9, 0, 0), BLOCK(10, 0, 0), WHOLE(11)}, 16, 0, 0, NULL},
    {"pencils of columns", 3, {WHOLE(11), BLOCK(9, 0, 0), BLOCK(10, 0, 0)}, 16, 1, 0, NULL},
    {"four", 4, {BLOCK(5, 0, 1), CYCLIC(4, 1), WHOLE(3), BLOCK(6, 1, 0)}, 3, 0, 0, NULL},
    {"none", 1, {BLOCK(0, 1, 1)}, 8, 0, 0, NULL},
    {"none of them", 2, {CYCLIC(0, 2), CYCLIC(5, 2)}, 8, 1, 0, NULL},
    {"one", 1, {BLOCK(1, 2, 2)}, 8, 0, 0, NULL},
    {"one by one", 2, {CYCLIC(1, 64), CYCLIC(1, 64)}, 8, 1, 0, NULL},
    {"fewer than ranks", 1, {CYCLIC(3, 2)}, 3, 0, 0, NULL},
    {"two planes", 3, {BLOCK(2, 1, 1), BLOCK(30, 1, 1), WHOLE(3)}, 1, 0, 0, NULL},
    {"large", 2, {CYCLIC(700, 32), CYCLIC(500, 32)}, 8, 1, 0, "matrix"},
};

#define ITEMS ((int)(sizeof(table) / sizeof(table[0])))

static struct item items[ITEMS + 1];
static struct pleat_array *arrays[ITEMS + 1];
static int count;

/* iterations, resizes, wrong elements, and what makes the values of an iteration others */
static long long counters[3];
static unsigned long long salt;

/* ---- values ---- */

static unsigned char value_of(int item, unsigned long long element, size_t byte)
{
    unsigned long long x = (element * 24 + byte + 1) * 0x9e3779b97f4a7c15ULL;
    x ^= (salt * 977 + (unsigned long long)item) * 0xc2b2ae3d27d4eb4fULL;
    x ^= x >> 29;
    return (unsigned char)((x * 0xbf58476d1ce4e5b9ULL) >> 56);
}

/* Visits the local array in the order of memory. `check`: counts wrong bytes; otherwise writes.
 * Adds the elements that this rank owns to *owned. */
static long long visit(int item, int check, long long *owned)
{
    const struct item *it = &items[item];
    const struct pleat_array *array = arrays[item];
    unsigned char *at = pleat_array_data(array);
    int64_t index[PLEAT_ARRAY_DIMS] = {0};
    int64_t extent[PLEAT_ARRAY_DIMS];
    int64_t all = 1;
    long long wrong = 0;
    for (int d = 0; d < it->dims; d++) {
        extent[d] = pleat_array_extent(array, d);
        all *= extent[d];
    }
    if (!at)
        return pleat_array_count(array, 0) != 0;
    for (int64_t i = 0; i < all; i++, at += it->bytes) {
        unsigned long long element = 0;
        int halo = 0;
        for (int d = 0; d < it->dims; d++) {
            int64_t local = index[d] - it->dim[d].halo_low;
            int64_t global = pleat_array_global(array, d, local);
            halo |= global < 0;
            element = element * (unsigned long long)it->dim[d].extent + (unsigned long long)global;
        }
        *owned += !halo;
        for (size_t b = 0; b < it->bytes; b++) {
            unsigned char value = halo ? (check ? 0 : 0xAA) : value_of(item, element, b);
            if (check)
                wrong += at[b] != value;
            else
                at[b] = value;
        }
        for (int k = 0; k < it->dims; k++) {
            int d = it->column_major ? k : it->dims - 1 - k;
            if (++index[d] < extent[d])
                break;
            index[d] = 0;
        }
    }
    return wrong;
}

static int is_replicated(const struct item *it)
{
    for (int d = 0; d < it->dims; d++)
        if (it->dim[d].format != PLEAT_COLLAPSED)
            return 0;
    return 1;
}

/* Whether the Cartesian communicator of an array knows the ranks' places in the grid, and its
 * neighbours are the neighbours. */
static int is_cartesian(int item)
{
    struct pleat_error err;
    MPI_Comm comm;
    int code = pleat_array_comm(arrays[item], &comm, &err);
    int here[PLEAT_ARRAY_DIMS], extents[PLEAT_ARRAY_DIMS], periods[PLEAT_ARRAY_DIMS];
    int good = 1;
    if (is_replicated(&items[item]))
        return code == PLEAT_E_UNSUPPORTED;
    MPI_Fint fortran = 0;
    if (code || pleat_array_comm_fortran(arrays[item], &fortran, &err) ||
        MPI_Comm_f2c(fortran) != comm)
        return 0;
    if (comm == MPI_COMM_NULL)
        return pleat_array_coordinate(arrays[item], 0) == -1;
    MPI_Cart_get(comm, items[item].dims, extents, periods, here);
    for (int d = 0; d < items[item].dims; d++) {
        int from, to, theirs = -1;
        good &= here[d] == pleat_array_coordinate(arrays[item], d);
        good &= extents[d] == pleat_array_processes(arrays[item], d);
        MPI_Cart_shift(comm, d, 1, &from, &to);
        MPI_Sendrecv(&here[d], 1, MPI_INT, to, 0, &theirs, 1, MPI_INT, from, 0, comm,
                     MPI_STATUS_IGNORE);
        int expected = here[d] > 0 ? here[d] - 1 : periods[d] ? extents[d] - 1 : -1;
        good &= theirs == expected;
    }
    return good;
}

static int slowest_of(const struct item *it)
{
    return it->column_major ? it->dims - 1 : 0;
}

/* Whether it is cut in its slowest dimension only. */
static int is_slab(const struct item *it)
{
    const int slowest = slowest_of(it);
    int slab = it->dim[slowest].format == PLEAT_BLOCK;
    for (int d = 0; d < it->dims; d++) {
        const struct pleat_dimension *dim = &it->dim[d];
        slab &=
            d == slowest || (dim->format == PLEAT_COLLAPSED && !dim->halo_low && !dim->halo_high);
    }
    return slab;
}

/* Such an array is mapped, not copied: in a rank an element has the same address for as long as the
 * array lives. */
static int stays_where_it_was(int item)
{
    static const unsigned char *first[ITEMS + 1]; /* where the element with index 0 would be */
    const struct item *it = &items[item];
    const int slowest = slowest_of(it);
    const unsigned char *at = pleat_array_data(arrays[item]);
    size_t row = it->bytes;
    for (int d = 0; d < it->dims; d++)
        row *= d == slowest ? 1 : (size_t)it->dim[d].extent;
    if (!is_slab(it) || !at || it->dim[slowest].extent < 1)
        return 1;
    at += (size_t)it->dim[slowest].halo_low * row;
    at -= (size_t)pleat_array_global(arrays[item], slowest, 0) * row;
    if (!first[item])
        first[item] = at;
    return first[item] == at;
}

static void fill(void)
{
    long long owned = 0;
    for (int i = 0; i < count; i++) {
        (void)stays_where_it_was(i);
        (void)visit(i, 0, &owned);
    }
}

/* This program is not linked with ScaLAPACK. */
static int has_context(int item)
{
    struct pleat_error err;
    int context = 0;
    return pleat_array_context(arrays[item], &context, &err) != PLEAT_E_UNSUPPORTED || !*err.text;
}

/* All ranks together must have each element once. */
static void check(struct pleat_session *session)
{
    for (int i = 0; i < count; i++) {
        long long mine[2] = {0, 0};
        long long all[2];
        long long elements = is_replicated(&items[i]) ? pleat_session_size(session) : 1;
        for (int d = 0; d < items[i].dims; d++)
            elements *= items[i].dim[d].extent;
        mine[0] =
            visit(i, 1, &mine[1]) + !is_cartesian(i) + !stays_where_it_was(i) + has_context(i);
        PMPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, pleat_session_comm(session));
        if ((all[0] || all[1] != elements) && pleat_session_rank(session) == 0)
            printf("array '%s' on %d ranks, iteration %lld: %lld wrong bytes, %lld of %lld "
                   "elements\n",
                   items[i].name, pleat_session_size(session), counters[0], all[0], all[1],
                   elements);
        counters[2] += all[0] + (all[1] != elements);
    }
}

/* ---- the program ---- */

static _Noreturn void give_up(const struct pleat_error *err)
{
    fprintf(stderr, "arrays: %s\n", err->text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void swap_items(int a, int b)
{
    struct item item = items[a];
    items[a] = items[b];
    items[b] = item;
}

static const struct item narrow_item = {"narrow", 2, {BLOCK(14, 2, 1), WHOLE(3)}, 8, 0, 0, NULL};

static void choose_items(int few, int slabs, long long large, const char *mismatch, int rank)
{
    count = few ? 4 : ITEMS;
    memcpy(items, table, sizeof(table));
    if (slabs) {
        count = 0;
        for (int i = 0; i < ITEMS; i++)
            if (is_slab(&table[i]))
                items[count++] = table[i];
    }
    if (large)
        items[count++] = (struct item){.name = "very large",
                                       .dims = 2,
                                       .dim = {CYCLIC(large / 8 / 1000 + 1, 64), CYCLIC(1000, 64)},
                                       .bytes = 8,
                                       .column_major = 1};
    if (mismatch && rank == 1 && !strcmp(mismatch, "order"))
        swap_items(0, 1);
    else if (mismatch && rank == 1 && !strcmp(mismatch, "shape"))
        items[1].dim[2].extent = 10;
}

/* An array that nobody touches, which no machine has memory for. */
static void create_huge(struct pleat_session *session)
{
    struct pleat_error err;
    struct pleat_array *huge;
    const struct pleat_array_shape shape = {
        .dims = 1, .dim = {CYCLIC((int64_t)1 << 42, 4096)}, .element_bytes = 1};
    if (pleat_array_create(session, "huge", &shape, &huge, &err))
        give_up(&err);
}

/* Values that are refused, of which one byte is another's, and arrays: whatever the number of
 * ranks, their halos cannot be filled. */
static void create_impossible(struct pleat_session *session)
{
    struct pleat_error err;
    struct pleat_array *array;
    char *last = (char *)counters + sizeof(counters) - 1;
    if (pleat_value_register(session, "again", &salt, sizeof(salt), &err) != PLEAT_E_INVALID ||
        !strstr(err.text, "'salt'"))
        counters[2]++;
    if (pleat_value_register(session, "again", last, 1, &err) != PLEAT_E_INVALID ||
        !strstr(err.text, "'counters'"))
        counters[2]++;
    const struct pleat_array_shape shapes[] = {
        {.dims = 1, .dim = {{3, PLEAT_BLOCK, 0, 4, 0, 1}}, .element_bytes = 8},
        {.dims = 1, .dim = {{3, PLEAT_COLLAPSED, 0, 0, 4, 1}}, .element_bytes = 8},
        {.dims = 1, .dim = {{3, PLEAT_BLOCK, 0, -1, 0, 0}}, .element_bytes = 8},
        {.dims = 1, .dim = {{-3, PLEAT_BLOCK, 0, 0, 0, 0}}, .element_bytes = 8},
        {.dims = 1, .dim = {{3, PLEAT_BLOCK_CYCLIC, 0, 0, 0, 0}}, .element_bytes = 8},
        {.dims = 1, .dim = {{3, PLEAT_BLOCK_CYCLIC, 1, 1, 0, 0}}, .element_bytes = 8},
        {.dims = 1, .dim = {{3, PLEAT_BLOCK, 0, 0, 0, 0}}, .element_bytes = 0}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (pleat_array_create(session, "impossible", &shapes[i], &array, &err) !=
                PLEAT_E_INVALID ||
            !*err.text)
            counters[2]++;
}

/* The program's own grids: all ranks but one, a column in odd sizes, one rank only. */
static void name_grid(const char *name, int size, int dims, int *grid, void *arg)
{
    const int *is_other = arg;
    (void)dims;
    if (!strcmp(name, "line") && size > 2)
        grid[0] = size - 1;
    if (!strcmp(name, "cyclic"))
        grid[0] = 1;
    if (!strcmp(name, "matrix") && size % 2 == 1) {
        grid[0] = *is_other ? 1 : size;
        grid[1] = *is_other ? size : 1;
    }
}

static struct pleat_array *find_array(const char *name)
{
    for (int i = 0; name && i < count; i++)
        if (!strcmp(items[i].name, name))
            return arrays[i];
    return NULL;
}

static void create(struct pleat_session *session)
{
    struct pleat_error err;
    if (pleat_value_register(session, "counters", counters, sizeof(counters), &err) ||
        pleat_value_register(session, "salt", &salt, sizeof(salt), &err))
        give_up(&err);
    for (int i = 0; i < count; i++) {
        struct pleat_array_shape shape = {.dims = items[i].dims,
                                          .element_bytes = items[i].bytes,
                                          .column_major = items[i].column_major,
                                          .grid_column_major = items[i].grid_column_major,
                                          .same_grid_as = find_array(items[i].grid_of)};
        memcpy(shape.dim, items[i].dim, sizeof(shape.dim));
        if (pleat_array_create(session, items[i].name, &shape, &arrays[i], &err))
            give_up(&err);
    }
}

/* The sizes of MPI's own types are those of C and C++. */
static void check_types(void)
{
    struct pleat_error err;
    MPI_Datatype late, types[] = {MPI_CHAR,  MPI_INT16_T,    MPI_INT,    MPI_INT64_T,
                                  MPI_FLOAT, MPI_DOUBLE,     MPI_C_BOOL, MPI_C_DOUBLE_COMPLEX,
                                  MPI_BYTE,  MPI_AINT,       MPI_WCHAR,  MPI_DOUBLE_INT,
                                  MPI_2INT,  MPI_LONG_DOUBLE};
    const size_t sizes[] = {1, 2, 4, 8, 4, 8, 1, 16, 1, 8, 4, 16, 8, 16};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        counters[2] += pleat_element_bytes(types[i], &bytes, &err) || bytes != sizes[i];
    const int length = 1;
    const MPI_Aint at = 8;
    MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &late);
    counters[2] += pleat_element_bytes(late, &bytes, &err) != PLEAT_E_INVALID;
    counters[2] += pleat_element_bytes(MPI_DATATYPE_NULL, &bytes, &err) != PLEAT_E_INVALID;
    MPI_Type_free(&late);
}

/* From now on this process can have hardly more address space. */
static void limit_address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        exit(1);
    fclose(file);
    const struct rlimit limit = {pages * 4096 + (1 << 20), RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
}

static int run(struct pleat_session *session, long long iterations, long long resizes)
{
    struct pleat_error err;
    int what = PLEAT_SAME;
    while (what != PLEAT_LEAVE &&
           (resizes >= 0 ? counters[1] < resizes : counters[0] < iterations)) {
        const struct timespec moment = {0, 5000000};
        nanosleep(&moment, NULL);
        salt++;
        fill();
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
    long long iterations = 100, resizes = -1, address = -1, large = 0;
    const char *mismatch = NULL;
    int few = 0, slabs = 0, huge = 0, narrow = 0;
    const struct option options[] = {{"iterations", 1, NULL, 'i'}, {"resizes", 1, NULL, 'r'},
                                     {"mismatch", 1, NULL, 'm'},   {"address", 1, NULL, 'a'},
                                     {"large", 1, NULL, 'l'},      {"few", 0, &few, 1},
                                     {"huge", 0, &huge, 1},        {"narrow", 0, &narrow, 1},
                                     {"slabs", 0, &slabs, 1},      {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'i')
            iterations = atoll(optarg);
        else if (c == 'r')
            resizes = atoll(optarg);
        else if (c == 'm')
            mismatch = optarg;
        else if (c == 'a')
            address = atoll(optarg);
        else if (c == 'l')
            large = atoll(optarg);
        else if (c)
            return 2;
    }
    struct pleat_session *session;
    struct pleat_error err;
    MPI_Init(&argc, &argv);
    app_crash_init();
    if (pleat_session_create(&session, &err))
        give_up(&err);
    choose_items(few, slabs, large, mismatch, pleat_session_rank(session));
    if (narrow) {
        items[0] = narrow_item;
        count = 1;
    }
    int is_other = mismatch && pleat_session_rank(session) == 1 && !strcmp(mismatch, "grid");
    pleat_session_on_grid(session, name_grid, &is_other);
    create(session);
    if (narrow)
        create_impossible(session);
    if (huge)
        create_huge(session);
    app_crash_inside(1);
    int begun = pleat_session_begin(session, &err);
    app_crash_inside(0);
    if (begun < 0)
        give_up(&err);
    int what = begun;
    check_types();
    if (begun == PLEAT_JOINED) {
        counters[1]++;
        check(session);
    }
    if (what != PLEAT_LEAVE) {
        if (address == pleat_session_rank(session))
            limit_address_space();
        what = run(session, iterations, resizes);
    }
    if (what != PLEAT_LEAVE && pleat_session_rank(session) == 0)
        printf("RESULT %s iterations=%lld resizes=%lld ranks=%d\n", counters[2] ? "wrong" : "ok",
               counters[0], counters[1], pleat_session_size(session));
    pleat_session_finish(session);
    MPI_Finalize();
    return 0;
}
