/* input.h - the FIFO by which `pleat run` passes standard input on: its name in Pleat's directory
 * of runtime files begins so, and goes on with the number of the process. */
#ifndef PLEAT_BASE_INPUT_H
#define PLEAT_BASE_INPUT_H

#define PLEAT_INPUT_PREFIX "stdin-"

#endif
