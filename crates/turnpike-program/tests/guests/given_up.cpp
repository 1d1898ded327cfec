// An initialisation that fails once, in the last thing that its thread does.
#include <cassert>
#include <mutex>
#include <thread>

static std::once_flag flag;
static int tries;

static void initialise() {
    try {
        std::call_once(flag, [] {
            if (tries++ == 0)
                throw 1;
        });
    } catch (int) {
    }
}

int main() {
    std::thread first(initialise), second(initialise);
    first.join();
    second.join();
    assert(tries == 2);
}
