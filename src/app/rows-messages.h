/* rows-messages.h - the messages of a resize in which rows move from rank to rank. */
#ifndef PLEAT_APP_ROWS_MESSAGES_H
#define PLEAT_APP_ROWS_MESSAGES_H

#include "app/rows.h"

/* Makes room for the messages of this rank. PLEAT_E_TOOBIG: more than can be counted;
 * PLEAT_E_NOMEM. */
int pleat_rows_messages_begin(struct pleat_rows *rows, const struct pleat_change *change,
                              struct pleat_error *err);
/* Sends and receives the rows that move, each to where it belongs, and waits for that. */
int pleat_rows_messages_exchange(struct pleat_rows *rows, const struct pleat_change *change,
                                 struct pleat_error *err);
/* After one of these, whatever came of it. */
void pleat_rows_messages_end(struct pleat_rows *rows);

#endif
