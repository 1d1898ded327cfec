// C++: threads, locks, futures, statics, exceptions, thread-local objects.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::condition_variable cond;
static std::shared_mutex shared;
static std::once_flag flag;
static int attempts, destroyed, constructed, initialised;
static bool ready;

struct Local {
    std::string text = "a string that is too long for the small buffer";
    ~Local()
    {
        std::lock_guard<std::mutex> guard(lock);
        destroyed++;
    }
};

static thread_local Local local;

struct Slow {
    Slow() { std::lock_guard<std::mutex> guard(lock); constructed++; }
};

static void once()
{
    // The first attempt leaves by an exception, so there is a second one.
    std::call_once(flag, [] {
        if (++attempts == 1)
            throw std::runtime_error("again");
        initialised++;
    });
}

static void worker(int n)
{
    assert(!local.text.empty());
    static Slow slow;
    (void)slow;
    try {
        once();
    } catch (const std::runtime_error &) {
        once();
    }
    assert(initialised == 1);
    std::unique_lock<std::mutex> guard(lock);
    cond.wait(guard, [] { return ready; });
    guard.unlock();
    {
        std::shared_lock<std::shared_mutex> reading(shared);
    }
    {
        std::unique_lock<std::shared_mutex> writing(shared);
    }
    if (n == 0)
        std::this_thread::sleep_for(std::chrono::seconds(100));
    std::this_thread::yield();
}

int main()
{
    std::vector<std::thread> threads;
    for (int n = 0; n < 2; n++)
        threads.emplace_back(worker, n);
    {
        std::lock_guard<std::mutex> guard(lock);
        ready = true;
    }
    cond.notify_all();
    for (auto &thread : threads)
        thread.join();
    assert(destroyed == 2 && constructed == 1 && attempts == 2);

    auto future = std::async(std::launch::async, [] { return 41; });
    assert(future.get() + 1 == 42);
    auto failing = std::async(std::launch::async, []() -> int { throw std::logic_error("no"); });
    try {
        failing.get();
        assert(false);
    } catch (const std::logic_error &) {
    }
    std::promise<int> promise;
    std::thread giver([&] { promise.set_value(5); });
    assert(promise.get_future().get() == 5);
    giver.join();
    std::unique_lock<std::mutex> guard(lock);
    assert(!cond.wait_for(guard, std::chrono::milliseconds(50), [] { return false; }));
    return 0;
}
