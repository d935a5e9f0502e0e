// SPDX-License-Identifier: Apache-2.0
//
// ps_sums: what silken/ps.h promises, by the names of PS-lite: test_ps.py runs it as workers and
// servers of a job. Each worker pushes to the same keys, so the sums are of all of them.
#include "ps/ps.h"

#define KEYS  300
#define WIDTH 2

// A sum of hot parameters is within the adder's bound; of others it is exact here.
static void near(double got, double sum, double bound) {
    if (std::fabs(got - sum) > bound * std::fabs(sum) + 1e-9)
        ps::Fail("the sum is " + std::to_string(got) + ", not " + std::to_string(sum));
}

static void test_sums(ps::KVWorker<float> &kv, double bound) {
    std::vector<ps::Key> keys;
    std::vector<float> values, sums, outs;
    for (ps::Key k = 0; k < KEYS; k++) {
        keys.push_back(3 * k);
        for (int i = 0; i < WIDTH; i++)
            values.push_back(static_cast<float>(k + 1) * (i ? -1.f : 1.f));
    }
    const int workers = ps::NumWorkers();
    int done = 0;
    std::vector<int> waits;
    for (int i = 0; i < 5; i++)
        waits.push_back(kv.Push(keys, values, {}, 0, [&done] { done++; }));
    for (int t : waits)
        kv.Wait(t);
    kv.Wait(waits[0]); // again: nothing
    CHECK_EQ(done, 5);
    // at least this worker's pushes are there
    kv.Wait(kv.Pull(keys, &sums));
    CHECK_EQ(sums.size(), values.size());
    for (size_t i = 0; i < sums.size(); i++)
        CHECK_GE(std::fabs(sums[i]), 5 * std::fabs(values[i]) * (1 - bound));
    kv.Wait(kv.PushPull(keys, values, &outs));
    CHECK_GE(std::fabs(outs[0]), 6 * std::fabs(values[0]) * (1 - bound));
    ps::Finalize(0, true); // all have pushed six times: the servers' sums are checked by their owner
    (void)workers;
}

static void test_lens(ps::KVWorker<float> &kv) {
    std::vector<float> got;
    std::vector<int> lens;
    // keys of this worker alone, with one value or two
    const ps::Key own = 3 * KEYS + 10 * static_cast<ps::Key>(ps::MyRank());
    kv.Wait(kv.Push({own, own + 1}, {1.f, 2.f, 3.f}, {1, 2}));
    kv.Wait(kv.Pull({own, own + 1}, &got, &lens));
    CHECK_EQ(got.size(), 4u);
    CHECK_EQ(lens.size(), 2u);
    near(got[0], 1, 0);
    near(got[1], 0, 0);
    near(got[2], 2, 0);
    near(got[3], 3, 0);
    lens = {1, 2};
    got.clear();
    kv.Wait(kv.Pull({own, own + 1}, &got, &lens));
    CHECK_EQ(got.size(), 3u);
    // lists of the caller's
    ps::Key keys[] = {own + 2};
    float values[] = {4.f, 5.f}, back[] = {0.f, 0.f};
    ps::SArray<float> into(back, 2);
    kv.Wait(kv.ZPush(ps::SArray<ps::Key>(keys, 1), ps::SArray<float>(values, 2)));
    kv.Wait(kv.ZPull(ps::SArray<ps::Key>(keys, 1), &into));
    near(back[0], 4, 0);
    near(back[1], 5, 0);
}

// Of a server with an optimiser: half a step against the gradient.
static double descend(void *, uint64_t, double weight, double value) {
    return weight - 0.5 * value;
}

static void test_optimised(ps::KVWorker<float> &kv, double bound) {
    std::vector<ps::Key> keys{0, 3, 6, 9, 600};
    std::vector<float> gradients(keys.size() * WIDTH, 4.f), weights;
    kv.Wait(kv.Push(keys, gradients));
    kv.Wait(kv.Pull(keys, &weights));
    for (float w : weights) {
        CHECK_LE(w, -2 * (1 - bound));
        CHECK_GE(w, -2 * ps::NumWorkers() * (1 + bound));
    }
    ps::Finalize(0, true);
}

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    const double bound = argc > 2 ? std::atof(argv[2]) : 0;
    ps::Start(0);
    if (ps::IsServer()) {
        auto server = new ps::KVServer<float>(0, what == "optimised" ? descend : nullptr);
        if (what == "handle")
            server->set_request_handle([](const ps::KVMeta &, const ps::KVPairs<float> &,
                                          ps::KVServer<float> *) {});
        server->set_request_handle(ps::KVServerDefaultHandle<float>());
        ps::RegisterExitCallback([server] {
            delete server;
            std::puts("the server has ended");
        });
    }
    if (ps::IsWorker()) {
        ps::KVWorker<float> kv(0, 0);
        if (what == "optimised") {
            test_optimised(kv, bound);
        } else {
            test_lens(kv);
            test_sums(kv, bound);
        }
        std::puts("the worker has ended");
        return 0;
    }
    ps::Finalize(0, true);
    return 0;
}
