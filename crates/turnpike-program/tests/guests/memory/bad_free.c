/* Frees what was never allocated: by argument a variable on the stack, a static variable, the middle of a block. */
#include <stdlib.h>
#include <string.h>

static char fixed[64] __attribute__((aligned(16)));

int main(int count, char **arguments) {
    char local[64] __attribute__((aligned(16)));
    char *block = malloc(64);
    const char *what = count > 1 ? arguments[1] : "";
    if (!strcmp(what, "stack")) free(local);
    if (!strcmp(what, "static")) free(fixed);
    if (!strcmp(what, "inside")) free(block + 16);
    free(block);
    return 0;
}
