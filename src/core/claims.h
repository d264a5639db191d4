/* claims.h - who owns which processors */
#ifndef PLEAT_CORE_CLAIMS_H
#define PLEAT_CORE_CLAIMS_H

#include "core/effects.h"
#include "core/state.h"

uint32_t claim_request(struct pleat_core *core, uint32_t component, uint32_t site, int32_t count,
                       enum pleat_purpose purpose);
/* The claim with this id that the event names, or PLEAT_NONE. */
uint32_t claim_find(const struct pleat_core *core, const struct pleat_event *event);
/* Emits one effect (or note) about a claim. */
void claim_effect(struct pleat_core *core, uint32_t claim, uint16_t kind);
static inline void claim_note(struct pleat_core *core, uint32_t claim)
{
    if (core->notes & pleat_note_bit(PLEAT_NOTE_CLAIM))
        claim_effect(core, claim, PLEAT_NOTE_CLAIM);
}
void claim_link(struct pleat_core *core, uint32_t claim);
void claim_unlink(struct pleat_core *core, uint32_t claim);
/* Starts giving back a claim that is not linked. */
void claim_release(struct pleat_core *core, uint32_t claim);
/* Cuts a linked claim in two; the new one has the last `count` processors and is not linked. */
uint32_t claim_split(struct pleat_core *core, uint32_t claim, int32_t count);
void claim_free(struct pleat_core *core, uint32_t claim);
/* Gives back the last `count` processors of a component. */
void component_release_tail(struct pleat_core *core, uint32_t component, int32_t count);
/* Hands its last `count` processors to a waiting component, as earmarks. */
void component_earmark_tail(struct pleat_core *core, uint32_t component, int32_t count,
                            uint32_t waiter);
/* Shrinks under way for a waiting component go on, for nobody in particular. */
void coming_drop(struct pleat_core *core, uint32_t waiter);
void earmarks_drop(struct pleat_core *core, uint32_t waiter);

#endif
