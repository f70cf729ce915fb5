// The program of examples/digits_network.py in C++: trains a network on images in a text file.
//
//   digits_network FILE [NETWORK [EPOCHS]]
//
// Each line of FILE is an image: its label and 64 pixels, 0 .. 16, separated by commas. Every fifth line is kept for the
// test. The network is saved as NETWORK, a safetensors file. The same file gives the same bits as the Python program
//
//   net = ng.Network([ng.layers.Conv(16, 3, padding=1, relu=True), ng.layers.Pool(2), ng.layers.Full(10),
//                     ng.layers.Softmax()], input_shape=(8, 8, 1), dtype="float32", seed=1)
//   net.fit(x, y, epochs=20, batch=64, lr=0.05, momentum=0.9, validation=(xt, yt))
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nervanagpu/nervanagpu.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Images {
  std::vector<float> pixels;  // (count, 8, 8, 1)
  std::vector<std::int32_t> labels;
};

bool read(const std::string& path, Images& learn, Images& test) {
  std::ifstream in(path);
  std::string line;
  for (int row = 0; std::getline(in, line); ++row) {
    Images& to = row % 5 == 0 ? test : learn;
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 65; ++i) {
      if (!std::getline(fields, field, ',')) return false;
      const float v = std::stof(field);
      if (i == 0) {
        to.labels.push_back(static_cast<std::int32_t>(v));
      } else {
        to.pixels.push_back(v / 16.0F);
      }
    }
  }
  return !learn.labels.empty() && !test.labels.empty();
}

}  // namespace

int main(int argc, char** argv) {
  Images learn;
  Images test;
  if (argc < 2 || !read(argv[1], learn, test)) {
    std::cerr
        << "digits_network FILE [NETWORK [EPOCHS]]: FILE has lines of a label and 64 pixels, separated by commas\n";
    return 2;
  }
  namespace layers = ng::layers;
  ng::Network net(
      {layers::conv(16, 3, {.padding = 1, .relu = true}), layers::pool(2), layers::full(10), layers::softmax()},
      {8, 8, 1}, {.dtype = ng::Dtype::float32, .seed = 1});
  std::cout << net.summary();

  const ng::Samples validation = test.pixels;
  ng::FitOptions options;
  options.epochs = argc > 3 ? std::stoi(argv[3]) : 20;
  options.batch = 64;
  options.lr = 0.05F;
  options.momentum = 0.9F;
  options.validation_x = &validation;
  options.validation_y = test.labels;
  options.callback = [](const ng::Progress& p) {
    if (!p.epoch_done) return;
    std::printf("epoch %2d   loss %.4f   test %.4f  %.2f %%\n", p.epoch + 1, p.history->loss.back(),
                p.history->val_loss.back(), 100.0 * p.history->val_accuracy.back());
  };
  net.fit(learn.pixels, learn.labels, options);

  const std::vector<float> probabilities = net.predict(test.pixels);
  int right = 0;
  for (std::size_t i = 0; i < test.labels.size(); ++i) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < 10; ++c) {
      if (probabilities[i * 10 + c] > probabilities[i * 10 + best]) best = c;
    }
    right += static_cast<std::int32_t>(best) == test.labels[i] ? 1 : 0;
  }
  if (argc > 2) net.save(argv[2]);
  std::printf("test accuracy: %.2f %%\n", 100.0 * right / static_cast<double>(test.labels.size()));
  return 0;
}
