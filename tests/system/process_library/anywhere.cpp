// Asks for processes at any site, and at one.
#include <cstdio>

#include "pleat-process.hpp"

int main()
{
    pleat::processes all;
    pleat_process_wish wish = pleat_process_wish();
    wish.site = PLEAT_PROCESS_ANY_SITE;
    all.add(&wish);
    const char *argv[] = {"cells", "fine", nullptr};
    wish.argv = argv;
    wish.site = "there";
    all.add(&wish);
    std::puts("asked");
    std::fflush(stdout);
    return 0;
}
