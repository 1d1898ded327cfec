// C++20: atomics that wait, latches, semaphores, barriers, joining threads. They use futexes directly.
#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <semaphore>
#include <thread>

static std::atomic<int> flag{0};
static std::latch latch(2);
static std::counting_semaphore<4> semaphore(0);
static std::barrier barrier(2);
static std::atomic<int> passed{0};

int main()
{
    {
        std::jthread a([] {
            flag.wait(0);
            latch.count_down();
            semaphore.acquire();
            barrier.arrive_and_wait();
            passed++;
        });
        std::jthread b([] {
            flag = 1;
            flag.notify_all();
            latch.count_down();
            semaphore.release();
            barrier.arrive_and_wait();
            passed++;
        });
        latch.wait();
    }
    assert(passed == 2);
    return 0;
}
