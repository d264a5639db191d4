/* waiting.h - why a waiting component waits, as a sentence where one suffices */
#ifndef PLEAT_DAEMON_WAITING_H
#define PLEAT_DAEMON_WAITING_H

#include "policy/view.h"

/* Writes why a component waits that nothing holds; for held components there is holds_text. now_us:
 * the present time. */
void waiting_text(const struct pleat_view *view, const struct pleat_component *component,
                  int64_t now_us, char *text, size_t size);

#endif
