/* Every atomic operation does what it should, in every width. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#define CHECK(type)                                                                                   \
    do {                                                                                              \
        static type x;                                                                                \
        type e;                                                                                       \
        const type top = (type)((type)1 << (sizeof(type) * 8 - 1));                                   \
        __atomic_store_n(&x, (type)5, __ATOMIC_SEQ_CST);                                              \
        assert(__atomic_load_n(&x, __ATOMIC_SEQ_CST) == 5);                                           \
        assert(__atomic_exchange_n(&x, (type)(top | 7), __ATOMIC_SEQ_CST) == 5);                      \
        assert(__atomic_fetch_add(&x, top, __ATOMIC_SEQ_CST) == (type)(top | 7));                     \
        assert(__atomic_fetch_sub(&x, (type)8, __ATOMIC_SEQ_CST) == 7);                               \
        assert(__atomic_fetch_and(&x, (type)12, __ATOMIC_SEQ_CST) == (type)-1);                       \
        assert(__atomic_fetch_or(&x, (type)3, __ATOMIC_SEQ_CST) == 12);                               \
        assert(__atomic_fetch_xor(&x, (type)6, __ATOMIC_SEQ_CST) == 15);                              \
        assert(__atomic_fetch_nand(&x, (type)3, __ATOMIC_SEQ_CST) == 9);                              \
        assert(__atomic_load_n(&x, __ATOMIC_SEQ_CST) == (type)~(type)1);                              \
        e = 1;                                                                                        \
        assert(!__atomic_compare_exchange_n(&x, &e, (type)2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
        assert(e == (type)~(type)1);                                                                  \
        assert(__atomic_compare_exchange_n(&x, &e, (type)2, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));  \
        assert(x == 2);                                                                               \
    } while (0)

int main(void) {
    CHECK(uint8_t);
    CHECK(uint16_t);
    CHECK(uint32_t);
    CHECK(uint64_t);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return 0;
}
