/* screen.h - the whole terminal for a live view, with plain control sequences that every terminal
 * since the VT100 has (and the alternate screen, where there is one).
 *
 * Only lines that changed are written, a frame in one write. The terminal is put back when the
 * screen is left, and at any exit of the program; while it is stopped (Ctrl-Z), too.
 */
#ifndef PLEAT_CLI_LIVE_SCREEN_H
#define PLEAT_CLI_LIVE_SCREEN_H

#include <signal.h>
#include <stdbool.h>

#include "base/array.h"
#include "base/error.h"

/* Keys beyond those of one byte. */
enum pleat_key { PLEAT_KEY_NONE, PLEAT_KEY_UP = 256, PLEAT_KEY_DOWN, PLEAT_KEY_OTHER };

/* Can standard output show one? */
bool pleat_screen_possible(void);
/* Takes the terminal and the signals that end, stop or resize. PLEAT_E_SYSTEM. One at a time. */
int pleat_screen_enter(struct pleat_error *err) PLEAT_MUST_CHECK;
/* Puts everything back; nothing happens where none was entered. */
void pleat_screen_leave(void);
/* The number of the signal that wants the program to end, or 0: for pleat_client_set_interrupt. */
const volatile sig_atomic_t *pleat_screen_ended(void);

/* Shows lines of text, separated by '\n', each no wider than the terminal; what is beyond its
 * height is left out. PLEAT_E_SYSTEM: the terminal takes nothing any more. */
int pleat_screen_draw(const struct pleat_string *text, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Waits for a key, at most so long; PLEAT_KEY_NONE: none came, or the window has another size (or
 * the program went on after Ctrl-Z): draw again. Returns at once where the end is wanted. */
int pleat_screen_key(int timeout_ms);

#endif
