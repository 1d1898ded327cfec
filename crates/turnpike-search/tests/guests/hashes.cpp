// One thread hashes a text in which another one writes; with an argument, both hold a lock meanwhile.
#include <cassert>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>

static char text[] = "abc";
static std::mutex mutex;
static bool right;
static unsigned long before, during;

static void hash() {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (right)
        guard.lock();
    during = std::hash<std::string_view>{}(std::string_view(text, 3));
    if (right)
        text[0] = 'a';
}
static void change() {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (right)
        guard.lock();
    text[0] = 'x';
    if (right)
        text[0] = 'a';
}
int main(int count, char **) {
    right = count > 1;
    before = std::hash<std::string_view>{}(std::string_view(text, 3));
    std::thread reader(hash), writer(change);
    reader.join();
    writer.join();
    assert(before == during);
}
