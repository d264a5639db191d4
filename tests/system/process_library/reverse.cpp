/* Asks for a process, sends it bytes, and gets them back in reverse: docs/processes.md. */
#include <algorithm>
#include <cstdio>

#include "pleat-process.hpp"

int main()
{
    pleat::processes all;
    pleat::message got;
    if (all.begun() == PLEAT_PROCESS_STARTED) {
        pleat::added other = all.add(); // never waits for a processor
        all.send(other.process, 1, "olleh", 5);
        if (all.receive(got, other.process, 2))
            std::printf("%.*s\n", static_cast<int>(got.bytes.size()), got.bytes.data());
    } else if (all.begun() == PLEAT_PROCESS_JOINED && all.receive(got)) {
        std::reverse(got.bytes.begin(), got.bytes.end());
        all.join("reversers");
        all.send(got.from, 2, got.bytes.data(), got.bytes.size());
    }
    all.finish();
    return 0;
}
