/* submit.h - what a submission makes */
#ifndef PLEAT_CORE_SUBMIT_H
#define PLEAT_CORE_SUBMIT_H

#include "core/state.h"

/* The record of a component before its submission. */
const struct pleat_component *component_fresh(void);

#endif
