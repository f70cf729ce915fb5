// The mutation test of the hazard proof.
//
//   mutants --each N [--seed S] [--json FILE]                    on the emulator: verify against checked mode
//   mutants --each N [--seed S] --plan FILE                      draws mutants of each kernel and has verify judge them
//   mutants --gpu NOISE.sass --plan FILE --subject NAME --log FILE [--dangerous 1]     on a GPU: a kernel's mutants of a plan
//   mutants --gpu NOISE.sass --subject NAME --number N --runs R   one mutant and the right kernel, R times alone and beside noise
//
// On the emulator every mutant is classified by verify and run in checked mode: whatever a run finds, the proof must
// have found. On a GPU each mutant runs several times, alone and beside a busy kernel; one that ever gives a wrong bit must have
// been flagged. Without --dangerous only those run whose possible errors stay in data; the others may end in a device error or
// not at all, so that benchmarks/mutants.py watches the process. The log has a line for each; the process ends at a device
// error, and started again with the same log goes on after the mutant that caused it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "sass/isa/codec/codec.h"
#include "sass/isa/control.h"
#include "sass/isa/latency.h"
#include "src/device/cuda_device.h"
#include "src/device/select_device.h"
#include "test/mutants/danger.h"
#include "test/mutants/mutate.h"
#include "test/mutants/replay.h"

namespace nervanagpu::test {
namespace {

struct Arguments {
  std::size_t each = 40;
  unsigned seed = 1;
  std::string json, noise, log, only, plan, subject;
  std::size_t number = 0;  // among mutants_of()
  int runs = 0;
  bool dangerous = false;
  std::string templates = NG_SOURCE_DIR "/test/mutants";
};

struct Chosen {
  std::size_t number = 0;  // among mutants_of()
  Mutant mutant;
  bool flagged = false;
  bool harmless = true;
  std::string why;
};

// The hazards of a mutant as the chip runs it: a long stall without the yield bit is hardly a stall.
std::vector<sass::Hazard> effective_hazards(const sass::KernelImage& right, const Mutant& m) {
  sass::KernelImage k = m.of(right);
  sass::Control c = sass::get_control(k.code[m.index]);
  if (!c.yield && c.stall >= sass::kYieldStall) {
    c.stall = 2;
    k.code[m.index] = sass::put_control(k.code[m.index], c);
  }
  return sass::verify(sass::Arch::sm_90a, k);
}

// By field in turns, so that the few waits and scoreboards of a kernel are among them, and not only stalls.
std::vector<std::size_t> drawn(const std::vector<Mutant>& all, const Arguments& arguments) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(arguments.seed));
  std::map<std::string, std::vector<std::size_t>> by_field;
  for (const std::size_t i : order) by_field[all[i].field].push_back(i);
  std::vector<std::size_t> out;
  for (std::size_t turn = 0; out.size() < std::min(all.size(), arguments.each); ++turn) {
    for (const auto& [field, numbers] : by_field) {
      if (turn < numbers.size() && out.size() < arguments.each) out.push_back(numbers[turn]);
    }
  }
  return out;
}

std::vector<Chosen> choose(const sass::KernelImage& right, const Arguments& arguments) {
  const std::vector<Mutant> all = mutants_of(sass::Arch::sm_90a, right);
  const Danger danger(sass::Arch::sm_90a, right);
  std::vector<Chosen> out;
  for (const std::size_t number : drawn(all, arguments)) {
    const Mutant& m = all[number];
    const std::vector<sass::Hazard> hazards = sass::verify(sass::Arch::sm_90a, m.of(right));
    Chosen c{number, m, !hazards.empty(), true, hazards.empty() ? "" : hazards[0].text};
    if (c.flagged) c.harmless = danger.harmless(hazards);
    const sass::Control control = sass::get_control(m.word);
    if (c.harmless && !control.yield && control.stall >= sass::kYieldStall) {
      c.harmless = danger.harmless(effective_hazards(right, m));
    }
    out.push_back(std::move(c));
  }
  return out;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string describe(const Subject& s, const Chosen& c) {
  return "{\"kernel\": " + quoted(s.name) + ", \"index\": " + std::to_string(c.mutant.index) +
         ", \"field\": " + quoted(c.mutant.field) + ", \"from\": " + std::to_string(c.mutant.from) +
         ", \"to\": " + std::to_string(c.mutant.to) + ", \"flagged\": " + (c.flagged ? "true" : "false") +
         ", \"harmless\": " + (c.harmless ? "true" : "false");
}

bool wanted(const Subject& s, const Arguments& arguments) {
  return arguments.only.empty() || s.name.find(arguments.only) != std::string::npos;
}

int on_emulator(const Arguments& arguments) {
  EmulatorDevice device(embedded_cubins(), sass::Arch::sm_90a, true, std::size_t{1} << 28);
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::size_t count = 0, flagged = 0, reported = 0, both = 0, missed = 0;
  for (const Subject& s : subjects(device, arguments.templates, recorders)) {
    if (!wanted(s, arguments)) continue;
    if (!sass::verify(sass::Arch::sm_90a, s.launch.image).empty()) throw std::runtime_error(s.name + " is not proven");
    std::vector<Buffer> right = s.launch.after;
    const Outcome baseline = emulate(device, s, s.launch.image, right);
    if (baseline.reported) throw std::runtime_error(s.name + ": " + baseline.text);
    if (right.empty()) {
      for (const Buffer& b : s.launch.before) {
        right.push_back(b);
        device.download(right.back().bytes.data(), b.address, b.bytes.size());
      }
    }
    const std::size_t before = count;
    std::size_t here = 0;
    for (const Chosen& c : choose(s.launch.image, arguments)) {
      const Outcome o = emulate(device, s, c.mutant.of(s.launch.image), right);
      ++count;
      flagged += c.flagged;
      here += c.flagged;
      reported += o.reported;
      both += o.reported && c.flagged;
      if ((o.reported || !o.same) && !c.flagged) {
        ++missed;
        std::printf("missed: %s}: %s\n", describe(s, c).c_str(), o.text.c_str());
      }
    }
    std::printf("%-60s %5zu mutants, %5zu flagged\n", s.name.c_str(), count - before, here);
  }
  std::printf("%zu mutants: %zu flagged by verify, %zu found by checked runs, %zu of them flagged, %zu missed\n", count,
              flagged, reported, both, missed);
  if (!arguments.json.empty()) {
    std::ofstream(arguments.json) << "{\"mutants\": " << count << ", \"flagged\": " << flagged
                                  << ", \"found by checked runs\": " << reported << ", \"of them flagged\": " << both
                                  << ", \"missed\": " << missed << "}\n";
  }
  return missed == 0 && flagged > 0 && reported > 0 ? 0 : 1;
}

// A line for each mutant: subject, number among mutants_of(), flagged, harmless.
int make_plan(const Arguments& arguments) {
  EmulatorDevice device(embedded_cubins(), sass::Arch::sm_90a, false, std::size_t{1} << 28);
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<Subject> all = subjects(device, arguments.templates, recorders);
  std::erase_if(all, [&](const Subject& s) { return !wanted(s, arguments); });
  std::ofstream out(arguments.plan);
  std::size_t count = 0;
  const std::size_t workers = std::max(std::thread::hardware_concurrency(), 1U);
  for (std::size_t first = 0; first < all.size(); first += workers) {
    std::vector<std::future<std::vector<Chosen>>> judged;
    for (std::size_t i = first; i < std::min(first + workers, all.size()); ++i) {
      judged.push_back(std::async(std::launch::async, [&, i] { return choose(all[i].launch.image, arguments); }));
    }
    for (std::size_t i = 0; i < judged.size(); ++i) {
      for (const Chosen& c : judged[i].get()) {
        out << all[first + i].name << "\t" << c.number << "\t" << c.flagged << "\t" << c.harmless << "\n";
        ++count;
      }
    }
  }
  out.close();
  if (!out) throw std::runtime_error("cannot write " + arguments.plan);
  std::printf("%zu mutants of %zu kernels\n", count, all.size());
  return 0;
}

std::vector<Chosen> planned(const Subject& s, const Arguments& arguments) {
  const std::vector<Mutant> all = mutants_of(sass::Arch::sm_90a, s.launch.image);
  std::vector<Chosen> out;
  std::ifstream in(arguments.plan);
  for (std::string row; std::getline(in, row);) {
    std::istringstream fields(row);
    std::string name;
    Chosen c;
    std::getline(fields, name, '\t');
    if (name != s.name || !(fields >> c.number >> c.flagged >> c.harmless)) continue;
    c.mutant = all.at(c.number);
    out.push_back(c);
  }
  return out;
}

// Mutants that the log has already: begun is enough, for one that never ended broke the process.
std::set<std::size_t> logged(const std::string& path) {
  std::set<std::size_t> done;
  std::ifstream in(path);
  for (std::string row; std::getline(in, row);) {
    if (row.rfind("begin ", 0) == 0) done.insert(std::stoul(row.substr(6)));
  }
  return done;
}

const cuda::Driver& the_driver() {
  const cuda::DriverLoad& load = cuda::load_driver();
  if (load.driver == nullptr) throw std::runtime_error(load.why);
  static_cast<void>(load.driver->init(0));
  return *load.driver;
}

// Prints how often each was another result than the right kernel's first one.
int repeat(const Arguments& arguments) {
  CudaDevice device(the_driver(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
  std::vector<std::unique_ptr<Recorder>> recorders;
  const Subject s = subject(device, arguments.templates, arguments.subject, recorders);
  Chip chip(device, arguments.noise);
  const Mutant mutant = mutants_of(sass::Arch::sm_90a, s.launch.image).at(arguments.number);
  std::printf("%s: %u, %s from %d to %d\n", s.name.c_str(), mutant.index, mutant.field, mutant.from, mutant.to);
  const std::vector<cuda::Function> functions = chip.load(s, {s.launch.image, mutant.of(s.launch.image)});
  const std::vector<Buffer> right = chip.run(s, functions[0], false);
  int wrong[2][2] = {};
  for (int run = 0; run < arguments.runs; ++run) {
    for (const bool noisy : {false, true}) {
      for (const bool mutated : {false, true}) {  // in turns, under the same conditions
        const std::vector<Buffer> now = chip.run(s, functions[mutated ? 1 : 0], noisy);
        if (now.empty()) throw std::runtime_error(chip.failure());
        wrong[mutated][noisy] += equal(now, right) ? 0 : 1;
      }
    }
  }
  std::printf("of %d runs each: right kernel wrong %d alone, %d beside noise; mutant %d alone, %d beside noise\n",
              arguments.runs, wrong[0][0], wrong[0][1], wrong[1][0], wrong[1][1]);
  std::fflush(stdout);
  std::_Exit(0);
}

int on_gpu(const Arguments& arguments) {
  constexpr int kAlone = 3, kNoisy = 6;
  constexpr std::size_t kBatch = 64;
  CudaDevice device(the_driver(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
  std::vector<std::unique_ptr<Recorder>> recorders;
  const Subject s = subject(device, arguments.templates, arguments.subject, recorders);
  Chip chip(device, arguments.noise);
  const std::set<std::size_t> done = logged(arguments.log);
  std::ofstream log(arguments.log, std::ios::app);
  const cuda::Function right_function = chip.load(s, {s.launch.image}).at(0);
  const std::vector<Buffer> right = chip.run(s, right_function, false);
  for (int turn = 0; turn < kAlone + kNoisy; ++turn) {
    if (right.empty() || !equal(right, chip.run(s, right_function, turn >= kAlone))) {
      throw std::runtime_error(s.name + ": the right kernel does not repeat itself " + chip.failure());
    }
  }
  std::vector<Chosen> chosen = planned(s, arguments);
  // What may break the process comes last.
  std::ranges::stable_sort(chosen, [](const Chosen& a, const Chosen& b) { return a.harmless && !b.harmless; });
  for (std::size_t first = 0; first < chosen.size(); first += kBatch) {
    std::vector<sass::KernelImage> images;
    std::vector<std::size_t> which;
    for (std::size_t i = first; i < std::min(first + kBatch, chosen.size()); ++i) {
      if (done.count(chosen[i].number) != 0 || (!chosen[i].harmless && !arguments.dangerous)) continue;
      which.push_back(i);
      images.push_back(chosen[i].mutant.of(s.launch.image));
    }
    if (which.empty()) continue;
    const std::vector<cuda::Function> functions = chip.load(s, std::move(images));
    for (std::size_t k = 0; k < which.size(); ++k) {
      const Chosen& c = chosen[which[k]];
      log << "begin " << c.number << " " << describe(s, c) << "}\n" << std::flush;
      int wrong = 0;
      for (int turn = 0; turn < kAlone + kNoisy; ++turn) {
        const std::vector<Buffer> now = chip.run(s, functions[k], turn >= kAlone);
        if (now.empty()) {
          log << describe(s, c) << ", \"run\": true, \"wrong\": " << wrong << ", \"failed\": " << quoted(chip.failure())
              << "}\n"
              << std::flush;
          std::_Exit(3);
        }
        wrong += equal(now, right) ? 0 : 1;
      }
      log << describe(s, c) << ", \"run\": true, \"wrong\": " << wrong << ", \"of\": " << kAlone + kNoisy;
      if (wrong > 0 && !c.flagged) {
        const std::uint64_t at = 16 * std::uint64_t{c.mutant.index};
        log << ", \"text\": "
            << quoted(sass::print(*sass::decode(sass::Arch::sm_90a, s.launch.image.code[c.mutant.index], at)));
      }
      log << "}\n" << std::flush;
    }
  }
  log << "end\n" << std::flush;
  std::_Exit(0);  // nothing to be said to a driver at exit
}

Arguments read(int count, char** values) {
  Arguments out;
  const std::vector<std::string> v(values + 1, values + count);
  for (std::size_t i = 0; i + 1 < v.size(); i += 2) {
    if (v[i] == "--each")
      out.each = std::stoul(v[i + 1]);
    else if (v[i] == "--seed")
      out.seed = static_cast<unsigned>(std::stoul(v[i + 1]));
    else if (v[i] == "--json")
      out.json = v[i + 1];
    else if (v[i] == "--gpu")
      out.noise = v[i + 1];
    else if (v[i] == "--log")
      out.log = v[i + 1];
    else if (v[i] == "--only")
      out.only = v[i + 1];
    else if (v[i] == "--plan")
      out.plan = v[i + 1];
    else if (v[i] == "--subject")
      out.subject = v[i + 1];
    else if (v[i] == "--number")
      out.number = std::stoul(v[i + 1]);
    else if (v[i] == "--runs")
      out.runs = std::stoi(v[i + 1]);
    else if (v[i] == "--dangerous")
      out.dangerous = v[i + 1] == "1";
    else if (v[i] == "--templates")
      out.templates = v[i + 1];
    else
      throw std::runtime_error("unknown option " + v[i]);
  }
  if (v.size() % 2 != 0) throw std::runtime_error("option " + v.back() + " lacks its value");
  if (!out.noise.empty() && out.runs == 0 && (out.log.empty() || out.plan.empty() || out.subject.empty())) {
    throw std::runtime_error("--gpu needs --plan FILE, --subject NAME and --log FILE");
  }
  return out;
}

}  // namespace
}  // namespace nervanagpu::test

int main(int count, char** values) {
  try {
    const auto arguments = nervanagpu::test::read(count, values);
    if (!arguments.noise.empty() && arguments.runs > 0) return nervanagpu::test::repeat(arguments);
    if (!arguments.noise.empty()) return nervanagpu::test::on_gpu(arguments);
    return arguments.plan.empty() ? nervanagpu::test::on_emulator(arguments) : nervanagpu::test::make_plan(arguments);
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "mutants: %s\n", wrong.what());
    return 2;
  }
}
