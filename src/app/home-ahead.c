#include "app/home-ahead.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "app/home-source.h"
#include "app/session.h"

#define MARGIN 64 /* of what is likely to come, and to be read, this part more */
#define STEP ((size_t)16 << 20)

static size_t page_up(double bytes)
{
    const size_t page = pleat_page_bytes();
    return ((size_t)bytes + page - 1) / page * page;
}

/* ---- how many there are ---- */

/* Where the items are; false: it is not known yet. */
static bool find_items(struct pleat_home *home, int data)
{
    struct pleat_home_mark mark;
    if (!pleat_home_peek_mark(home, data, &mark))
        return false;
    home->ahead.from =
        (struct pleat_home_place){.fd = data, .half = mark.half, .ranks = mark.ranks};
    free(mark.counts);
    return true;
}

/* Bytes in memory of each column of each rank; the caller's to free. NULL: no memory. */
static uint64_t *measure(struct pleat_home *home)
{
    struct pleat_home_ahead *ahead = &home->ahead;
    struct pleat_home_place place = ahead->from;
    uint64_t *used = calloc((size_t)place.ranks * (size_t)home->columns, sizeof(*used));
    ahead->all = 0;
    for (place.rank = 0; used && place.rank < place.ranks; place.rank++)
        for (int c = 0; c < home->columns; c++) {
            uint64_t *one = &used[(size_t)place.rank * (size_t)home->columns + (size_t)c];
            *one = pleat_state_data_filled(place.fd, pleat_home_offset(home, &place, c),
                                           pleat_home_room(home, place.ranks));
            ahead->all += *one;
        }
    return used;
}

/* ---- what is read ---- */

/* there: bytes of the column that have memory; only these are provided. Where it fails that is left
 * to the hand-over. */
static void add_source(struct pleat_home *home, int rank, int column, struct pleat_span span,
                       size_t there)
{
    struct pleat_home_ahead *ahead = &home->ahead;
    struct pleat_home_place place = ahead->from;
    struct pleat_home_source source = {.rank = rank, .column = column, .span = span};
    struct pleat_home_source *more =
        realloc(ahead->sources, (ahead->source_count + 1) * sizeof(*more));
    if (!more)
        return;
    ahead->sources = more;
    place.rank = rank;
    const uint64_t at = PLEAT_STATE_OFFSET + pleat_home_offset(home, &place, column) + span.first;
    const size_t bytes = span.end - span.first;
    const struct pleat_span pages = {0, span.end < there     ? bytes
                                        : there > span.first ? there - span.first
                                                             : 0};
    void *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, place.fd, (off_t)at);
    if (mapped == MAP_FAILED)
        return;
    source.at = mapped;
    if (pleat_memory_ahead_over(&source.ahead, source.at, pages, NULL)) {
        (void)munmap(mapped, bytes);
        return;
    }
    ahead->sources[ahead->source_count++] = source;
}

/* ---- what this rank will have ---- */

/* A part of a rank's items: of every column from `first` to `end` of `of` parts. */
struct part {
    double first, end, of;
};

/* The part of `rank` that is likely to be this rank's: of the first column it has bytes `first` to
 * `end` of all ranks'. */
static struct part part_of(const struct pleat_home *home, const uint64_t *used, int rank,
                           double before, const double share[2])
{
    const double bytes = (double)used[(size_t)rank * (size_t)home->columns];
    const double first = share[0] > before ? share[0] - before : 0;
    const double end = share[1] < before + bytes ? share[1] - before : bytes;
    return (struct part){first, end, bytes};
}

static void plan_column(struct pleat_home *home, int rank, int column, double bytes,
                        const struct part *part, bool anew)
{
    const double first = bytes * part->first / part->of;
    const double end = bytes * part->end / part->of;
    const double more = bytes / MARGIN + (double)pleat_page_bytes();
    const size_t room = (size_t)pleat_home_room(home, home->ahead.from.ranks);
    home->ahead.wanted[column] += (size_t)(end - first);
    if (!anew)
        return;
    struct pleat_span span = {page_up(first > more ? first - more : 0), page_up(end + more)};
    span.first -= span.first ? pleat_page_bytes() : 0;
    span.end = span.end < room ? span.end : room;
    if (span.first < span.end)
        add_source(home, rank, column, span, (size_t)bytes);
}

static bool is_mapped(const struct pleat_home *home, int rank, int column, double bytes,
                      const struct part *part)
{
    return pleat_home_find_source(home, rank, column, (uint64_t)(bytes * part->first / part->of),
                                  (uint64_t)(bytes * part->end / part->of));
}

/* Goes through all parts: to plan them (anew: with their sources), or to see whether the sources
 * are those that are needed. */
static bool visit(struct pleat_home *home, const uint64_t *used, int ranks, int rank, bool plans,
                  bool anew)
{
    double all = 0;
    double before = 0;
    bool good = true;
    for (int i = 0; i < home->ahead.from.ranks; i++)
        all += (double)used[(size_t)i * (size_t)home->columns];
    const double share[2] = {all * rank / ranks, all * (rank + 1) / ranks};
    for (int i = 0; i < home->ahead.from.ranks; i++) {
        const struct part part = part_of(home, used, i, before, share);
        before += part.of;
        for (int c = 0; c < home->columns && part.first < part.end; c++) {
            const double bytes = (double)used[(size_t)i * (size_t)home->columns + (size_t)c];
            if (plans)
                plan_column(home, i, c, bytes, &part, anew);
            else
                good &= bytes <= 0 || is_mapped(home, i, c, bytes, &part);
        }
    }
    return good;
}

bool pleat_home_look(struct pleat_home *home, int data, int ranks, int rank)
{
    struct pleat_home_ahead *ahead = &home->ahead;
    if (!find_items(home, data))
        return false;
    uint64_t *used = measure(home);
    if (!used)
        return false;
    const bool anew = !visit(home, used, ranks, rank, false, false);
    if (anew)
        pleat_home_drop_sources(home, false);
    for (int c = 0; c < home->columns; c++)
        ahead->wanted[c] = 0;
    (void)visit(home, used, ranks, rank, true, anew);
    for (int c = 0; c < home->columns; c++)
        ahead->wanted[c] += ahead->wanted[c] / MARGIN + pleat_page_bytes();
    free(used);
    return true;
}

/* ---- memory ---- */

void pleat_home_take(struct pleat_home *home, int ranks, int rank)
{
    struct pleat_home_ahead *ahead = &home->ahead;
    size_t bytes[PLEAT_HOME_COLUMNS];
    if (ahead->failed || pleat_home_check_room(home, ahead->all, NULL))
        return;
    if (!ahead->takes) {
        home->now.place.half = ahead->from.half;
        pleat_home_expect(home, ahead->from.fd, ranks, rank);
        pleat_home_free_coming(home);
    }
    for (int c = 0; c < home->columns; c++) {
        const size_t there = home->coming.column[c].bytes;
        bytes[c] = ahead->wanted[c] > there ? ahead->wanted[c] : there;
    }
    ahead->takes = pleat_home_open(home, bytes);
    ahead->failed = !ahead->takes;
}

/* Has the kernel provide some of what was taken. Whether there was something to do. */
static bool provide(struct pleat_home *home)
{
    struct pleat_home_ahead *ahead = &home->ahead;
    for (int c = 0; c < home->columns && ahead->takes; c++) {
        const struct pleat_home_column *column = &home->coming.column[c];
        const size_t left = column->mapped - ahead->provided[c];
        const size_t some = left < STEP ? left : STEP;
        if (!some)
            continue;
        if (madvise(column->at + ahead->provided[c], some, MADV_POPULATE_WRITE) &&
            errno != EINVAL) {
            pleat_home_close(home, false);
            ahead->failed = true;
            return false;
        }
        ahead->provided[c] += some;
        return true;
    }
    return false;
}

bool pleat_home_go_on(struct pleat_home *home)
{
    struct pleat_home_ahead *ahead = &home->ahead;
    bool done = provide(home);
    for (size_t i = 0; i < ahead->source_count && !done; i++)
        done = pleat_memory_ahead_go_on(&ahead->sources[i].ahead) == PLEAT_FORESEEN_MORE;
    return done;
}
