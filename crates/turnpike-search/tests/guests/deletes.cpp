// A virtual call of an object that another thread deletes; with an argument, under one lock.
#include <mutex>
#include <thread>

struct Shape {
    int sides = 4;
    virtual ~Shape() {}
    virtual int count() { return sides; }
};
static std::mutex lock;
static Shape *shape = new Shape;
static int total;

int main(int count, char **) {
    bool right = count > 1;
    std::thread reader([right] {
        std::unique_lock<std::mutex> held(lock);
        Shape *mine = shape;
        if (!right)
            held.unlock();
        if (mine)
            total = mine->count();
    });
    std::thread writer([] {
        Shape *mine;
        {
            std::lock_guard<std::mutex> held(lock);
            mine = shape;
            shape = nullptr;
        }
        delete mine;
    });
    reader.join();
    writer.join();
}
