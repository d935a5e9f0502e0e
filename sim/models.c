// SPDX-License-Identifier: Apache-2.0
//
// Models as training jobs see them: the size of each layer's gradient, and how the time of the
// backward pass is spread over them.
//
// Sizes are the parameters (weights and biases, batch normalisation's two) of the published
// architectures for 1000 classes: AlexNet in its one-tower form (61.1 million), VGG11, 16 and 19
// (132.9, 138.4, 143.7 million) and ResNet50, 101 and 152 (25.6, 44.5, 60.2 million), 4 bytes each.
// The share of a layer in the compute time is its share of the multiplications: parameters times
// positions at which they are used.
//
// The time of an iteration is stated, not derived: a batch of 32 pictures (AlexNet 128) on one
// GeForce RTX 2080 Ti, forward and backward, as public benchmarks of that card in single precision
// have it, rounded. Scenarios may say otherwise ("compute_ms").
#include <math.h>
#include <string.h>

#include "sim/scenario_impl.h"

struct building {
    struct scn_layer layer[SCN_MAX_LAYERS]; // in the order of the forward pass
    size_t n;
};

// 'size': positions of the output, on one side
static void scn_models_add_layer(struct building *b, double parameters, double multiplications) {
    b->layer[b->n++] = (struct scn_layer){parameters * 4, multiplications};
}
static void conv(struct building *b, double in, double out, double kernel, double size) {
    const double weights = in * out * kernel * kernel;
    scn_models_add_layer(b, weights + out, weights * size * size);
}
static void scn_models_fully_connected(struct building *b, double in, double out) {
    scn_models_add_layer(b, in * out + out, in * out);
}
// without bias, with batch normalisation
static void conv_bn(struct building *b, double in, double out, double kernel, double size) {
    const double weights = in * out * kernel * kernel;
    scn_models_add_layer(b, weights + 2 * out, weights * size * size);
}

static void alexnet(struct building *b) {
    conv(b, 3, 64, 11, 55);
    conv(b, 64, 192, 5, 27);
    conv(b, 192, 384, 3, 13);
    conv(b, 384, 256, 3, 13);
    conv(b, 256, 256, 3, 13);
    scn_models_fully_connected(b, 9216, 4096);
    scn_models_fully_connected(b, 4096, 4096);
    scn_models_fully_connected(b, 4096, 1000);
}

static void vgg(struct building *b, const int convs[5]) {
    static const double width[5] = {64, 128, 256, 512, 512};
    double in = 3, size = 224;
    for (int block = 0; block < 5; block++, size /= 2)
        for (int i = 0; i < convs[block]; i++, in = width[block])
            conv(b, i ? width[block] : in, width[block], 3, size);
    scn_models_fully_connected(b, 512 * 7 * 7, 4096);
    scn_models_fully_connected(b, 4096, 4096);
    scn_models_fully_connected(b, 4096, 1000);
}

static void resnet(struct building *b, const int blocks[4]) {
    double in = 64, size = 56;
    conv_bn(b, 3, 64, 7, 112);
    for (int stage = 0; stage < 4; stage++) {
        const double width = 64 << stage;
        if (stage)
            size /= 2;
        for (int i = 0; i < blocks[stage]; i++) {
            conv_bn(b, in, width, 1, i || !stage ? size : 2 * size);
            conv_bn(b, width, width, 3, size);
            conv_bn(b, width, 4 * width, 1, size);
            if (!i)
                conv_bn(b, in, 4 * width, 1, size);
            in = 4 * width;
        }
    }
    scn_models_fully_connected(b, 2048, 1000);
}

const char *const scn_model_names[] = {"alexnet",  "vgg11",     "vgg16",     "vgg19",
                                       "resnet50", "resnet101", "resnet152", NULL};
enum { ALEXNET, VGG11, VGG16, VGG19, RESNET50, RESNET101, RESNET152, N_MODELS };
static const double milliseconds[N_MODELS] = {45, 120, 195, 225, 110, 180, 260};

static void scn_models_build(int model, struct building *b) {
    static const int vggs[3][5] = {{1, 1, 2, 2, 2}, {2, 2, 3, 3, 3}, {2, 2, 4, 4, 4}};
    static const int resnets[3][4] = {{3, 4, 6, 3}, {3, 4, 23, 3}, {3, 8, 36, 3}};
    if (model == ALEXNET)
        alexnet(b);
    else if (model <= VGG19)
        vgg(b, vggs[model - VGG11]);
    else
        resnet(b, resnets[model - RESNET50]);
}

bool scn_model(const char *name, struct scn_model *out) {
    static _Thread_local struct building b;
    int model = 0;
    while (model < N_MODELS && strcmp(scn_model_names[model], name) != 0)
        model++;
    if (model == N_MODELS)
        return false;
    b.n = 0;
    scn_models_build(model, &b);
    double total = 0;
    for (size_t i = 0; i < b.n; i++)
        total += b.layer[i].share;
    *out = (struct scn_model){
        .name = scn_model_names[model], .compute_ns = milliseconds[model] * 1e6, .n = b.n};
    for (size_t i = 0; i < b.n; i++) {
        out->layers[i] = b.layer[b.n - 1 - i];
        out->layers[i].share /= total;
    }
    return true;
}
