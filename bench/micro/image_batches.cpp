// SPDX-License-Identifier: Apache-2.0
// Images a second of the pipeline alone: a folder of JPEG files decoded, cropped at random (or the middle), resized to
// 224 x 224, normalized and batched by threads.
//
//   build/quickstart/bench/micro/image_batches FOLDER [threads] [seconds] [learn|judge]
//
// bench/peers/torch_images.py makes such a folder, and runs this program and torchvision in turn.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <meshtensor/datasets/image/image_folder.hpp>
#include <meshtensor/datasets/image/image_stream.hpp>

namespace mt = meshtensor;

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: image_batches FOLDER [threads] [seconds] [learn|judge]\n");
    return 2;
  }
  int const threads = argc > 2 ? std::atoi(argv[2]) : 2;
  double const seconds = argc > 3 ? std::atof(argv[3]) : 10;
  bool const learn = argc <= 4 || std::string(argv[4]) == "learn";

  mt::datasets::image_folder const files(argv[1]);
  mt::datasets::image_options o{.rows = 64};
  if (learn) o.seed = 1;
  mt::datasets::image_batches const all(files, o);
  mt::datasets::image_stream stream(all, {}, 0, {.threads = threads, .ahead = 2});
  for (int i = 0; i < 3; ++i) stream.next();  // as the peer: the first batches are not counted

  std::int64_t images = 0;
  double sum = 0, taken = 0;
  auto const begin = std::chrono::steady_clock::now();
  while (taken < seconds) {
    if (stream.at_end()) stream.seek(0);
    mt::datasets::image_batch const& b = stream.next();
    for (std::size_t i = 0; i < b.counts.size(); ++i) images += b.counts[i] == 1;
    sum += static_cast<double>(b.pixels[0]);
    taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::printf("{\"images_per_second\": %.1f, \"images\": %lld, \"threads\": %d, \"first_pixels\": %.3f}\n",
              static_cast<double>(images) / taken, static_cast<long long>(images), threads, sum);
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
