#include "app/home.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "app/home-source.h"
#include "app/session.h"
#include "shm/available.h"

#define HALF PLEAT_STATE_WINDOW_HALF
#define MARK_BYTES ((uint64_t)1 << 16) /* size of the mark of each half */
#define MARK_MAGIC UINT64_C(0x656d6f68706c)
#define TRIM_PART 16 /* of a column, and bytes, that are kept above what is in use */
#define TRIM_LEAST ((size_t)1 << 20)
#define HASH_SEED UINT64_C(0xcbf29ce484222325)

struct mark_head {
    uint64_t magic;
    uint64_t number;
    uint64_t ranks;
    uint64_t checksum; /* of the members above and the counts, which follow */
};

#define COUNTS_MOST ((MARK_BYTES - sizeof(struct mark_head)) / sizeof(int64_t))

_Static_assert(2 * MARK_BYTES + 2 * HALF <= PLEAT_STATE_WINDOW, "a window has room for both");

static size_t page_up(size_t bytes)
{
    return (bytes + pleat_page_bytes() - 1) & ~(pleat_page_bytes() - 1);
}

/* ---- areas ---- */

/* Whole pages. */
uint64_t pleat_home_room(const struct pleat_home *home, int ranks)
{
    const uint64_t page = pleat_page_bytes();
    return HALF / ((uint64_t)ranks * (uint64_t)home->columns) / page * page;
}

uint64_t pleat_home_offset(const struct pleat_home *home, const struct pleat_home_place *place,
                           int column)
{
    return home->window + 2 * MARK_BYTES + place->half * HALF +
           ((uint64_t)place->rank * (uint64_t)home->columns + (uint64_t)column) *
               pleat_home_room(home, place->ranks);
}

static uint64_t in_file(const struct pleat_home *home, const struct pleat_home_place *place,
                        int column)
{
    return PLEAT_STATE_OFFSET + pleat_home_offset(home, place, column);
}

/* The last rank's area goes to the end of the half, whatever was there before with other areas. */
static struct pleat_free_piece area_of(const struct pleat_home *home,
                                       const struct pleat_home_place *place)
{
    const uint64_t first = in_file(home, place, 0);
    const uint64_t half = PLEAT_STATE_OFFSET + home->window + 2 * MARK_BYTES + place->half * HALF;
    const uint64_t bytes = (uint64_t)home->columns * pleat_home_room(home, place->ranks);
    return (struct pleat_free_piece){.fd = place->fd,
                                     .first = first,
                                     .bytes = place->rank == place->ranks - 1 ? half + HALF - first
                                                                              : bytes};
}

static void free_area_now(const struct pleat_home *home, const struct pleat_home_place *place)
{
    const struct pleat_free_piece area = area_of(home, place);
    if (place->fd >= 0 && place->rank < place->ranks)
        (void)fallocate(place->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)area.first,
                        (off_t)area.bytes);
}

void pleat_home_free_area(const struct pleat_home *home, const struct pleat_home_place *place)
{
    if (place->fd >= 0 && place->rank < place->ranks)
        pleat_free_later(&home->session->freeing, area_of(home, place));
}

/* ---- columns ---- */

static void drop_column(const struct pleat_home *home, struct pleat_home_column *column)
{
    if (column->mapped)
        pleat_free_later(&home->session->freeing,
                         (struct pleat_free_piece){.at = column->at, .bytes = column->mapped});
    else
        free(column->at);
    *column = (struct pleat_home_column){0};
}

static void drop_part(const struct pleat_home *home, struct pleat_home_part *part)
{
    for (int c = 0; c < home->columns; c++)
        drop_column(home, &part->column[c]);
}

/* Takes memory for all of a column from that byte on, so that a lack of it is an error and not a
 * signal. */
static bool populate_from(const struct pleat_home_column *column, size_t first)
{
    return column->mapped <= first ||
           !madvise(column->at + first, column->mapped - first, MADV_POPULATE_WRITE) ||
           errno == EINVAL;
}

static bool populate(const struct pleat_home_column *column)
{
    return populate_from(column, 0);
}

static bool resize_in_file(const struct pleat_home *home, const struct pleat_home_place *place,
                           int index, struct pleat_home_column *column, size_t bytes)
{
    const size_t wanted = page_up(bytes ? bytes : 1);
    if (wanted < bytes || wanted > pleat_home_room(home, place->ranks))
        return false;
    if (wanted > column->mapped) {
        void *at = column->mapped ? mremap(column->at, column->mapped, wanted, MREMAP_MAYMOVE)
                                  : mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_SHARED,
                                         place->fd, (off_t)in_file(home, place, index));
        if (at == MAP_FAILED)
            return false;
        column->at = at;
        column->mapped = wanted;
        if (pleat_memory_is_strict() && !populate(column))
            return false;
    }
    column->bytes = bytes;
    return true;
}

static bool resize_private(struct pleat_home_column *column, size_t bytes)
{
    unsigned char *at = realloc(column->at, bytes ? bytes : 1);
    if (!at)
        return false;
    column->at = at;
    column->bytes = bytes;
    return true;
}

static bool resize(const struct pleat_home *home, struct pleat_home_part *part, int index,
                   size_t bytes)
{
    struct pleat_home_column *column = &part->column[index];
    if (column->at && bytes <= column->bytes)
        return true;
    return part->place.fd >= 0 ? resize_in_file(home, &part->place, index, column, bytes)
                               : resize_private(column, bytes);
}

bool pleat_home_resize(struct pleat_home *home, int column, size_t bytes)
{
    return resize(home, &home->now, column, bytes);
}

static bool resize_all(const struct pleat_home *home, struct pleat_home_part *part,
                       const size_t bytes[PLEAT_HOME_COLUMNS])
{
    for (int c = 0; c < home->columns; c++)
        if (!resize(home, part, c, bytes[c])) {
            drop_part(home, part);
            return false;
        }
    return true;
}

bool pleat_home_renew(struct pleat_home *home, const size_t bytes[PLEAT_HOME_COLUMNS])
{
    struct pleat_home_part made = {.place = home->now.place};
    if (made.place.fd < 0) {
        if (!resize_all(home, &made, bytes))
            return false;
        for (int c = 0; c < home->columns; c++)
            memset(made.column[c].at, 0, bytes[c]);
    } else {
        /* in the same area, whose pages are given back, and so are zero */
        if (!resize_all(home, &made, bytes))
            return false;
        free_area_now(home, &made.place);
        for (int c = 0; c < home->columns && pleat_memory_is_strict(); c++)
            (void)populate(&made.column[c]);
    }
    drop_part(home, &home->now);
    home->now = made;
    return true;
}

/* ---- a home ---- */

/* Says which half it is, and how many ranks have areas there, for those who look ahead. How many
 * items they have nobody knows yet; what it says counts once it is written for a state. Without a
 * mark nobody looks. */
static void mark_begun(const struct pleat_home *home)
{
    const struct pleat_home_place *place = &home->now.place;
    int64_t *counts = calloc((size_t)place->ranks, sizeof(*counts));
    const struct pleat_home_mark mark = {place->half, place->ranks, counts};
    if (counts)
        (void)!pleat_home_write_mark(home, place->fd, &mark, NULL);
    free(counts);
}

int pleat_home_init(struct pleat_home *home, struct pleat_session *session, int columns,
                    struct pleat_error *err)
{
    const bool at_once =
        session->in_data && !session->resumed && !session->joiner && !session->nodes;
    *home = (struct pleat_home){.session = session, .columns = columns};
    home->name = "";
    home->now.place =
        (struct pleat_home_place){.fd = at_once ? pleat_state_data(session->saved) : -1,
                                  .ranks = session->size,
                                  .rank = session->rank};
    int code = pleat_session_window(session, &home->window, err);
    if (code)
        return code;
    free_area_now(home, &home->now.place);
    if (at_once && session->rank == 0)
        mark_begun(home);
    return 0;
}

void pleat_home_finish(struct pleat_home *home)
{
    pleat_home_drop_sources(home, false);
    for (int c = 0; c < home->columns; c++)
        for (int i = 0; i < 2; i++) {
            struct pleat_home_column *column = &(i ? &home->coming : &home->now)->column[c];
            if (column->mapped)
                (void)munmap(column->at, column->mapped);
            else
                free(column->at);
            *column = (struct pleat_home_column){0};
        }
}

void pleat_home_expect(struct pleat_home *home, int fd, int ranks, int rank)
{
    const struct pleat_home_place place = {
        .fd = fd, .half = 1 - home->now.place.half, .ranks = ranks, .rank = rank};
    const struct pleat_home_place *there = &home->coming.place;
    if (home->ahead.takes && there->fd == fd && there->half == place.half &&
        there->ranks == ranks && there->rank == rank)
        return;
    if (home->ahead.takes)
        pleat_home_close(home, false);
    home->coming = (struct pleat_home_part){.place = place};
}

void pleat_home_free_coming(const struct pleat_home *home)
{
    free_area_now(home, &home->coming.place);
}

bool pleat_home_open(struct pleat_home *home, const size_t bytes[PLEAT_HOME_COLUMNS])
{
    if (!resize_all(home, &home->coming, bytes))
        return false;
    for (int c = 0; c < home->columns && home->coming.place.fd >= 0; c++)
        home->coming.column[c].bytes = bytes[c];
    return true;
}

bool pleat_home_fill(struct pleat_home *home)
{
    const bool ahead = home->ahead.takes;
    bool lacks = !ahead;
    for (int c = 0; c < home->columns; c++)
        lacks |= page_up(home->coming.column[c].bytes) > home->ahead.provided[c];
    /* old memory of earlier sets is freed first: none needs more than the largest one */
    if (lacks)
        pleat_freeing_end(&home->session->freeing);
    if (!ahead)
        free_area_now(home, &home->coming.place);
    for (int c = 0; c < home->columns && lacks; c++)
        if (!populate_from(&home->coming.column[c], home->ahead.provided[c]))
            return false;
    return true;
}

/* Gives back what was taken for many more items than have come. At once, as the program may need
 * the same place soon. */
static void trim(const struct pleat_home *home, struct pleat_home_part *part)
{
    for (int c = 0; c < home->columns; c++) {
        struct pleat_home_column *column = &part->column[c];
        const size_t used = page_up(column->bytes ? column->bytes : 1);
        if (!column->mapped || column->mapped - used <= used / TRIM_PART + TRIM_LEAST)
            continue;
        (void)munmap(column->at + used, column->mapped - used);
        (void)fallocate(part->place.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)(in_file(home, &part->place, c) + used),
                        (off_t)(column->mapped - used));
        column->mapped = used;
    }
}

void pleat_home_close(struct pleat_home *home, bool taken)
{
    if (!taken) {
        drop_part(home, &home->coming);
        free_area_now(home, &home->coming.place);
        home->coming = (struct pleat_home_part){0};
        home->ahead.takes = false;
        memset(home->ahead.provided, 0, sizeof(home->ahead.provided));
        return;
    }
    drop_part(home, &home->now);
    if (home->ahead.takes)
        trim(home, &home->coming);
    home->ahead.takes = false;
    home->now = home->coming;
    home->coming = (struct pleat_home_part){0};
}

void pleat_home_detach(struct pleat_home *home)
{
    const struct pleat_home_place *place = &home->now.place;
    for (int c = 0; c < home->columns; c++) {
        struct pleat_home_column *column = &home->now.column[c];
        if (place->fd >= 0 && column->mapped &&
            pleat_memory_cut_off(column->at, column->mapped, place->fd,
                                 (int64_t)in_file(home, place, c)))
            continue; /* a program that uses the memory nevertheless ends */
    }
}

void pleat_home_leave(struct pleat_home *home)
{
    if (home->now.place.fd < 0)
        return;
    pleat_home_detach(home);
    for (int c = 0; c < home->columns; c++)
        home->now.column[c].bytes = 0;
}

int pleat_home_check_room(const struct pleat_home *home, uint64_t bytes, struct pleat_error *err)
{
    const uint64_t available = bytes ? pleat_available_bytes("") : 0;
    return bytes <= available
               ? 0
               : pleat_error_set(err, PLEAT_E_NOMEM,
                                 "'%s' needs %" PRIu64 " bytes of memory for its new parts, and "
                                 "%" PRIu64 " are available",
                                 home->name, bytes, available);
}

/* ---- the mark ---- */

static uint64_t checksum_of(const struct mark_head *head, const int64_t *counts)
{
    const uint64_t hash = pleat_session_hash(HASH_SEED, head, offsetof(struct mark_head, checksum));
    return pleat_session_hash(hash, counts, (size_t)head->ranks * sizeof(*counts));
}

/* Reads the mark of a half. *counts: NULL: it has no good mark. *torn: set where there is a mark
 * that is not good: it is being written, or whoever wrote it has died. */
static int read_half(const struct pleat_home *home, int fd, unsigned half, struct mark_head *head,
                     int64_t **counts, bool *torn, struct pleat_error *err)
{
    const uint64_t at = home->window + half * MARK_BYTES;
    *counts = NULL;
    int code = pleat_state_read_data(fd, at, head, sizeof(*head), err);
    if (code || head->magic != MARK_MAGIC)
        return code;
    if (head->ranks < 1 || head->ranks > COUNTS_MOST) {
        *torn = true;
        return 0;
    }
    const size_t bytes = (size_t)head->ranks * sizeof(**counts);
    int64_t *read = malloc(bytes);
    if (!read)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the parts of '%s'", home->name);
    code = pleat_state_read_data(fd, at + sizeof(*head), read, bytes, err);
    bool good = !code && head->checksum == checksum_of(head, read);
    for (uint64_t i = 0; good && i < head->ranks; i++)
        good = read[i] >= 0;
    *torn = *torn || !good;
    if (good)
        *counts = read;
    else
        free(read);
    return code;
}

/* The good mark with the highest number counts. *number: 0: there is none. *torn: another one,
 * which may be newer, is not good. */
static int find_mark(const struct pleat_home *home, int fd, struct pleat_home_mark *mark,
                     uint64_t *number, bool *torn, struct pleat_error *err)
{
    int code = 0;
    *torn = false;
    *mark = (struct pleat_home_mark){0};
    *number = 0;
    for (unsigned half = 0; half < 2 && !code; half++) {
        struct mark_head head;
        int64_t *counts;
        code = read_half(home, fd, half, &head, &counts, torn, err);
        if (counts && head.number > *number) {
            free(mark->counts);
            *mark = (struct pleat_home_mark){half, (int)head.ranks, counts};
            *number = head.number;
        } else {
            free(counts);
        }
    }
    if (code) {
        free(mark->counts);
        mark->counts = NULL;
    }
    return code;
}

int pleat_home_write_mark(const struct pleat_home *home, int fd, const struct pleat_home_mark *mark,
                          struct pleat_error *err)
{
    struct pleat_home_mark there;
    bool torn;
    struct mark_head head = {.magic = MARK_MAGIC, .ranks = (uint64_t)mark->ranks};
    if (head.ranks > COUNTS_MOST)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "'%s' cannot be on %d ranks", home->name,
                               mark->ranks);
    int code = find_mark(home, fd, &there, &head.number, &torn, err);
    free(there.counts);
    if (code)
        return code;
    head.number++;
    head.checksum = checksum_of(&head, mark->counts);
    const uint64_t at = home->window + mark->half * MARK_BYTES;
    code = pleat_state_put(fd, at + sizeof(head), mark->counts,
                           (size_t)head.ranks * sizeof(*mark->counts), err);
    return code ? code : pleat_state_put(fd, at, &head, sizeof(head), err);
}

int pleat_home_read_mark(const struct pleat_home *home, int fd, struct pleat_home_mark *mark,
                         struct pleat_error *err)
{
    uint64_t number;
    bool torn;
    int code = find_mark(home, fd, mark, &number, &torn, err);
    return code || number
               ? code
               : pleat_error_set(err, PLEAT_E_CORRUPT, "the memory of '%s' is damaged", home->name);
}

bool pleat_home_peek_mark(const struct pleat_home *home, int fd, struct pleat_home_mark *mark)
{
    uint64_t number;
    bool torn;
    if (find_mark(home, fd, mark, &number, &torn, NULL))
        return false;
    if (number && !torn)
        return true;
    free(mark->counts);
    mark->counts = NULL;
    return false;
}

int pleat_home_list_marks(const struct pleat_home *home, struct pleat_stretches *list)
{
    return pleat_stretches_add(list, home->window, home->window + 2 * MARK_BYTES);
}

/* ---- what other ranks have ---- */

int pleat_home_view(const struct pleat_home *home, const struct pleat_home_place *place, int column,
                    uint64_t first, uint64_t bytes, struct pleat_home_view *view,
                    struct pleat_error *err)
{
    const uint64_t inside = first & (pleat_page_bytes() - 1);
    *view = (struct pleat_home_view){0};
    if (!bytes)
        return 0;
    if (first + bytes < bytes || first + bytes > pleat_home_room(home, place->ranks))
        return pleat_error_set(err, PLEAT_E_CORRUPT, "the memory of '%s' is damaged", home->name);
    view->at = pleat_home_foreseen(home, place, column, first, bytes);
    if (view->at)
        return 0;
    const size_t mapped = page_up((size_t)(inside + bytes));
    void *pages = mmap(NULL, mapped, PROT_READ, MAP_SHARED, place->fd,
                       (off_t)(in_file(home, place, column) + first - inside));
    if (pages == MAP_FAILED)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no address space for %" PRIu64 " bytes of '%s'",
                               bytes, home->name);
    *view = (struct pleat_home_view){
        .at = (const unsigned char *)pages + inside, .pages = pages, .mapped = mapped};
    return 0;
}

void pleat_home_view_end(const struct pleat_home *home, struct pleat_home_view *view)
{
    if (view->pages)
        pleat_free_later(&home->session->freeing,
                         (struct pleat_free_piece){.at = view->pages, .bytes = view->mapped});
    *view = (struct pleat_home_view){0};
}
