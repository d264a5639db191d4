/* home-ahead.h - what can be done for items before others have left them (object.h, foresee): this
 * rank takes memory for its share, and maps what it will copy from.
 *
 * How many items there are is known only when they are left. Until then the memory that they take
 * in the data file tells about how many: each rank's column is filled from its beginning. A little
 * more is taken than that. What is missing is taken at the hand-over, what was too much is given
 * back then.
 */
#ifndef PLEAT_APP_HOME_AHEAD_H
#define PLEAT_APP_HOME_AHEAD_H

#include "app/home.h"

/* Looks how many items there are now, for rank `rank` of `ranks`, and maps what that rank is likely
 * to get. False: it is not known yet where they are. */
bool pleat_home_look(struct pleat_home *home, int data, int ranks, int rank);
/* Takes memory for as many, in the half where the items are not. It may do nothing. */
void pleat_home_take(struct pleat_home *home, int ranks, int rank);
/* Has the kernel provide some of all that; takes some milliseconds. False: nothing is left. */
bool pleat_home_go_on(struct pleat_home *home);

#endif
