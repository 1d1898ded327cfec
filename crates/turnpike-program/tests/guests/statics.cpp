// Threads before and after main: static objects whose constructors and destructors use them; streams locked by hand.
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex lock;
static int steps;

struct Background {
    std::thread thread;
    Background() : thread([this] { run(); }) {}
    void run()
    {
        std::lock_guard<std::mutex> guard(lock);
        steps++;
    }
    ~Background()
    {
        thread.join();
        assert(steps == 3);
        std::printf("%u processors\n", std::thread::hardware_concurrency());
    }
};

static Background background;

static void print(const char *text)
{
    flockfile(stdout);
    std::printf("%s", text);
    {
        std::lock_guard<std::mutex> guard(lock);
        steps++;
    }
    std::printf("!\n");
    funlockfile(stdout);
}

int main()
{
    std::thread one(print, "one"), two(print, "two");
    one.join();
    two.join();
    return 0;
}
