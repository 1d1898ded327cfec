/*
 * handoff_bug.cpp: C++ threads hand letters over through a queue; who waits looks only once.
 *
 * Every letter wakes both clerks. The second one does not look again, and takes from an empty queue. In the twin
 * handoff_ok.cpp waiting has a condition.
 *
 * Threads: 4 (main, a postman, two clerks).
 * Expected: assertion "there is a letter". Nothing in the twin.
 * Needs: nothing but a plain compilation (g++ -pthread).
 * search: => assertion
 * hooks: => assertion
 */
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int clerks = 2;
constexpr int each = 2;

class Letters {
public:
    void put(std::string letter)
    {
        const std::lock_guard<std::mutex> guard(lock);
        waiting.push_back(std::move(letter));
        arrived.notify_all();
    }

    std::string take()
    {
        std::unique_lock<std::mutex> guard(lock);
#ifdef FIXED
        arrived.wait(guard, [this] { return !waiting.empty(); });
#else
        if (waiting.empty())
            arrived.wait(guard);
#endif
        assert(!waiting.empty() && "there is a letter");
        std::string letter = std::move(waiting.front());
        waiting.pop_front();
        return letter;
    }

private:
    std::mutex lock;
    std::condition_variable arrived;
    std::deque<std::string> waiting;
};

} // namespace

int main()
{
    Letters letters;
    std::vector<std::thread> threads;
    for (int clerk = 0; clerk < clerks; clerk++)
        threads.emplace_back([&letters] {
            for (int i = 0; i < each; i++)
                letters.take();
        });
    threads.emplace_back([&letters] {
        for (int i = 0; i < clerks * each; i++)
            letters.put("letter " + std::to_string(i));
    });
    for (std::thread &thread : threads)
        thread.join();
    return 0;
}
