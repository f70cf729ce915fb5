// Measured choices: every plan of a class gives the same bits; what is measured when; files that nobody should have written.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "kernels/gemm/choose/alternatives.h"
#include "kernels/gemm/choose/measure.h"
#include "kernels/gemm/choose/tuner.h"
#include "kernels/gemm/prepared.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

namespace fs = std::filesystem;
using sgemm::Plan;
using sgemm::Strings;

// A folder that is gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "ng-autotune-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

GemmProblem problem(Dtype type, std::int64_t m, std::int64_t n, std::int64_t k, const char* layout = "nn") {
  GemmProblem p;
  p.m = m, p.n = n, p.k = k;
  p.a_transposed = layout[0] == 't', p.b_transposed = layout[1] == 't';
  p.a_type = p.b_type = type;
  p.c_type = p.bias_type = type == Dtype::int8 ? Dtype::int32 : type;
  p.lda = p.a_transposed ? m : k;
  p.ldb = p.b_transposed ? k : n;
  p.ldc = n;
  p.a = p.b = p.c = 16;
  return p;
}

class AutotuneTest : public test::OnEmulator {
 protected:
  AutotuneTest() { set_autotune(false); }
  ~AutotuneTest() override {
    sgemm::exchange_tuner(nullptr);
    set_autotune(false);
  }

  Tensor numbers(std::int64_t count, Dtype type) {
    std::vector<float> host(static_cast<std::size_t>(count));
    const bool whole = type == Dtype::int8;
    for (float& v : host) {
      v = static_cast<float>(static_cast<int>(random_() % 255) - 127) * (whole ? 1.0F : 0.0173F);
      if (!whole && random_() % 16 == 0) v *= 4096.0F;  // sums whose order shows
    }
    Tensor out = Tensor::empty({count}, type);
    convert(Tensor::from_host<float>(host, {count}), out);
    return out;
  }
  static std::vector<std::byte> bytes_of(const Tensor& t) {
    std::vector<std::byte> out(t.nbytes());
    t.get(out.data(), out.size());
    return out;
  }
  std::vector<Plan> alternatives(const GemmProblem& p) {
    return sgemm::alternatives(device_.registry(), device_.info().multiprocessors, p);
  }

  // How many plans there are; all of them have the bits of the first.
  std::size_t same_bits(GemmProblem p) {
    const std::int64_t batch = p.batch;
    const Tensor a = numbers(batch * p.m * p.k, p.a_type);
    const Tensor b = numbers(batch * p.k * p.n, p.b_type);
    const Tensor bias = numbers(p.n, p.bias_type);
    const std::int64_t results = (p.sum_batch ? 1 : batch) * p.m * p.n;
    p.a = a.address(), p.b = b.address(), p.c = 256;
    p.workspace = 16;
    if (sgemm::workspace_of(device_, sgemm::reduced(device_.registry(), p), "") == 0) p.workspace = 0;
    p = sgemm::reduced(device_.registry(), p);
    const std::vector<Plan> all = alternatives(p);
    std::set<std::string> names;
    std::vector<std::byte> first;
    for (const Plan& plan : all) {
      EXPECT_TRUE(names.insert(label_of(plan)).second) << label_of(plan);
      const Tensor c = Tensor::zeros({results}, p.c_type);
      const bool apart = finished_apart(plan, p);
      const Tensor parts = Tensor::empty({apart ? plan.splits * p.m * p.n : 1});
      GemmProblem q = p;
      q.c = c.address();
      q.bias = p.bias == 0 ? 0 : bias.address();
      q.workspace = p.workspace == 0 ? 0 : parts.address();
      sgemm::launch(device_, plan, q, 0);
      if (first.empty()) first = bytes_of(c);
      EXPECT_EQ(bytes_of(c), first) << label_of(plan) << " beside " << label_of(all.front());
    }
    return all.size();
  }

  std::mt19937 random_{5};
};

TEST_F(AutotuneTest, PlansOfAClassHaveTheSameBits) {
  const auto at_least = [&](std::size_t least, const GemmProblem& p, const char* what) {
    EXPECT_GE(same_bits(p), least) << what;
  };
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    at_least(3, problem(Dtype::float32, 40, 72, 1808, layout), "ring");
    at_least(3, problem(Dtype::float32, 41, 71, 1805, layout), "ring of rows that begin anywhere");
    at_least(2, problem(Dtype::float16, 72, 160, 384, layout), "tensor cores");
    GemmProblem p = problem(Dtype::float32, 72, 88, 96, layout);
    p.splits = 1;
    at_least(3, p, "a chain");
    p.k = 416, p.splits = 3;
    p.lda = p.a_transposed ? p.m : p.k, p.ldb = p.b_transposed ? p.k : p.n;
    at_least(3, p, "parts");
  }
  GemmProblem p = problem(Dtype::float16, 72, 160, 1600, "nt");
  p.splits = 3;
  p.bias = 16;
  p.activation = GemmActivation::tanh;
  at_least(2, p, "tensor cores, parts");
  p = problem(Dtype::bfloat16, 200, 24, 1024, "tn");
  at_least(2, p, "a short side");
  p = problem(Dtype::int8, 130, 72, 160, "nt");
  at_least(2, p, "bytes");
  p = problem(Dtype::float16, 71, 89, 157);
  at_least(2, p, "float16 without tensor cores");
  for (const Dtype type : {Dtype::float32, Dtype::float16}) {
    p = problem(type, 64, 72, 96);
    p.batch = 3, p.stride_a = 64 * 96, p.stride_b = 72 * 96, p.stride_c = 64 * 72;
    at_least(2, p, "a batch");
    p.sum_batch = true;
    at_least(2, p, "a sum");
  }
}

// A clock that says that the last plan is the fastest.
struct LastWins {
  int calls = 0;
  sgemm::Tuner::Clock clock() {
    return [this](Device&, const GemmProblem&, const std::vector<Plan>& all) {
      ++calls;
      std::vector<double> out;
      for (std::size_t i = 0; i < all.size(); ++i) out.push_back(10.0 - static_cast<double>(i));
      return out;
    };
  }
};

TEST_F(AutotuneTest, MeasuresAFormOnceAndKeepsItInAFile) {
  const Folder folder;
  const std::string cache = folder.path() + "/a/nervanagpu";  // is made
  const GemmProblem p = sgemm::normal_form(problem(Dtype::float32, 72, 88, 160));
  const std::string last = label_of(alternatives(p).back());
  LastWins first;
  sgemm::Tuner tuner(cache, first.clock());
  EXPECT_FALSE(tuner.choose(device_, p, false).has_value());
  EXPECT_EQ(label_of(*tuner.choose(device_, p, true)), last);
  EXPECT_EQ(label_of(*tuner.choose(device_, p, true)), last);
  EXPECT_EQ(label_of(*tuner.choose(device_, p, false)), last);
  EXPECT_EQ(first.calls, 1);
  LastWins second;
  sgemm::Tuner other(cache, second.clock());
  EXPECT_EQ(label_of(*other.choose(device_, p, false)), last);
  GemmProblem wider = p;
  wider.n = wider.ldb = wider.ldc = 96;
  EXPECT_TRUE(other.choose(device_, wider, true).has_value());
  EXPECT_EQ(second.calls, 1);
  EXPECT_EQ(sgemm::Choices(cache, device_.info()).load().size(), 2U);
  struct stat s {};
  ASSERT_EQ(::stat(cache.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777U, 0700U);
  EXPECT_EQ(std::distance(fs::directory_iterator(cache), {}), 1);  // no file is left behind
}

TEST_F(AutotuneTest, NoiseAndClocksThatCannotTellLeaveTheModelsChoice) {
  const GemmProblem p = sgemm::normal_form(problem(Dtype::float32, 72, 88, 160));
  const std::string own = label_of(alternatives(p).front());
  const auto noise = [](Device&, const GemmProblem&, const std::vector<Plan>& all) {
    std::vector<double> out(all.size(), 99.0);
    out.front() = 100.0;
    return out;
  };
  sgemm::Tuner noisy("", noise);
  EXPECT_EQ(label_of(*noisy.choose(device_, p, true)), own);
  sgemm::Tuner here("", &sgemm::microseconds_of);  // the emulator's time means nothing
  EXPECT_EQ(label_of(*here.choose(device_, p, true)), own);
  // Work that was queued before may come to a product of its own while one is measured.
  sgemm::Tuner* self = nullptr;
  bool refused = false;
  sgemm::Tuner nested("", [&](Device& d, const GemmProblem& q, const std::vector<Plan>& all) {
    refused = !self->choose(d, q, true).has_value();
    return std::vector<double>(all.size(), 1.0);
  });
  self = &nested;
  EXPECT_EQ(label_of(*nested.choose(device_, p, true)), own);
  EXPECT_TRUE(refused);
}

// Sums of a result are passes after it, which a measurement has no memory for.
TEST_F(AutotuneTest, IsMeasuredWithoutSums) {
  GemmProblem p = problem(Dtype::float32, 72, 88, 160);
  p.row_sum = p.column_max_abs = 16;
  bool without = false;
  sgemm::Tuner tuner("", [&](Device&, const GemmProblem& q, const std::vector<Plan>& all) {
    without = q.row_sum == 0 && q.column_max_abs == 0;
    return std::vector<double>(all.size(), 1.0);
  });
  EXPECT_TRUE(tuner.choose(device_, sgemm::normal_form(p), true).has_value());
  EXPECT_TRUE(without);
}

TEST_F(AutotuneTest, ProductsAndPlansTakeTheChoice) {
  const GemmProblem p = problem(Dtype::float32, 72, 88, 160);
  const Tensor a = numbers(72 * 160, Dtype::float32).reshape({72, 160});
  const Tensor b = numbers(160 * 88, Dtype::float32).reshape({160, 88});
  const std::vector<std::byte> plain = bytes_of(dot(a, b));
  const std::string own = GemmPlan(p).kernel();
  LastWins wins;
  sgemm::Tuner tuner("", wins.clock());
  sgemm::exchange_tuner(&tuner);
  EXPECT_FALSE(autotune());
  set_autotune(true);
  EXPECT_TRUE(autotune());
  const GemmPlan plan(p);
  EXPECT_NE(plan.kernel(), own);
  EXPECT_EQ(plan.kernel(), alternatives(sgemm::normal_form(p)).back().kernel->name());
  Tensor c = Tensor::zeros({72, 88});
  plan.launch({a.address(), b.address(), c.address()});
  EXPECT_EQ(bytes_of(c), plain);
  EXPECT_EQ(bytes_of(dot(a, b)), plain);
  EXPECT_EQ(wins.calls, 1);  // the same form
  GemmOptions named;
  named.tile = "64x64", named.splits = 1;
  static_cast<void>(dot(a, b, named));
  EXPECT_EQ(wins.calls, 1);  // a tile that is named is taken
  set_autotune(false);
  EXPECT_EQ(GemmPlan(p).kernel(), own);
}

TEST_F(AutotuneTest, DamagedFilesAreNothing) {
  const Folder folder;
  const sgemm::Choices file(folder.path(), device_.info());
  const Strings some = {{"a form", "a kernel"}, {"another form", "another kernel"}};
  file.add(some);
  ASSERT_EQ(file.load(), some);
  std::string text;
  {
    std::ifstream in(file.path());
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto put = [&](const std::string& t) { std::ofstream(file.path(), std::ios::trunc) << t; };
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {  // without "}\n"
    put(text.substr(0, length));
    ASSERT_EQ(file.load(), Strings()) << length;
  }
  std::minstd_rand random(3);
  for (int i = 0; i < 300; ++i) {
    std::string changed = text;
    changed[random() % changed.size()] = static_cast<char>(random());
    put(changed);
    static_cast<void>(file.load());  // whatever it gives
  }
  for (const char* bad :
       {"", "{}", "[]", "null", "{\"file\": 1}", "{\"a\": \"b\"} x", "{\"a\": \"b\", \"a\": \"c\"}"}) {
    put(bad);
    EXPECT_EQ(file.load(), Strings()) << bad;
  }
  put("{\"a\": \"" + std::string(500, 'x') + "\"}");
  EXPECT_EQ(file.load(), Strings());
  put(text);
  EXPECT_EQ(file.load(), some);
  put(std::string(text).replace(text.find("choices 1"), 9, "choices 2"));  // a later form of the file
  EXPECT_EQ(file.load(), Strings());
  file.add({{"a form", "a kernel"}});  // and is written anew
  EXPECT_EQ(file.load().size(), 1U);
}

TEST_F(AutotuneTest, FilesOfOthersAreNotRead) {
  const Folder folder;
  const std::string own = folder.path() + "/own";
  const sgemm::Choices file(own, device_.info());
  const Strings some = {{"a form", "a kernel"}};
  file.add(some);
  ASSERT_EQ(file.load(), some);
  ASSERT_EQ(::chmod(file.path().c_str(), 0666), 0);  // anybody may have written it
  EXPECT_EQ(file.load(), Strings());
  ASSERT_EQ(::chmod(file.path().c_str(), 0600), 0);
  const std::string aside = folder.path() + "/aside";
  fs::rename(file.path(), aside);
  fs::create_symlink(aside, file.path());
  EXPECT_EQ(file.load(), Strings());
  file.add(some);  // replaces the link, and leaves alone where it led
  EXPECT_FALSE(fs::is_symlink(file.path()));
  EXPECT_EQ(file.load(), some);
  fs::remove(file.path());
  ASSERT_EQ(::mkfifo(file.path().c_str(), 0600), 0);  // would wait for a writer
  EXPECT_EQ(file.load(), Strings());
  fs::remove(file.path());
  fs::create_directory(file.path());
  EXPECT_EQ(file.load(), Strings());
  file.add(some);  // cannot
  fs::remove(file.path());
  ASSERT_EQ(::chmod(own.c_str(), 0777), 0);
  file.add(some);
  EXPECT_FALSE(fs::exists(file.path()));
  sgemm::Choices("/proc/none/nervanagpu", device_.info()).add(some);  // nowhere
  if (::geteuid() == 0) {                                             // may give files away
    ASSERT_EQ(::chmod(own.c_str(), 0700), 0);
    file.add(some);
    ASSERT_EQ(::chown(file.path().c_str(), 12345, static_cast<gid_t>(-1)), 0);
    EXPECT_EQ(file.load(), Strings());
  }
}

TEST_F(AutotuneTest, EntriesThatNameNoCandidateAreMeasuredAnew) {
  const Folder folder;
  const GemmProblem p = sgemm::normal_form(problem(Dtype::float32, 72, 88, 160));
  const sgemm::Choices file(folder.path(), device_.info());
  for (const char* kernel : {"", "rm -rf", "sgemm_nn_44_128x128", "sgemm_ring_tt_44_64x64"}) {  // of another class, too
    file.add({{sgemm::words_of(p), kernel}});
    LastWins wins;
    sgemm::Tuner tuner(folder.path(), wins.clock());
    EXPECT_EQ(label_of(*tuner.choose(device_, p, true)), label_of(alternatives(p).back())) << kernel;
    EXPECT_EQ(wins.calls, 1) << kernel;
  }
}

TEST_F(AutotuneTest, ManyWritersAndReaders) {
  const Folder folder;
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const sgemm::Choices file(folder.path(), device_.info());
      for (int i = 0; i < 60; ++i) file.add({{"form " + std::to_string(t) + " " + std::to_string(i), "a kernel"}});
    });
  }
  std::thread reader([&] {
    const sgemm::Choices file(folder.path(), device_.info());
    bool seen = false;
    while (!done.load()) {
      const Strings all = file.load();
      for (const auto& [form, kernel] : all) wrong += kernel == "a kernel" ? 0 : 1;
      wrong += seen && all.empty() ? 1 : 0;  // half of a file would be none
      seen = seen || !all.empty();
    }
  });
  for (std::thread& t : threads) t.join();
  done = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  const sgemm::Choices file(folder.path(), device_.info());
  EXPECT_EQ(file.load().size(), 180U);  // none lost
}

// Every form has words of its own.
TEST_F(AutotuneTest, WordsTellFormsApart) {
  std::set<std::string> all;
  const auto add = [&](const GemmProblem& p) {
    EXPECT_TRUE(all.insert(sgemm::words_of(p)).second) << sgemm::words_of(p);
  };
  const GemmProblem p = problem(Dtype::float16, 72, 88, 160);
  add(p);
  const auto with = [&](auto change) {
    GemmProblem q = p;
    change(q);
    add(q);
  };
  with([](GemmProblem& q) { q.c_type = Dtype::float32; });
  with([](GemmProblem& q) { q.a_transposed = true; });
  with([](GemmProblem& q) { q.b_transposed = true; });
  with([](GemmProblem& q) { q.m = 73; });
  with([](GemmProblem& q) { q.ldc = 96; });
  with([](GemmProblem& q) { q.a = 2; });
  with([](GemmProblem& q) { q.bias = 8; });
  with([](GemmProblem& q) { q.bias = 8, q.bias_type = Dtype::float32; });
  with([](GemmProblem& q) { q.beta = 1; });
  with([](GemmProblem& q) { q.activation = GemmActivation::gelu; });
  with([](GemmProblem& q) { q.splits = 2; });
  with([](GemmProblem& q) { q.workspace = 16; });
  with([](GemmProblem& q) { q.batch = 2, q.stride_c = 9999; });
  with([](GemmProblem& q) { q.batch = 2, q.stride_c = 9999, q.sum_batch = true; });
  with([](GemmProblem& q) { q.tensor_cores = false; });
  with([](GemmProblem& q) { q.precision = Precision::tensor; });
}

}  // namespace
}  // namespace nervanagpu
