/* nearest.h - guesses which known word an unknown one was meant to be. */
#ifndef PLEAT_BASE_NEAREST_H
#define PLEAT_BASE_NEAREST_H

#include <stddef.h>

/* The known word nearest to `word`, if it is near enough to be meant; else NULL. Borrowed. */
const char *pleat_nearest(const char *word, const char *const *known, size_t count);

#endif
