// SPDX-License-Identifier: Apache-2.0
//
// Models as training jobs see them: the size of each layer's gradient, and how the time of the
// backward pass is spread over them.
//
// Sizes are the parameters (weights and biases, batch normalisation's two) of the published
// architectures for 1000 classes: AlexNet in its one-tower form (61.1 million), VGG11, 16 and 19
// (132.9, 138.4, 143.7 million), ResNet50, 101 and 152 (25.6, 44.5, 60.2 million), GoogLeNet
// without its two auxiliary classifiers (Szegedy et al., "Going Deeper with Convolutions", table 1:
// 7.0 million with biases, 6.8 in the table's own rounding), Inception-v3 with batch normalisation
// and without the auxiliary classifier (Szegedy et al., "Rethinking the Inception Architecture for
// Computer Vision": 23.8 million) and the base Transformer (Vaswani et al., "Attention Is All You
// Need", table 3, with its shared vocabulary of 37,000: 63.1 million), 4 bytes each.
//
// The share of a layer in the compute time is its share of the multiplications: parameters times
// positions at which they are used.
//
// The time of an iteration is stated, not derived: a batch of 32 pictures (AlexNet 128) on one
// GeForce RTX 2080 Ti, forward and backward, as public benchmarks of that card in single precision
// have it, rounded. Of GoogLeNet and the Transformer (ten examples of 384 tokens) there are none:
// their times are those of ResNet50 by the number of multiplications. Scenarios may say otherwise
// ("compute_ms").
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

// 1x1; 3x3 behind a narrow 1x1; 5x5 behind one; 1x1 behind a pool
static double googlenet_inception(struct building *b, double in, const double width[6],
                                  double size) {
    conv(b, in, width[0], 1, size);
    conv(b, in, width[1], 1, size);
    conv(b, width[1], width[2], 3, size);
    conv(b, in, width[3], 1, size);
    conv(b, width[3], width[4], 5, size);
    conv(b, in, width[5], 1, size);
    return width[0] + width[2] + width[4] + width[5];
}

static void googlenet(struct building *b) {
    static const double widths[9][6] = {
        {64, 96, 128, 16, 32, 32},     {128, 128, 192, 32, 96, 64},
        {192, 96, 208, 16, 48, 64},    {160, 112, 224, 24, 64, 64},
        {128, 128, 256, 24, 64, 64},   {112, 144, 288, 32, 64, 64},
        {256, 160, 320, 32, 128, 128}, {256, 160, 320, 32, 128, 128},
        {384, 192, 384, 48, 128, 128}};
    double in = 192;
    conv(b, 3, 64, 7, 112);
    conv(b, 64, 64, 1, 56);
    conv(b, 64, 192, 3, 56);
    for (int i = 0; i < 9; i++)
        in = googlenet_inception(b, in, widths[i], i < 2 ? 28 : i < 7 ? 14 : 7);
    scn_models_fully_connected(b, in, 1000);
}

// Kernels that are not square have an area.
static void conv_area_bn(struct building *b, double in, double out, double area, double size) {
    const double weights = in * out * area;
    scn_models_add_layer(b, weights + 2 * out, weights * size * size);
}

static void inception_35(struct building *b, double in, double pool) {
    conv_bn(b, in, 64, 1, 35);
    conv_bn(b, in, 48, 1, 35);
    conv_bn(b, 48, 64, 5, 35);
    conv_bn(b, in, 64, 1, 35);
    conv_bn(b, 64, 96, 3, 35);
    conv_bn(b, 96, 96, 3, 35);
    conv_bn(b, in, pool, 1, 35);
}

static void inception_17(struct building *b, double narrow) {
    conv_bn(b, 768, 192, 1, 17);
    conv_bn(b, 768, narrow, 1, 17);
    conv_area_bn(b, narrow, narrow, 7, 17);
    conv_area_bn(b, narrow, 192, 7, 17);
    conv_bn(b, 768, narrow, 1, 17);
    for (int i = 0; i < 3; i++)
        conv_area_bn(b, narrow, narrow, 7, 17);
    conv_area_bn(b, narrow, 192, 7, 17);
    conv_bn(b, 768, 192, 1, 17);
}

static void inception_8(struct building *b, double in) {
    conv_bn(b, in, 320, 1, 8);
    conv_bn(b, in, 384, 1, 8);
    conv_area_bn(b, 384, 384, 3, 8);
    conv_area_bn(b, 384, 384, 3, 8);
    conv_bn(b, in, 448, 1, 8);
    conv_bn(b, 448, 384, 3, 8);
    conv_area_bn(b, 384, 384, 3, 8);
    conv_area_bn(b, 384, 384, 3, 8);
    conv_bn(b, in, 192, 1, 8);
}

static void inception_v3(struct building *b) {
    static const double narrow[4] = {128, 160, 160, 192};
    conv_bn(b, 3, 32, 3, 149);
    conv_bn(b, 32, 32, 3, 147);
    conv_bn(b, 32, 64, 3, 147);
    conv_bn(b, 64, 80, 1, 73);
    conv_bn(b, 80, 192, 3, 71);
    inception_35(b, 192, 32);
    inception_35(b, 256, 64);
    inception_35(b, 288, 64);
    conv_bn(b, 288, 384, 3, 17);
    conv_bn(b, 288, 64, 1, 35);
    conv_bn(b, 64, 96, 3, 35);
    conv_bn(b, 96, 96, 3, 17);
    for (int i = 0; i < 4; i++)
        inception_17(b, narrow[i]);
    conv_bn(b, 768, 192, 1, 17);
    conv_bn(b, 192, 320, 3, 8);
    conv_bn(b, 768, 192, 1, 17);
    conv_area_bn(b, 192, 192, 7, 17);
    conv_area_bn(b, 192, 192, 7, 17);
    conv_bn(b, 192, 192, 3, 8);
    inception_8(b, 1280);
    inception_8(b, 2048);
    scn_models_fully_connected(b, 2048, 1000);
}

// Used once for each token.
static void linear(struct building *b, double in, double out) {
    scn_models_add_layer(b, in * out + out, in * out);
}
static void norm(struct building *b) {
    scn_models_add_layer(b, 2 * 512, 2 * 512);
}
static void attention(struct building *b) {
    for (int i = 0; i < 4; i++)
        linear(b, 512, 512);
    norm(b);
}
static void transformer(struct building *b) {
    // the embedding is the last layer's weights, too, and its gradient is there when the backward
    // pass ends
    scn_models_add_layer(b, 37000.0 * 512, 37000.0 * 512);
    for (int i = 0; i < 12; i++) {
        attention(b);
        if (i >= 6) // decoders look at the encoders' output
            attention(b);
        linear(b, 512, 2048);
        linear(b, 2048, 512);
        norm(b);
    }
}

const char *const scn_model_names[] = {"alexnet",      "vgg11",       "vgg16",     "vgg19",
                                       "resnet50",     "resnet101",   "resnet152", "googlenet",
                                       "inception-v3", "transformer", NULL};
enum {
    ALEXNET,
    VGG11,
    VGG16,
    VGG19,
    RESNET50,
    RESNET101,
    RESNET152,
    GOOGLENET,
    INCEPTION_V3,
    TRANSFORMER,
    N_MODELS
};
static const double milliseconds[N_MODELS] = {45, 120, 195, 225, 110, 180, 260, 43, 165, 200};

static void scn_models_build(int model, struct building *b) {
    static const int vggs[3][5] = {{1, 1, 2, 2, 2}, {2, 2, 3, 3, 3}, {2, 2, 4, 4, 4}};
    static const int resnets[3][4] = {{3, 4, 6, 3}, {3, 4, 23, 3}, {3, 8, 36, 3}};
    if (model == ALEXNET)
        alexnet(b);
    else if (model == GOOGLENET)
        googlenet(b);
    else if (model == INCEPTION_V3)
        inception_v3(b);
    else if (model == TRANSFORMER)
        transformer(b);
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
