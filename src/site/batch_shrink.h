/* batch_shrink.h - an allocation gives back nodes that no claim uses any more, and keeps the
 * others: by the batch system's own resizing. */
#ifndef PLEAT_SITE_BATCH_SHRINK_H
#define PLEAT_SITE_BATCH_SHRINK_H

#include "site/batch_claims.h"

/* Claims use less of an allocation than before. Where the site's options say so, the batch system
 * is asked to take back its last nodes that are unused; they are not booked meanwhile. The first
 * ones stay, used or not: the numbers of an allocation's nodes follow one another in the order of
 * its list, which a later pleatd reads again. An allocation that could not be resized stays as it
 * is to its end. */
void pleat_batch_shrink(struct pleat_batch_site *site, struct pleat_batch_allocation *one);

#endif
