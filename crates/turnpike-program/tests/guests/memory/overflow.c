/* One byte too many. */
#include <stdlib.h>

int main(void) {
    volatile char *bytes = malloc(16);
    for (int i = 0; i <= 16; i++) bytes[i] = 1;
    return 0;
}
