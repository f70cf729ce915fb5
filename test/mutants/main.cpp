// The mutation test of the hazard proof.
//
//   mutants --each N [--seed S] [--json FILE]                 on the emulator: verify against checked mode
//   mutants --gpu NOISE.sass --each N --log FILE [--seed S]   on a GPU: verify against the chip
//
// On the emulator every mutant is classified by verify and run in checked mode: whatever a run finds, the proof must
// have found. On a GPU each mutant whose possible errors stay in data runs several times, alone and beside a busy kernel;
// one that ever gives a wrong bit must have been flagged. The log has a line for each; the process ends at a device error,
// and started again with the same log goes on behind the mutant that caused it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <random>
#include <set>
#include <stdexcept>

#include "sass/isa/codec.h"
#include "sass/isa/control.h"
#include "sass/isa/latency.h"
#include "src/cuda_device.h"
#include "src/select_device.h"
#include "test/mutants/danger.h"
#include "test/mutants/mutate.h"
#include "test/mutants/replay.h"

namespace nervanagpu::test {
namespace {

struct Arguments {
  std::size_t each = 40;
  unsigned seed = 1;
  std::string json, noise, log, only;
  std::string templates = NG_SOURCE_DIR "/test/mutants";
};

struct Chosen {
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

std::vector<Chosen> choose(const sass::KernelImage& right, const Arguments& arguments) {
  std::vector<Mutant> all = mutants_of(sass::Arch::sm_90a, right);
  std::shuffle(all.begin(), all.end(), std::mt19937(arguments.seed));
  if (all.size() > arguments.each) all.resize(arguments.each);
  const Danger danger(sass::Arch::sm_90a, right);
  std::vector<Chosen> out;
  for (const Mutant& m : all) {
    const std::vector<sass::Hazard> hazards = sass::verify(sass::Arch::sm_90a, m.of(right));
    Chosen c{m, !hazards.empty(), true, hazards.empty() ? "" : hazards[0].text};
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
         ", \"to\": " + std::to_string(c.mutant.to) + ", \"flagged\": " + (c.flagged ? "true" : "false");
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
    if (!sass::verify(sass::Arch::sm_90a, s.image).empty()) throw std::runtime_error(s.name + " is not proven");
    std::vector<Buffer> right = s.launch.after;
    const Outcome baseline = emulate(device, s, s.image, right);
    if (baseline.reported) throw std::runtime_error(s.name + ": " + baseline.text);
    if (right.empty()) {
      for (const Buffer& b : s.launch.before) {
        right.push_back(b);
        device.download(right.back().bytes.data(), b.address, b.bytes.size());
      }
    }
    const std::size_t before = count;
    std::size_t here = 0;
    for (const Chosen& c : choose(s.image, arguments)) {
      const Outcome o = emulate(device, s, c.mutant.of(s.image), right);
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

// Mutants that the log has already: begun is enough, for one that never ended broke the process.
std::set<std::size_t> logged(const std::string& path) {
  std::set<std::size_t> done;
  std::ifstream in(path);
  for (std::string row; std::getline(in, row);) {
    if (row.rfind("begin ", 0) == 0) done.insert(std::stoul(row.substr(6)));
  }
  return done;
}

int on_gpu(const Arguments& arguments) {
  constexpr int kAlone = 3, kNoisy = 6;
  constexpr std::size_t kBatch = 64;
  const cuda::DriverLoad& load = cuda::load_driver();
  if (load.driver == nullptr) throw std::runtime_error(load.why);
  static_cast<void>(load.driver->init(0));
  CudaDevice device(*load.driver, 0, embedded_cubins(), sass::Arch::sm_90a, false);
  std::vector<std::unique_ptr<Recorder>> recorders;
  const std::vector<Subject> all = subjects(device, arguments.templates, recorders);
  Chip chip(device, arguments.noise);
  const std::set<std::size_t> done = logged(arguments.log);
  std::ofstream log(arguments.log, std::ios::app);
  std::vector<std::future<std::vector<Chosen>>> judged;  // verify takes longer than the chip
  judged.reserve(all.size());
  for (const Subject& s : all) {
    judged.push_back(std::async(
        std::launch::async, [&] { return wanted(s, arguments) ? choose(s.image, arguments) : std::vector<Chosen>(); }));
  }
  std::size_t number = 0;
  for (std::size_t which_subject = 0; which_subject < all.size(); ++which_subject) {
    const Subject& s = all[which_subject];
    const std::vector<Chosen> chosen = judged[which_subject].get();
    if (chosen.empty()) continue;
    const cuda::Function right_function = chip.load(s, {s.image}).at(0);
    const std::vector<Buffer> right = chip.run(s, right_function, false);
    for (int turn = 0; turn < kAlone + kNoisy; ++turn) {
      if (right.empty() || !equal(right, chip.run(s, right_function, turn >= kAlone))) {
        throw std::runtime_error(s.name + ": the right kernel does not repeat itself " + chip.failure());
      }
    }
    for (std::size_t first = 0; first < chosen.size(); first += kBatch) {
      std::vector<sass::KernelImage> images;
      std::vector<std::size_t> which;
      for (std::size_t i = first; i < std::min(first + kBatch, chosen.size()); ++i) {
        if (done.count(number + i) != 0) continue;
        if (!chosen[i].harmless) {
          log << "begin " << number + i << "\n" << describe(s, chosen[i]) << ", \"run\": false}\n";
          continue;
        }
        which.push_back(i);
        images.push_back(chosen[i].mutant.of(s.image));
      }
      if (which.empty()) continue;
      const std::vector<cuda::Function> functions = chip.load(s, std::move(images));
      for (std::size_t k = 0; k < which.size(); ++k) {
        const Chosen& c = chosen[which[k]];
        log << "begin " << number + which[k] << "\n" << std::flush;
        int wrong = 0;
        for (int turn = 0; turn < kAlone + kNoisy; ++turn) {
          const std::vector<Buffer> now = chip.run(s, functions[k], turn >= kAlone);
          if (now.empty()) {
            log << describe(s, c) << ", \"run\": true, \"failed\": " << quoted(chip.failure()) << "}\n" << std::flush;
            std::_Exit(3);
          }
          wrong += equal(now, right) ? 0 : 1;
        }
        log << describe(s, c) << ", \"run\": true, \"wrong\": " << wrong << ", \"of\": " << kAlone + kNoisy;
        if (wrong > 0 && !c.flagged)
          log << ", \"text\": "
              << quoted(
                     sass::print(*sass::decode(sass::Arch::sm_90a, s.image.code[c.mutant.index], 16 * c.mutant.index)));
        log << "}\n" << std::flush;
      }
    }
    number += chosen.size();
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
    else if (v[i] == "--templates")
      out.templates = v[i + 1];
    else
      throw std::runtime_error("unknown option " + v[i]);
  }
  if (v.size() % 2 != 0) throw std::runtime_error("option " + v.back() + " lacks its value");
  if (!out.noise.empty() && out.log.empty()) throw std::runtime_error("--gpu needs --log FILE");
  return out;
}

}  // namespace
}  // namespace nervanagpu::test

int main(int count, char** values) {
  try {
    const auto arguments = nervanagpu::test::read(count, values);
    return arguments.noise.empty() ? nervanagpu::test::on_emulator(arguments) : nervanagpu::test::on_gpu(arguments);
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "mutants: %s\n", wrong.what());
    return 2;
  }
}
