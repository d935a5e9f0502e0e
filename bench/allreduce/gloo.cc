// SPDX-License-Identifier: Apache-2.0
//
// A rank that reduces with Gloo's ring: reduce_gloo RANK ADDRESS FOLDER [small]
//
// The ranks find each other through files in the folder, which has to be new.
#include <cstdlib>
#include <exception>
#include <memory>

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "reduce.h"

static void add(void *sum, const void *a, const void *b, size_t n) {
    gloo::sum<float>(sum, a, b, n);
}

static void sum(void *aux, float *in, float *out, size_t n) {
    gloo::AllreduceOptions options(*static_cast<std::shared_ptr<gloo::Context> *>(aux));
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setInput(in, n);
    options.setOutput(out, n);
    options.setReduceFunction(add);
    gloo::allreduce(options);
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    const int rank = std::atoi(argv[1]);
    try {
        gloo::transport::tcp::attr attr;
        attr.hostname = argv[2];
        gloo::rendezvous::FileStore store(argv[3]);
        auto context = std::make_shared<gloo::rendezvous::Context>(rank, REDUCE_WORKERS);
        auto device = gloo::transport::tcp::CreateDevice(attr);
        context->connectFullMesh(store, device);
        std::shared_ptr<gloo::Context> base = context;
        return reduce_run(rank, sum, &base, argv[argc - 1]);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
