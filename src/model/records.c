#include "model/records.h"

const struct pleat_terms pleat_no_terms = {
    .component = PLEAT_NONE, .notice_us = -1, .lifetime_us = -1};
