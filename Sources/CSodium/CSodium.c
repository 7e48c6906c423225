#include "CSodium.h"

#include <stdio.h>
#include <stdlib.h>

// libsodium is to be initialized before its first use. It then chooses the code that is fastest on this processor; until then
// it works with portable code.
__attribute__((constructor)) static void initialize(void) {
    if (sodium_init() < 0) {
        fputs("libsodium cannot be initialized\n", stderr);
        abort();
    }
}
