/* The allocation functions keep their contracts. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int zero(const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) if (bytes[i]) return 0;
    return 1;
}

static void *churn(void *unused) {
    char *kept[64] = {0};
    for (unsigned i = 0; i < 2000; i++) {
        unsigned at = i * 7919 % 64;
        free(kept[at]);
        size_t size = i * 31 % 300;
        kept[at] = malloc(size);
        assert(kept[at] && (uintptr_t)kept[at] % 16 == 0 && zero(kept[at], size));
        memset(kept[at], 1, size);
    }
    for (int i = 0; i < 64; i++) free(kept[i]);
    return unused;
}

int main(void) {
    void *p = malloc(0), *q = malloc(0);
    assert(p && q && p != q);
    free(p);
    free(q);
    free(0);
    char *c = calloc(100, 10);
    assert(zero(c, 1000));
    strcpy(c, "kept");
    c = realloc(c, 100000);
    assert(!strcmp(c, "kept"));
    c = realloc(c, 10);
    assert(!strcmp(c, "kept") && malloc_usable_size(c) == 10);
    free(c);
    for (size_t align = 8; align <= 1 << 20; align *= 2) {
        void *a = 0;
        assert(posix_memalign(&a, align, 100) == 0 && (uintptr_t)a % align == 0);
        void *b = aligned_alloc(align, align);
        assert(b && (uintptr_t)b % align == 0);
        free(a);
        free(b);
    }
    void *never = 0;
    assert(posix_memalign(&never, 24, 8) == EINVAL);
    errno = 0;
    volatile size_t huge = SIZE_MAX / 2;
    assert(!malloc(huge) && errno == ENOMEM);
    assert(!calloc(huge, 4));
    char *d = strdup("text"), *e = strndup("text", 2);
    assert(!strcmp(d, "text") && !strcmp(e, "te"));
    free(d);
    free(e);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, churn, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
