#include "model/records.h"

const struct pleat_terms pleat_no_terms = {
    .component = PLEAT_NONE, .notice_us = -1, .lifetime_us = -1};
const struct pleat_folding pleat_no_folding = {.component = PLEAT_NONE};
const struct pleat_declaration pleat_no_declaration = {.component = PLEAT_NONE};
const struct pleat_ask pleat_no_ask = {.component = PLEAT_NONE, .deadline = PLEAT_NONE};
const struct pleat_coallocation pleat_no_coallocation = {
    .component = PLEAT_NONE,
    .sibling = PLEAT_NONE,
    .claimed_us = PLEAT_NEVER,
    .first_input = PLEAT_NONE,
    .files_site = PLEAT_NONE,
};
