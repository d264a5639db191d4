/* reserve.h - advance reservations */
#ifndef PLEAT_CORE_RESERVE_H
#define PLEAT_CORE_RESERVE_H

#include "core/state.h"

void on_reservation_comes(struct pleat_core *core, uint32_t component);

#endif
