// Local statics, virtual functions, new and delete, exceptions and shared pointers: nothing here races.
#include <cassert>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Shape {
    virtual ~Shape() {}
    virtual int corners() const = 0;
};
struct Square : Shape {
    int corners() const override { return 4; }
};

static const std::vector<int> &table() {
    static const std::vector<int> made = {1, 2, 3};
    return made;
}

int main() {
    auto shared = std::make_shared<std::string>("text");
    std::mutex lock;
    int total = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&, shared] {
            std::unique_ptr<Shape> shape(new Square);
            int sum = shape->corners() + table()[1];
            try {
                throw std::runtime_error(*shared);
            } catch (const std::exception &error) {
                sum += error.what()[0] == 't';
            }
            std::lock_guard<std::mutex> guard(lock);
            total += sum;
        });
    for (auto &thread : threads) thread.join();
    assert(total == 14);
    return 0;
}
