/* What is saved: each member of each record, with its number.
 *
 * Whoever adds a member to a record, or state to struct pleat_core, adds it here, at the end of its
 * list and with the next number: numbers are never used again, and a member never changes its
 * width.
 */
#include "core/save_columns.h"

/* 37, 60, 80, 83, 90, 93 and 96 were padding: load.c passes over them. */
#define COMPONENT_MEMBERS(X)                                                                       \
    X(1, previous)                                                                                 \
    X(2, next)                                                                                     \
    X(3, ends_previous)                                                                            \
    X(4, ends_next)                                                                                \
    X(5, minimum)                                                                                  \
    X(6, maximum)                                                                                  \
    X(7, earmarked)                                                                                \
    X(8, target)                                                                                   \
    X(9, estimate_us)                                                                              \
    X(10, promised_us)                                                                             \
    X(11, expected_end_us)                                                                         \
    X(12, reference)                                                                               \
    X(13, state)                                                                                   \
    X(14, kind)                                                                                    \
    X(15, sizes_kind)                                                                              \
    X(16, aside)                                                                                   \
    X(17, processors)                                                                              \
    X(18, cap)                                                                                     \
    X(19, site)                                                                                    \
    X(20, coming)                                                                                  \
    X(21, quiet_until_us)                                                                          \
    X(22, job)                                                                                     \
    X(23, submit_us)                                                                               \
    X(24, due_us)                                                                                  \
    X(25, begin_us)                                                                                \
    X(26, key)                                                                                     \
    X(27, position)                                                                                \
    X(28, initial)                                                                                 \
    X(29, sizes_parameter)                                                                         \
    X(30, wanted_site)                                                                             \
    X(31, ordinal)                                                                                 \
    X(32, flags)                                                                                   \
    X(33, priority)                                                                                \
    X(34, reason)                                                                                  \
    X(35, exited)                                                                                  \
    X(36, starting)                                                                                \
    X(38, signal)                                                                                  \
    X(39, code)                                                                                    \
    X(40, processes)                                                                               \
    X(41, run)                                                                                     \
    X(42, start_us)                                                                                \
    X(43, end_us)                                                                                  \
    X(44, last_try_us)                                                                             \
    X(45, resize)                                                                                  \
    X(46, first_claim)                                                                             \
    X(47, last_claim)                                                                              \
    X(48, claims)                                                                                  \
    X(49, start_claim)                                                                             \
    X(50, promised_site)                                                                           \
    X(51, deadline)                                                                                \
    X(52, tries)                                                                                   \
    X(53, attempt)                                                                                 \
    X(56, limit_us)                                                                                \
    X(57, relaunches)                                                                              \
    X(58, since_us)                                                                                \
    X(59, young)                                                                                   \
    X(61, first_timing)                                                                            \
    X(63, job_class)                                                                               \
    X(65, mpl)                                                                                     \
    X(66, preempted)                                                                               \
    X(67, buffer)                                                                                  \
    X(70, lead)                                                                                    \
    X(75, retries)                                                                                 \
    X(78, staging)                                                                                 \
    X(79, below)                                                                                   \
    X(84, first_need)                                                                              \
    X(85, first_dependent)                                                                         \
    X(86, group)                                                                                   \
    X(87, holds)                                                                                   \
    X(88, any_need)                                                                                \
    X(89, in_group)                                                                                \
    X(91, failed_starts)                                                                           \
    X(92, untold)                                                                                  \
    X(94, signalled)                                                                               \
    X(117, lead_node)

/* Members of the records beside those of components, numbered in the same list. */
#define TERMS_MEMBERS(X)                                                                           \
    X(54, notice_us)                                                                               \
    X(55, lifetime_us)                                                                             \
    X(95, signal_script)                                                                           \
    X(97, signal_lead_us)                                                                          \
    X(98, signal_number)

#define FOLDING_MEMBERS(X)                                                                         \
    X(64, mpl_max)                                                                                 \
    X(68, partition_most)                                                                          \
    X(81, partition_least)                                                                         \
    X(82, mpl_first)                                                                               \
    X(129, nearest)

#define DECLARATION_MEMBERS(X)                                                                     \
    X(99, declared)                                                                                \
    X(100, asked)                                                                                  \
    X(101, declared_least)                                                                         \
    X(102, asked_least)                                                                            \
    X(103, asked_sizes_parameter)                                                                  \
    X(104, declared_sizes)                                                                         \
    X(105, asked_sizes_kind)                                                                       \
    X(118, lasting)                                                                                \
    X(119, spare)                                                                                  \
    X(124, not_now)                                                                                \
    X(125, expected_us)

#define COALLOCATION_MEMBERS(X)                                                                    \
    X(71, sibling)                                                                                 \
    X(72, total)                                                                                   \
    X(73, first_input)                                                                             \
    X(74, files_site)                                                                              \
    X(76, files_us)                                                                                \
    X(77, claimed_us)

#define ASK_MEMBERS(X)                                                                             \
    X(107, number)                                                                                 \
    X(108, turn)                                                                                   \
    X(109, wanted)                                                                                 \
    X(110, from)                                                                                   \
    X(111, state)                                                                                  \
    X(112, reason)                                                                                 \
    X(113, more)                                                                                   \
    X(114, mandatory)                                                                              \
    X(115, caps)                                                                                   \
    X(120, unbegun)                                                                                \
    X(121, spare)                                                                                  \
    X(122, returned)                                                                               \
    X(123, credit)                                                                                 \
    X(126, until_us)                                                                               \
    X(127, deadline)                                                                               \
    X(128, spare2)

/* 48 was padding. */
#define SITE_MEMBERS(X)                                                                            \
    X(1, capacity)                                                                                 \
    X(2, background)                                                                               \
    X(3, threshold)                                                                                \
    X(4, claimed)                                                                                  \
    X(5, releasing)                                                                                \
    X(6, coming)                                                                                   \
    X(7, quiet_until_us)                                                                           \
    X(8, reclaimable)                                                                              \
    X(9, malleable_count)                                                                          \
    X(10, resizing_count)                                                                          \
    X(11, growers)                                                                                 \
    X(12, malleable_first)                                                                         \
    X(13, malleable_last)                                                                          \
    X(14, rigid_first)                                                                             \
    X(15, rigid_last)                                                                              \
    X(16, ends_first)                                                                              \
    X(17, ends_last)                                                                               \
    X(18, instant)                                                                                 \
    X(20, buffers_first)                                                                           \
    X(21, buffered)                                                                                \
    X(22, slowest_claim_us)                                                                        \
    X(23, barred)                                                                                  \
    X(24, errors)                                                                                  \
    X(25, again)                                                                                   \
    X(26, spare)                                                                                   \
    X(28, failed_us)                                                                               \
    X(29, failed_starts)                                                                           \
    X(31, pauses)                                                                                  \
    X(33, faded_us)                                                                                \
    X(35, several)                                                                                 \
    X(40, drained)                                                                                 \
    X(41, spare2)                                                                                  \
    X(42, gone)                                                                                    \
    X(43, reserved)                                                                                \
    X(44, shut)                                                                                    \
    X(45, others)                                                                                  \
    X(46, node_most)                                                                               \
    X(47, allocation_count)                                                                        \
    X(49, allocation_us)                                                                           \
    X(50, allocation_squares)                                                                      \
    X(51, whole)

#define CLAIM_MEMBERS(X)                                                                           \
    X(1, id)                                                                                       \
    X(2, component)                                                                                \
    X(3, site)                                                                                     \
    X(4, count)                                                                                    \
    X(5, state)                                                                                    \
    X(6, purpose)                                                                                  \
    X(7, previous)                                                                                 \
    X(8, next)                                                                                     \
    X(9, first_piece)                                                                              \
    X(10, last_piece)                                                                              \
    X(11, asked_us)                                                                                \
    X(12, waits)                                                                                   \
    X(13, lent)                                                                                    \
    X(14, until_us)                                                                                \
    X(15, expected_us)

#define PIECE_MEMBERS(X)                                                                           \
    X(1, node)                                                                                     \
    X(2, first)                                                                                    \
    X(3, count)                                                                                    \
    X(4, next)                                                                                     \
    X(5, processes)

/* 3 was when the application was told: load.c passes over it. */
#define RESIZE_MEMBERS(X)                                                                          \
    X(1, id)                                                                                       \
    X(2, begun_us)                                                                                 \
    X(4, component)                                                                                \
    X(5, waiter)                                                                                   \
    X(6, claim)                                                                                    \
    X(7, deadline)                                                                                 \
    X(8, from)                                                                                     \
    X(9, to)                                                                                       \
    X(10, offered)                                                                                 \
    X(11, accepted)                                                                                \
    X(12, step)                                                                                    \
    X(13, mandatory)                                                                               \
    X(14, by_user)                                                                                 \
    X(15, warned)                                                                                  \
    X(16, cause)                                                                                   \
    X(17, left_us)                                                                                 \
    X(18, put_off)

#define TIMING_MEMBERS(X)                                                                          \
    X(1, iteration_us)                                                                             \
    X(2, redistribution_us)                                                                        \
    X(3, processors)                                                                               \
    X(4, next)                                                                                     \
    X(5, mean_us)                                                                                  \
    X(6, squares)                                                                                  \
    X(7, count)                                                                                    \
    X(8, from)                                                                                     \
    X(9, done)                                                                                     \
    X(10, earlier)

#define BUFFER_MEMBERS(X)                                                                          \
    X(1, component)                                                                                \
    X(2, previous)                                                                                 \
    X(3, next)                                                                                     \
    X(4, due_previous)                                                                             \
    X(5, due_next)                                                                                 \
    X(6, deadline)                                                                                 \
    X(7, first_claim)                                                                              \
    X(8, last_claim)                                                                               \
    X(9, prepared)                                                                                 \
    X(10, requested)                                                                               \
    X(11, iteration)                                                                               \
    X(12, review_iteration)                                                                        \
    X(13, executions)                                                                              \
    X(14, requests)                                                                                \
    X(15, satisfied)                                                                               \
    X(16, due)                                                                                     \
    X(17, reserved)                                                                                \
    X(18, iteration_us)                                                                            \
    X(19, waited_us)                                                                               \
    X(20, counted_us)                                                                              \
    X(21, preparing)                                                                               \
    X(22, leaving)                                                                                 \
    X(23, held_us)                                                                                 \
    X(24, quiet_until_us)                                                                          \
    X(25, waiting)                                                                                 \
    X(26, failures)                                                                                \
    X(27, pause)                                                                                   \
    X(28, anywhere)                                                                                \
    X(29, recalled_us)                                                                             \
    X(30, row_us)                                                                                  \
    X(31, row)                                                                                     \
    X(32, row_most)                                                                                \
    X(33, recalled_most)                                                                           \
    X(34, again)                                                                                   \
    X(35, reclaimed)                                                                               \
    X(36, outposts)                                                                                \
    X(37, reclaimed_for)                                                                           \
    X(38, reclaimed_us)                                                                            \
    X(39, waiting_on)                                                                              \
    X(40, architecture)                                                                            \
    X(41, returning)                                                                               \
    X(42, own)                                                                                     \
    X(43, spare)

#define INPUT_MEMBERS(X)                                                                           \
    X(1, bytes)                                                                                    \
    X(2, file)                                                                                     \
    X(3, site)                                                                                     \
    X(4, next)                                                                                     \
    X(5, reserved)

#define LINK_MEMBERS(X)                                                                            \
    X(1, bytes_per_s)                                                                              \
    X(2, from)                                                                                     \
    X(3, to)

#define NODE_MEMBERS(X)                                                                            \
    X(1, agent)                                                                                    \
    X(2, site)                                                                                     \
    X(3, node)                                                                                     \
    X(4, away)                                                                                     \
    X(6, slots)                                                                                    \
    X(7, claimed)                                                                                  \
    X(8, background)                                                                               \
    X(9, drained)                                                                                  \
    X(11, barred)                                                                                  \
    X(12, lent)                                                                                    \
    X(13, errors)                                                                                  \
    X(14, more)                                                                                    \
    X(17, home)                                                                                    \
    X(18, confined)                                                                                \
    X(15, faded_us)                                                                                \
    X(16, again_us)                                                                                \
    X(19, architecture)                                                                            \
    X(20, spare)

#define DEADLINE_MEMBERS(X)                                                                        \
    X(1, time_us)                                                                                  \
    X(2, sequence)                                                                                 \
    X(3, payload)                                                                                  \
    X(4, handle)

#define DEPENDENCY_MEMBERS(X)                                                                      \
    X(1, dependent)                                                                                \
    X(2, on)                                                                                       \
    X(3, previous_need)                                                                            \
    X(4, next_need)                                                                                \
    X(5, previous)                                                                                 \
    X(6, next)                                                                                     \
    X(7, condition)                                                                                \
    X(8, met)                                                                                      \
    X(9, spare)

#define GROUP_MEMBERS(X)                                                                           \
    X(1, limit)                                                                                    \
    X(2, active)                                                                                   \
    X(3, members)                                                                                  \
    X(4, first)                                                                                    \
    X(5, last)                                                                                     \
    X(6, next)

#define COLUMN(type, number, member)                                                               \
    {number, sizeof(((struct type *)0)->member), offsetof(struct type, member)},
#define WIDTH(type, member) +sizeof(((struct type *)0)->member)

#define OF_COMPONENT(number, member) COLUMN(pleat_component, number, member)
#define OF_TERMS(number, member) COLUMN(pleat_terms, number, member)
#define OF_FOLDING(number, member) COLUMN(pleat_folding, number, member)
#define OF_DECLARATION(number, member) COLUMN(pleat_declaration, number, member)
#define OF_COALLOCATION(number, member) COLUMN(pleat_coallocation, number, member)
#define OF_ASK(number, member) COLUMN(pleat_ask, number, member)
#define OF_SITE(number, member) COLUMN(pleat_site, number, member)
#define OF_CLAIM(number, member) COLUMN(pleat_claim, number, member)
#define OF_PIECE(number, member) COLUMN(pleat_piece, number, member)
#define OF_RESIZE(number, member) COLUMN(pleat_resize, number, member)
#define OF_TIMING(number, member) COLUMN(pleat_timing, number, member)
#define OF_BUFFER(number, member) COLUMN(pleat_buffer, number, member)
#define OF_INPUT(number, member) COLUMN(pleat_input, number, member)
#define OF_LINK(number, member) COLUMN(pleat_link, number, member)
#define OF_NODE(number, member) COLUMN(pleat_node, number, member)
#define OF_DEADLINE(number, member) COLUMN(pleat_heap_entry, number, member)
#define OF_DEPENDENCY(number, member) COLUMN(pleat_dependency, number, member)
#define OF_GROUP(number, member) COLUMN(pleat_group, number, member)

const struct column component_columns[] = {COMPONENT_MEMBERS(OF_COMPONENT){0}};
static const struct column terms_columns[] = {TERMS_MEMBERS(OF_TERMS){0}};
static const struct column folding_columns[] = {FOLDING_MEMBERS(OF_FOLDING){0}};
static const struct column declaration_columns[] = {DECLARATION_MEMBERS(OF_DECLARATION){0}};
static const struct column coallocation_columns[] = {COALLOCATION_MEMBERS(OF_COALLOCATION){0}};
static const struct column ask_columns[] = {ASK_MEMBERS(OF_ASK){0}};
const struct column *const side_columns[SIDE_COUNT] = {[SIDE_TERMS] = terms_columns,
                                                       [SIDE_FOLDING] = folding_columns,
                                                       [SIDE_DECLARATION] = declaration_columns,
                                                       [SIDE_COALLOCATION] = coallocation_columns,
                                                       [SIDE_ASK] = ask_columns};
const struct column site_columns[] = {SITE_MEMBERS(OF_SITE){0}};
const struct column claim_columns[] = {CLAIM_MEMBERS(OF_CLAIM){0}};
const struct column piece_columns[] = {PIECE_MEMBERS(OF_PIECE){0}};
const struct column resize_columns[] = {RESIZE_MEMBERS(OF_RESIZE){0}};
const struct column timing_columns[] = {TIMING_MEMBERS(OF_TIMING){0}};
const struct column buffer_columns[] = {BUFFER_MEMBERS(OF_BUFFER){0}};
const struct column input_columns[] = {INPUT_MEMBERS(OF_INPUT){0}};
const struct column link_columns[] = {LINK_MEMBERS(OF_LINK){0}};
const struct column node_columns[] = {NODE_MEMBERS(OF_NODE){0}};
const struct column deadline_columns[] = {DEADLINE_MEMBERS(OF_DEADLINE){0}};
const struct column dependency_columns[] = {DEPENDENCY_MEMBERS(OF_DEPENDENCY){0}};
const struct column group_columns[] = {GROUP_MEMBERS(OF_GROUP){0}};

/* No member of a record may be left out: the widths of all add up to its size, less its padding,
 * and less the indexes between a component and what stands beside it. */
#define COMPONENT_WIDTH(number, member) WIDTH(pleat_component, member)
#define TERMS_WIDTH(number, member) WIDTH(pleat_terms, member)
#define FOLDING_WIDTH(number, member) WIDTH(pleat_folding, member)
#define DECLARATION_WIDTH(number, member) WIDTH(pleat_declaration, member)
#define COALLOCATION_WIDTH(number, member) WIDTH(pleat_coallocation, member)
#define ASK_WIDTH(number, member) WIDTH(pleat_ask, member)
#define SITE_WIDTH(number, member) WIDTH(pleat_site, member)
#define CLAIM_WIDTH(number, member) WIDTH(pleat_claim, member)
#define PIECE_WIDTH(number, member) WIDTH(pleat_piece, member)
#define RESIZE_WIDTH(number, member) WIDTH(pleat_resize, member)
#define TIMING_WIDTH(number, member) WIDTH(pleat_timing, member)
#define INPUT_WIDTH(number, member) WIDTH(pleat_input, member)
#define LINK_WIDTH(number, member) WIDTH(pleat_link, member)
_Static_assert((0 COMPONENT_MEMBERS(COMPONENT_WIDTH)) + SIDE_COUNT * sizeof(uint32_t) + 4 ==
                   sizeof(struct pleat_component),
               "a member of pleat_component is not saved");
_Static_assert((0 TERMS_MEMBERS(TERMS_WIDTH)) + sizeof(uint32_t) + 2 == sizeof(struct pleat_terms),
               "a member of pleat_terms is not saved");
_Static_assert((0 FOLDING_MEMBERS(FOLDING_WIDTH)) + sizeof(uint32_t) + 1 ==
                   sizeof(struct pleat_folding),
               "a member of pleat_folding is not saved");
_Static_assert((0 DECLARATION_MEMBERS(DECLARATION_WIDTH)) + sizeof(uint32_t) ==
                   sizeof(struct pleat_declaration),
               "a member of pleat_declaration is not saved");
_Static_assert((0 COALLOCATION_MEMBERS(COALLOCATION_WIDTH)) + 2 * sizeof(uint32_t) ==
                   sizeof(struct pleat_coallocation),
               "a member of pleat_coallocation is not saved");
_Static_assert((0 ASK_MEMBERS(ASK_WIDTH)) + sizeof(uint32_t) == sizeof(struct pleat_ask),
               "a member of pleat_ask is not saved");
_Static_assert((0 SITE_MEMBERS(SITE_WIDTH)) == sizeof(struct pleat_site),
               "a member of pleat_site is not saved");
_Static_assert((0 CLAIM_MEMBERS(CLAIM_WIDTH)) == sizeof(struct pleat_claim),
               "a member of pleat_claim is not saved");
_Static_assert((0 PIECE_MEMBERS(PIECE_WIDTH)) == sizeof(struct pleat_piece),
               "a member of pleat_piece is not saved");
_Static_assert((0 RESIZE_MEMBERS(RESIZE_WIDTH)) + 2 == sizeof(struct pleat_resize),
               "a member of pleat_resize is not saved");
_Static_assert((0 TIMING_MEMBERS(TIMING_WIDTH)) == sizeof(struct pleat_timing),
               "a member of pleat_timing is not saved");
#define BUFFER_WIDTH(number, member) WIDTH(pleat_buffer, member)
_Static_assert((0 BUFFER_MEMBERS(BUFFER_WIDTH)) == sizeof(struct pleat_buffer),
               "a member of pleat_buffer is not saved");
_Static_assert((0 INPUT_MEMBERS(INPUT_WIDTH)) == sizeof(struct pleat_input),
               "a member of pleat_input is not saved");
_Static_assert((0 LINK_MEMBERS(LINK_WIDTH)) == sizeof(struct pleat_link),
               "a member of pleat_link is not saved");
#define NODE_WIDTH(number, member) WIDTH(pleat_node, member)
_Static_assert((0 NODE_MEMBERS(NODE_WIDTH)) == sizeof(struct pleat_node),
               "a member of pleat_node is not saved");
#define DEPENDENCY_WIDTH(number, member) WIDTH(pleat_dependency, member)
#define GROUP_WIDTH(number, member) WIDTH(pleat_group, member)
_Static_assert((0 DEPENDENCY_MEMBERS(DEPENDENCY_WIDTH)) == sizeof(struct pleat_dependency),
               "a member of pleat_dependency is not saved");
_Static_assert((0 GROUP_MEMBERS(GROUP_WIDTH)) == sizeof(struct pleat_group),
               "a member of pleat_group is not saved");

/* Members of struct pleat_core that are no tables of records. */
#define SCALAR_MEMBERS(X)                                                                          \
    X(1, view.now_us)                                                                              \
    X(2, view.queue_first)                                                                         \
    X(3, view.queue_last)                                                                          \
    X(4, view.reserved_first)                                                                      \
    X(5, view.queue_count)                                                                         \
    X(6, free_component)                                                                           \
    X(7, free_claim)                                                                               \
    X(8, free_piece)                                                                               \
    X(9, free_resize)                                                                              \
    X(10, first_position)                                                                          \
    X(11, last_position)                                                                           \
    X(12, wake)                                                                                    \
    X(13, next_id)                                                                                 \
    X(14, wants_pass)                                                                              \
    X(15, view.malleable_count)                                                                    \
    X(16, deadlines.free_handle)                                                                   \
    X(17, deadlines.next_sequence)                                                                 \
    X(18, view.lifetimes)                                                                          \
    X(19, free_timing)                                                                             \
    X(20, free_buffer)                                                                             \
    X(21, view.reviews_first)                                                                      \
    X(22, reviews_last)                                                                            \
    X(23, view.evolves)                                                                            \
    X(24, free_input)                                                                              \
    X(25, open_lead)                                                                               \
    X(26, view.stages)                                                                             \
    X(27, view.several)                                                                            \
    X(28, view.wasted_us)                                                                          \
    X(29, free_dependency)                                                                         \
    X(30, free_group)                                                                              \
    X(31, idle_passes)                                                                             \
    X(32, view.sections)                                                                           \
    X(33, nodes_again)                                                                             \
    X(34, view.prepares)

#define OF_CORE(number, member) COLUMN(pleat_core, number, member)
const struct column scalar_columns[] = {SCALAR_MEMBERS(OF_CORE){0}};
