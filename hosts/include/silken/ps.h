// SPDX-License-Identifier: Apache-2.0
//
// ps.h: the names of PS-lite, a parameter server for C++, over silken/keyvalue.h: KVWorker,
// KVServer, KVPairs, Start, Finalize... A program that includes "ps/ps.h" and keeps to what is here
// is compiled with -I .../include/silken and -lsilken, and its sums are those of a job of Libra.
//
//      ps::Start(0);
//      if (ps::IsServer()) {
//          auto server = new ps::KVServer<float>(0);
//          server->set_request_handle(ps::KVServerDefaultHandle<float>());
//          ps::RegisterExitCallback([server] { delete server; });
//      }
//      if (ps::IsWorker()) {
//          ps::KVWorker<float> kv(0, 0);
//          kv.Wait(kv.Push(keys, values));
//          kv.Wait(kv.Pull(keys, &values));
//      }
//      ps::Finalize(0, true);
//
// WHO ONE IS comes from the environment. Of PS-lite: DMLC_ROLE (worker, server, scheduler),
// DMLC_NUM_WORKER, DMLC_NUM_SERVER. There is no scheduler here: a process of that role does
// nothing. Of Silken, what struct silken_kv_config has:
//
//      SILKEN_PS_RANK       number among those of its role
//      SILKEN_PS_JOB        0
//      SILKEN_PS_DEVICE     as in silken/allreduce.h
//      SILKEN_PS_SELF       MAC/IP of its station: 02:00:00:00:00:01/10.0.0.1
//      SILKEN_PS_SERVERS    those of all servers, with commas between
//      SILKEN_PS_LAYOUT     none: all parameters are at servers
//      SILKEN_PS_SWITCH     MAC/IP of the switch, with a layout
//      SILKEN_PS_SWITCH_CPU 0; 1: it has Libra_s in the job
//      SILKEN_PS_INCARNATION 0
//      SILKEN_PS_OPTIMISED  0; 1, of workers: servers have an optimiser
//      SILKEN_PS_KEYS       kMaxKey: keys are below it
//      SILKEN_PS_WIDTH      1: values of a key at most
//      SILKEN_PS_CUSTOMERS  1: workers in a worker's process; of customer c above 0, DEVICE and
//                           SELF have the ending _c (SILKEN_PS_DEVICE_1)
//      SILKEN_PS_LIMIT_MS   60000
//
// WHAT DIFFERS. Values are floats. A key has SILKEN_PS_WIDTH values, or as many as a push's vals or
// 'lens' say, at most the width. Callbacks are called within Wait(). A server adds (the default
// handle), or has an optimiser, as the second argument of KVServer; another handle is refused,
// since hot parameters never come to a server one request at a time. 'cmd' must be 0; 'priority' is
// not looked at; there is no slicer. Sums of hot parameters are within the adder's bound
// (silken/keyvalue.h, SUMS), not exact. What is wrong ends the process with a sentence, as in
// PS-lite.
//
// Thread-safety: any thread may call anything; calls to one worker go one after another.
#ifndef SILKEN_PS_H
#define SILKEN_PS_H

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "silken/error.h"
#include "silken/keyvalue.h"

namespace ps {

using Key = uint64_t;
static const Key kMaxKey = std::numeric_limits<Key>::max();
static const int kScheduler = 1, kServerGroup = 2, kWorkerGroup = 4;

// ---- what is said ----

// A line on standard error, whole when it ends; a fatal one ends the process.
class Line {
  public:
    explicit Line(bool fatal = false) : fatal_(fatal) {
    }
    Line(const Line &) = delete;
    Line &operator=(const Line &) = delete;
    ~Line() {
        text_ << '\n';
        std::cerr << text_.str() << std::flush;
        if (fatal_)
            std::abort();
    }
    template <typename T> Line &operator<<(const T &value) {
        text_ << value;
        return *this;
    }

  private:
    std::ostringstream text_;
    bool fatal_;
};

#ifndef CHECK
#define LL         ::ps::Line()
#define LOG(level) ::ps::Line(#level[0] == 'F')
#define CHECK(condition)                                                                           \
    for (bool good_ = static_cast<bool>(condition); !good_; good_ = true)                          \
    ::ps::Line(true) << __FILE__ << ":" << __LINE__ << ": check failed: " #condition " "
#define CHECK_EQ(a, b)   CHECK((a) == (b))
#define CHECK_NE(a, b)   CHECK((a) != (b))
#define CHECK_LT(a, b)   CHECK((a) < (b))
#define CHECK_LE(a, b)   CHECK((a) <= (b))
#define CHECK_GT(a, b)   CHECK((a) > (b))
#define CHECK_GE(a, b)   CHECK((a) >= (b))
#define CHECK_NOTNULL(a) CHECK((a) != nullptr)
#endif

[[noreturn]] inline void Fail(const std::string &what) {
    std::cerr << "silken: " + what + "\n" << std::flush;
    std::abort();
}

inline void Expect(int rc, const char *what) {
    if (rc != 0)
        Fail(std::string(what) + ": " + silken_strerror(rc));
}

// ---- lists ----

// Elements that are shared by all copies; or those of the caller, who keeps them.
template <typename V> class SArray {
  public:
    SArray() = default;
    SArray(const std::vector<V> &v) : own_(std::make_shared<std::vector<V>>(v)) {
    }
    SArray(V *data, size_t n) : data_(data), n_(n) {
    }
    V *data() const {
        return own_ ? own_->data() : data_;
    }
    size_t size() const {
        return own_ ? own_->size() : n_;
    }
    bool empty() const {
        return size() == 0;
    }
    V &operator[](size_t i) const {
        return data()[i];
    }
    V *begin() const {
        return data();
    }
    V *end() const {
        return data() + size();
    }
    void resize(size_t n, V value = V()) {
        auto next = std::make_shared<std::vector<V>>(begin(), end());
        next->resize(n, value);
        own_ = next;
    }

  private:
    std::shared_ptr<std::vector<V>> own_;
    V *data_ = nullptr;
    size_t n_ = 0;
};

template <typename Val> struct KVPairs {
    SArray<Key> keys;
    SArray<Val> vals;
    SArray<int> lens; // may be empty
    int priority = 0;
};

struct KVMeta {
    int cmd;
    bool push, pull;
    int sender, timestamp, customer_id;
};

// ---- this process ----

class Postoffice {
  public:
    static Postoffice *Get() {
        static Postoffice office;
        return &office;
    }

    bool is_worker() const {
        return role_ == "worker";
    }
    bool is_server() const {
        return role_ == "server";
    }
    bool is_scheduler() const {
        return role_ == "scheduler";
    }
    int num_workers() const {
        return workers_;
    }
    int num_servers() const {
        return servers_;
    }
    int my_rank() const {
        return rank_;
    }

    void Start(int customer, bool waits) {
        if (!is_worker())
            return;
        silken_kv *kv = Open(customer);
        if (waits)
            Expect(silken_kv_barrier(kv), "Start");
    }

    // A worker's, from Start() to Finalize().
    silken_kv *Worker(int customer) {
        std::lock_guard<std::mutex> lock(mutex_);
        auto at = kv_.find(customer);
        if (at == kv_.end())
            Fail("Start(" + std::to_string(customer) + ") comes before its KVWorker");
        return at->second;
    }

    void Serve(silken_kv_optimiser *optimiser, void *aux) {
        if (!is_server() || server_)
            Fail(is_server() ? "a process has one KVServer" : "DMLC_ROLE is not server");
        silken_kv_config c = Configuration(0);
        char why[512];
        c.worker = static_cast<uint32_t>(rank_);
        c.optimised = optimiser != nullptr;
        c.optimiser = optimiser;
        c.optimiser_aux = aux;
        if (silken_kv_server_open(&server_, &c, why, sizeof why) != 0)
            Fail(why);
        thread_ = std::thread([this] { Run(); });
    }

    void Finalize(int customer, bool waits) {
        if (is_worker())
            Close(customer, waits);
        if (is_server())
            StopServing(waits);
        std::vector<std::function<void()>> last;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            if (kv_.empty())
                last.swap(exits_);
        }
        for (const auto &f : last)
            f();
    }

    void AtExit(const std::function<void()> &f) {
        std::lock_guard<std::mutex> lock(mutex_);
        exits_.push_back(f);
    }

    uint32_t width() const {
        return width_;
    }

  private:
    Postoffice() {
        role_ = Text("DMLC_ROLE", nullptr);
        if (!is_worker() && !is_server() && !is_scheduler())
            Fail("DMLC_ROLE is '" + role_ + "', not worker, server or scheduler");
        workers_ = static_cast<int>(Number("DMLC_NUM_WORKER", nullptr));
        servers_ = static_cast<int>(Number("DMLC_NUM_SERVER", nullptr));
        customers_ = static_cast<int>(Number("SILKEN_PS_CUSTOMERS", "1"));
        width_ = static_cast<uint32_t>(Number("SILKEN_PS_WIDTH", "1"));
        rank_ = is_scheduler() ? 0 : static_cast<int>(Number("SILKEN_PS_RANK", nullptr));
    }
    ~Postoffice() {
        if (thread_.joinable()) { // without Finalize()
            stop_ = true;
            thread_.join();
        }
    }

    static std::string Text(const std::string &name, const char *otherwise) {
        const char *text = std::getenv(name.c_str());
        if (!text && !otherwise)
            Fail(name + " is not in the environment (silken/ps.h)");
        return text ? text : otherwise;
    }

    static uint64_t Number(const std::string &name, const char *otherwise) {
        const std::string text = Text(name, otherwise);
        char *end;
        const uint64_t number = std::strtoull(text.c_str(), &end, 10);
        if (text.empty() || *end || text[0] == '-')
            Fail(name + " is '" + text + "', not a number");
        return number;
    }

    // "MAC/IP"; the text is kept.
    silken_address Address(const std::string &name, const std::string &text) {
        const size_t slash = text.find('/');
        if (slash == std::string::npos)
            Fail(name + ": '" + text + "' is not like 02:00:00:00:00:01/10.0.0.1");
        texts_.push_back(std::make_unique<std::string>(text.substr(0, slash)));
        const char *mac = texts_.back()->c_str();
        texts_.push_back(std::make_unique<std::string>(text.substr(slash + 1)));
        return silken_address{mac, texts_.back()->c_str()};
    }

    const char *Kept(const std::string &text) {
        texts_.push_back(std::make_unique<std::string>(text));
        return texts_.back()->c_str();
    }

    silken_kv_config Configuration(int customer) {
        const std::string ending = customer ? "_" + std::to_string(customer) : "";
        const std::string layout = Text("SILKEN_PS_LAYOUT", "");
        silken_kv_config c;
        silken_kv_config_init(&c);
        c.job = static_cast<uint8_t>(Number("SILKEN_PS_JOB", "0"));
        c.workers = static_cast<uint32_t>(workers_ * customers_);
        c.worker = static_cast<uint32_t>(rank_ * customers_ + customer);
        c.keys = Number("SILKEN_PS_KEYS", "18446744073709551615") / width_;
        c.width = width_;
        c.device = Kept(Text("SILKEN_PS_DEVICE" + ending, nullptr));
        c.self = Address("SILKEN_PS_SELF" + ending, Text("SILKEN_PS_SELF" + ending, nullptr));
        if (!layout.empty()) {
            c.layout = Kept(layout);
            c.switch_address = Address("SILKEN_PS_SWITCH", Text("SILKEN_PS_SWITCH", nullptr));
            c.switch_cpu = static_cast<int>(Number("SILKEN_PS_SWITCH_CPU", "0"));
        }
        c.optimised = static_cast<int>(Number("SILKEN_PS_OPTIMISED", "0"));
        c.incarnation = static_cast<uint32_t>(Number("SILKEN_PS_INCARNATION", "0"));
        c.hard_limit_ms = static_cast<uint32_t>(Number("SILKEN_PS_LIMIT_MS", "60000"));
        auto list = std::make_unique<std::vector<silken_address>>();
        std::istringstream all(Text("SILKEN_PS_SERVERS", nullptr));
        for (std::string one; std::getline(all, one, ',');)
            list->push_back(Address("SILKEN_PS_SERVERS", one));
        if (list->size() != static_cast<size_t>(servers_))
            Fail("SILKEN_PS_SERVERS has " + std::to_string(list->size()) +
                 " addresses, and DMLC_NUM_SERVER is " + std::to_string(servers_));
        c.servers = static_cast<uint32_t>(servers_);
        c.server = list->data();
        lists_.push_back(std::move(list));
        return c;
    }

    silken_kv *Open(int customer) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (customer < 0 || customer >= customers_)
            Fail("customer " + std::to_string(customer) + " is not one of the " +
                 std::to_string(customers_) + " of SILKEN_PS_CUSTOMERS");
        if (kv_.count(customer))
            Fail("Start(" + std::to_string(customer) + ") was called before");
        const silken_kv_config c = Configuration(customer);
        silken_kv *kv;
        char why[512];
        if (silken_kv_open(&kv, &c, why, sizeof why) != 0)
            Fail(why);
        return kv_[customer] = kv;
    }

    void Close(int customer, bool waits) {
        silken_kv *kv = Worker(customer);
        if (waits)
            Expect(silken_kv_finish(kv), "Finalize");
        silken_kv_close(kv);
        std::lock_guard<std::mutex> lock(mutex_);
        kv_.erase(customer);
    }

    // Until all workers have finished, and a while after, for acks that were lost.
    void Run() {
        int turns_after = 0;
        while (!stop_ && turns_after < 20) {
            Expect(silken_kv_server_run(server_, 25), "a server");
            turns_after += silken_kv_server_finished(server_) ? 1 : 0;
        }
    }

    void StopServing(bool waits) {
        if (!server_)
            return;
        stop_ = !waits;
        thread_.join();
        silken_kv_server_close(server_);
        server_ = nullptr;
    }

    std::string role_;
    int workers_ = 0, servers_ = 0, customers_ = 1, rank_ = 0;
    uint32_t width_ = 1;
    std::mutex mutex_; // of what follows
    std::map<int, silken_kv *> kv_;
    std::vector<std::unique_ptr<std::string>> texts_;
    std::vector<std::unique_ptr<std::vector<silken_address>>> lists_;
    std::vector<std::function<void()>> exits_;
    silken_kv_server *server_ = nullptr;
    std::thread thread_; // the server's
    std::atomic<bool> stop_{false};
};

inline int NumWorkers() {
    return Postoffice::Get()->num_workers();
}
inline int NumServers() {
    return Postoffice::Get()->num_servers();
}
inline bool IsWorker() {
    return Postoffice::Get()->is_worker();
}
inline bool IsServer() {
    return Postoffice::Get()->is_server();
}
inline bool IsScheduler() {
    return Postoffice::Get()->is_scheduler();
}
inline int MyRank() {
    return Postoffice::Get()->my_rank();
}
inline void Start(int customer_id, const char *argv0 = nullptr) {
    (void)argv0;
    Postoffice::Get()->Start(customer_id, true);
}
inline void StartAsync(int customer_id, const char *argv0 = nullptr) {
    (void)argv0;
    Postoffice::Get()->Start(customer_id, false);
}
// do_barrier: until all workers have come here; a server, too, goes on serving until then.
inline void Finalize(int customer_id, bool do_barrier = true) {
    Postoffice::Get()->Finalize(customer_id, do_barrier);
}
inline void RegisterExitCallback(const std::function<void()> &cb) {
    Postoffice::Get()->AtExit(cb);
}

// ---- a server ----

template <typename Val> class KVServer;

// Adds what is pushed, and answers with the sums.
template <typename Val> struct KVServerDefaultHandle {
    void operator()(const KVMeta &, const KVPairs<Val> &, KVServer<Val> *) {
    }
};

template <typename Val> class KVServer {
    static_assert(std::is_same<Val, float>::value, "values are floats");

  public:
    using ReqHandle = std::function<void(const KVMeta &, const KVPairs<Val> &, KVServer *)>;

    // 'optimiser': instead of adding (silken/keyvalue.h); its workers are started with 'optimised'.
    explicit KVServer(int app_id, silken_kv_optimiser *optimiser = nullptr, void *aux = nullptr) {
        (void)app_id;
        Postoffice::Get()->Serve(optimiser, aux);
    }
    virtual ~KVServer() = default;

    void set_request_handle(const ReqHandle &handle) {
        if (!handle.template target<KVServerDefaultHandle<Val>>())
            Fail("a server here adds (KVServerDefaultHandle), or has an optimiser (KVServer's "
                 "second "
                 "argument): its handle is never called for parameters that the switch sums");
    }
    void Response(const KVMeta &, const KVPairs<Val> & = KVPairs<Val>()) {
        Fail("a server here answers itself");
    }
};

// ---- a worker ----

template <typename Val> class KVWorker {
    static_assert(std::is_same<Val, float>::value, "values are floats");

  public:
    using Callback = std::function<void()>;

    KVWorker(int app_id, int customer_id) : kv_(Postoffice::Get()->Worker(customer_id)) {
        (void)app_id;
    }
    KVWorker(const KVWorker &) = delete;
    KVWorker &operator=(const KVWorker &) = delete;
    virtual ~KVWorker() = default; // what was not waited for goes on until Finalize()

    int Push(const std::vector<Key> &keys, const std::vector<Val> &vals,
             const std::vector<int> &lens = {}, int cmd = 0, const Callback &cb = nullptr,
             int priority = 0) {
        return ZPush(SArray<Key>(keys), SArray<Val>(vals), SArray<int>(lens), cmd, cb, priority);
    }

    int Pull(const std::vector<Key> &keys, std::vector<Val> *vals, std::vector<int> *lens = nullptr,
             int cmd = 0, const Callback &cb = nullptr, int priority = 0) {
        return PullInto(SArray<Key>(keys), vals, lens, cmd, cb, priority);
    }

    int PushPull(const std::vector<Key> &keys, const std::vector<Val> &vals, std::vector<Val> *outs,
                 std::vector<int> *lens = nullptr, int cmd = 0, const Callback &cb = nullptr,
                 int priority = 0) {
        return PushPullInto(SArray<Key>(keys), SArray<Val>(vals), outs, lens, cmd, cb, priority);
    }

    // The same of lists that the caller leaves as they are until the request is done.
    int ZPush(const SArray<Key> &keys, const SArray<Val> &vals, const SArray<int> &lens = {},
              int cmd = 0, const Callback &cb = nullptr, int priority = 0) {
        (void)priority;
        Shape shape = ShapeOf(keys, vals.size(), lens, cmd);
        std::lock_guard<std::mutex> lock(mutex_);
        uint64_t request;
        Expect(
            silken_kv_push_f32(kv_, keys.data(), vals.data(), shape.data(), keys.size(), &request),
            "Push");
        return Note(request, cb);
    }
    int ZPull(const SArray<Key> &keys, SArray<Val> *vals, SArray<int> *lens = nullptr, int cmd = 0,
              const Callback &cb = nullptr, int priority = 0) {
        return PullInto(keys, vals, lens, cmd, cb, priority);
    }
    int ZPushPull(const SArray<Key> &keys, const SArray<Val> &vals, SArray<Val> *outs,
                  SArray<int> *lens = nullptr, int cmd = 0, const Callback &cb = nullptr,
                  int priority = 0) {
        return PushPullInto(keys, vals, outs, lens, cmd, cb, priority);
    }

    // Until the request is done; then its callback is called.
    void Wait(int timestamp) {
        Callback cb;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            auto at = open_.find(timestamp);
            if (at == open_.end())
                return; // waited for before
            Expect(silken_kv_wait(kv_, at->second.request), "Wait");
            cb = at->second.callback;
            open_.erase(at);
        }
        if (cb)
            cb();
    }

  private:
    using Shape = std::vector<uint32_t>;
    struct Open {
        uint64_t request;
        Callback callback;
    };

    int Note(uint64_t request, const Callback &cb) {
        open_[next_] = Open{request, cb};
        return next_++;
    }

    // How many values each key has: by 'lens', or as many as there are for each, or the width (n
    // 0).
    static Shape ShapeOf(const SArray<Key> &keys, size_t n, const SArray<int> &lens, int cmd) {
        Shape shape(keys.size(), Postoffice::Get()->width());
        CHECK_EQ(cmd, 0) << "there are no commands";
        if (!lens.empty()) {
            CHECK_EQ(lens.size(), keys.size());
            for (size_t i = 0; i < lens.size(); i++)
                shape[i] = static_cast<uint32_t>(lens[i]);
        } else if (n > 0) {
            CHECK_EQ(n % keys.size(), 0u);
            shape.assign(keys.size(), static_cast<uint32_t>(n / keys.size()));
        }
        size_t all = 0;
        for (uint32_t length : shape)
            all += length;
        if (n > 0)
            CHECK_EQ(all, n);
        return shape;
    }

    static size_t Sum(const Shape &shape) {
        size_t all = 0;
        for (uint32_t length : shape)
            all += length;
        return all;
    }

    // 'lens' of a pull: asked for if it has some, told if it is empty.
    template <typename D> static SArray<int> Asked(D *lens) {
        return lens && lens->size() > 0 ? SArray<int>(lens->data(), lens->size()) : SArray<int>();
    }
    template <typename D> static void Tell(D *lens, const Shape &shape) {
        if (!lens)
            return;
        lens->resize(shape.size());
        for (size_t i = 0; i < shape.size(); i++)
            (*lens)[i] = static_cast<int>(shape[i]);
    }

    template <typename C, typename D>
    int PullInto(const SArray<Key> &keys, C *vals, D *lens, int cmd, const Callback &cb,
                 int priority) {
        (void)priority;
        CHECK_NOTNULL(vals);
        Shape shape = ShapeOf(keys, vals->size(), Asked(lens), cmd);
        if (vals->size() == 0)
            vals->resize(Sum(shape));
        Tell(lens, shape);
        std::lock_guard<std::mutex> lock(mutex_);
        uint64_t request;
        Expect(
            silken_kv_pull_f32(kv_, keys.data(), vals->data(), shape.data(), keys.size(), &request),
            "Pull");
        return Note(request, cb);
    }

    template <typename C, typename D>
    int PushPullInto(const SArray<Key> &keys, const SArray<Val> &vals, C *outs, D *lens, int cmd,
                     const Callback &cb, int priority) {
        (void)priority;
        CHECK_NOTNULL(outs);
        Shape shape = ShapeOf(keys, vals.size(), Asked(lens), cmd);
        if (outs->size() == 0)
            outs->resize(vals.size());
        CHECK_EQ(outs->size(), vals.size());
        Tell(lens, shape);
        std::lock_guard<std::mutex> lock(mutex_);
        uint64_t request;
        Expect(silken_kv_push_pull_f32(kv_, keys.data(), vals.data(), outs->data(), shape.data(),
                                       keys.size(), &request),
               "PushPull");
        return Note(request, cb);
    }

    silken_kv *kv_; // of the process, until Finalize()
    std::mutex mutex_;
    std::map<int, Open> open_; // by timestamp
    int next_ = 0;
};

} // namespace ps

#endif
