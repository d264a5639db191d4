/* screen.h - the whole terminal for a live view. It uses plain control sequences that all terminals
 * since the VT100 have, and the alternate screen where there is one.
 *
 * Only lines that have changed are written, and a frame in one write. The terminal is restored when
 * the screen is left, at any exit of the program, and while the program is stopped (Ctrl-Z).
 */
#ifndef PLEAT_CLI_LIVE_SCREEN_H
#define PLEAT_CLI_LIVE_SCREEN_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/array.h"
#include "base/error.h"

/* Keys that are not one byte. */
enum pleat_key { PLEAT_KEY_NONE, PLEAT_KEY_UP = 256, PLEAT_KEY_DOWN, PLEAT_KEY_OTHER };

/* Whether standard output can show a screen. */
bool pleat_screen_possible(void);
/* Takes the terminal, and the signals that end, stop or resize. There can be one screen at a time.
 * PLEAT_E_SYSTEM. */
int pleat_screen_enter(struct pleat_error *err) PLEAT_MUST_CHECK;
/* Restores the terminal and the signals. Does nothing where no screen was entered. */
void pleat_screen_leave(void);
/* The number of the signal that asks the program to end, or 0; for pleat_client_set_interrupt. */
const atomic_int *pleat_screen_ended(void);

/* Shows lines of text, separated by '\n', each no wider than the terminal. Lines below its height
 * are left out. PLEAT_E_SYSTEM: the terminal takes no more output. */
int pleat_screen_draw(const struct pleat_string *text, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Waits for a key, at most timeout_ms. PLEAT_KEY_NONE: no key came, or the screen must be drawn
 * again, since the window has another size or the program went on after Ctrl-Z. Returns at once
 * when the program is to end. */
int pleat_screen_key(int timeout_ms);

#endif
