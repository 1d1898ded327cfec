// The first operation under control is an atomic one inside a header of the library, before anything else was called.
#include <cassert>
#include <future>
#include <thread>

int main() {
    std::packaged_task<int()> task([] { return 1; });
    auto answer = task.get_future();
    std::thread thread(std::move(task));
    assert(answer.get() == 1);
    thread.join();
}
