/* pmi_fuzz.h - one input for the server that the processes of an MPICH program talk to, and what
 * must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_PMI_FUZZ_H
#define PLEAT_TESTS_FUZZ_PMI_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Takes the bytes as what three processes say in turn: a line that begins with a digit is of that
 * one (modulo three), the others of the one before. Aborts if a promise is broken: an answer that
 * is no line, or longer than MPICH reads, or too many of them. */
void pleat_fuzz_pmi(const uint8_t *bytes, size_t size);

/* How many inputs had all three in and out of a barrier and nothing that is not PMI-1. */
extern unsigned long pleat_fuzz_pmi_good;

#endif
