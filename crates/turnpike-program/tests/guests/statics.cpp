// Threads before and after main: static objects whose constructors and destructors use them; streams locked by hand.
#include <cassert>
#include <cstdio>
#include <mutex>
#include <pthread.h>
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
        assert(steps == 23);
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

// Leaving a thread runs the destructors of its frames.
struct Counted {
    ~Counted() { steps += 10; }
};

static void *leaver(void *)
{
    Counted outer;
    [] {
        Counted inner;
        pthread_exit(nullptr);
    }();
    return nullptr;
}

int main()
{
    pthread_t thread;
    pthread_create(&thread, nullptr, leaver, nullptr);
    pthread_setname_np(thread, "leaver");
    pthread_join(thread, nullptr);
    std::thread one(print, "one"), two(print, "two");
    one.join();
    two.join();
    return 0;
}
