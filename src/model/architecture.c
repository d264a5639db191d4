#include "model/architecture.h"

#include <stddef.h>
#include <string.h>

static const char *const names[PLEAT_ARCHITECTURES] = {
#define ARCHITECTURE(number, name) [number] = (name),
#include "model/architectures.def"
#undef ARCHITECTURE
};

uint32_t pleat_architecture_number(const char *name)
{
    for (uint32_t n = 0; name && n < PLEAT_ARCHITECTURES; n++)
        if (names[n] && !strcmp(names[n], name))
            return n;
    return 0;
}

const char *pleat_architecture_name(uint32_t number)
{
    return number < PLEAT_ARCHITECTURES ? names[number] : NULL;
}
