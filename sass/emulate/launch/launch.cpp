// run(): clusters of CTAs are handed out to host threads; each runs its warps in turn until none can go on.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>
#include <tuple>

#include "sass/cubin_abi.h"
#include "sass/emulate/checked/check.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/launch/warp_scheduler.h"
#include "sass/emulate/machine/barriers.h"
#include "sass/emulate/machine/deadlock.h"
#include "sass/emulate/machine/groups.h"
#include "sass/emulate/state/cluster.h"
#include "sass/emulate/state/grid.h"
#include "sass/emulate/state/spin.h"
#include "sass/isa/occupancy.h"

namespace nervanagpu::sass::emulate {
namespace {

// Asking for an mbarrier that nobody changes, this often, is a deadlock.
constexpr std::uint32_t kIdleRounds = 1u << 16;

std::uint64_t volume(const Dim3& d) {
  return std::uint64_t{d.x} * d.y * d.z;
}

std::array<std::uint32_t, 3> cluster_of(const Kernel& kernel, const Launch& launch) {
  return launch.cluster == 0 ? kernel.cluster : std::array<std::uint32_t, 3>{launch.cluster, 1, 1};
}

// What ptxas reads of the cluster: whether the kernel states one, its size, the reciprocals of it, that turn a CTA's index
// into a cluster's, and how many there are.
template <class Put>
void put_cluster(const Kernel& kernel, const Launch& launch, Put put) {
  const std::uint32_t grid[3] = {launch.grid.x, launch.grid.y, launch.grid.z};
  const std::array<std::uint32_t, 3> cluster = cluster_of(kernel, launch);
  put(0x140, launch.in_clusters(kernel) ? 1u : 0u);
  std::uint32_t count = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t n = cluster[i];
    put(0x144 + 4 * i, n);
    put(0x150 + 4 * i, 1.0F / static_cast<float>(n));
    put(0x15c + 4 * i, grid[i] / n);
    count *= n;
  }
  put(0x188, count);
}

// c[0]: block and grid sizes, the stack pointer, windows, the memory descriptor, the parameters; then c[2], c[3], c[4].
std::vector<std::byte> constants_of(const Kernel& kernel, const Launch& launch) {
  std::vector<std::byte> c(kernel.const_bytes);
  if (!kernel.constant0.empty()) {
    std::memcpy(c.data(), kernel.constant0.data(), std::min(kernel.constant0.size(), c.size()));
  }
  const auto put = [&](std::size_t at, auto value) { std::memcpy(c.data() + at, &value, sizeof value); };
  const ArchInfo& a = info(kernel.arch);
  const bool maxwell = a.encoding == Encoding::k64;
  const std::size_t sizes = maxwell ? 0x8 : 0;
  put(sizes, launch.block.x);
  put(sizes + 0x4, launch.block.y);
  put(sizes + 0x8, launch.block.z);
  put(sizes + 0xc, launch.grid.x);
  put(sizes + 0x10, launch.grid.y);
  put(sizes + 0x14, launch.grid.z);
  if (maxwell) {
    put(0x0, kSharedWindow32);
    put(0x4, kLocalWindow32);
    put(0x20, kernel.local);
  } else {
    put(0x20, kLocalWindow);
    put(0x28, kernel.local);
  }
  const bool middle = a.number >= 70 && a.number < 90;
  if (middle) put(0x18, kSharedWindow);
  put(middle ? 0x50 : 0xd0, kConstantWindow);
  if (a.descriptor != 0) put(a.descriptor, std::uint64_t{0x0000'1000'0000'0001});
  if (a.number == 90) {
    put(0x198, kParamWindow);
    put_cluster(kernel, launch, put);
  }
  const auto fill = [&](unsigned bank, const std::vector<std::uint8_t>& bytes) {
    if (!bytes.empty()) std::memcpy(c.data() + std::size_t{kConstantBank} * bank, bytes.data(), bytes.size());
  };
  fill(static_cast<unsigned>(bank_slot(2)), kernel.constant2);
  if (kernel.banks != nullptr) {
    fill(static_cast<unsigned>(bank_slot(3)), kernel.banks->constant3);
    fill(static_cast<unsigned>(bank_slot(4)), kernel.banks->constant4);
  }
  if (!launch.params.empty()) std::memcpy(c.data() + a.param_base, launch.params.data(), launch.params.size());
  return c;
}

// A host thread's cluster of CTAs: its storage is kept from one to the next.
class Runner {
 public:
  explicit Runner(Grid& grid) : grid_(grid), spin_(grid.spins), checked_(grid.launch.mode == Mode::kChecked) {
    const Kernel& k = *grid.kernel;
    threads_ = static_cast<std::uint32_t>(volume(grid.launch.block));
    const std::array<std::uint32_t, 3> c = cluster_of(k, grid.launch);
    cluster_.ctas.resize(std::size_t{c[0]} * c[1] * c[2]);
    for (Cta& cta : cluster_.ctas) {
      cta.grid = &grid;
      cta.cluster = &cluster_;
      cta.rank = static_cast<std::uint32_t>(&cta - cluster_.ctas.data());
      cta.warps.resize((threads_ + kLanes - 1) / kLanes);
      cta.files.resize(std::size_t{k.row_count} * kLanes * cta.warps.size() + 16);
      cta.shared.resize(shared_of(k.shared + grid.launch.dynamic_shared));
      cta.local.resize(std::size_t{k.local} * kLanes * cta.warps.size());
      if (checked_) checkers_.push_back(std::make_unique<Checker>(grid, order_));
    }
  }

  // A chip hands out shared memory by 128 bytes and lets a CTA touch all that it got; checked mode knows what was asked.
  [[nodiscard]] std::size_t shared_of(std::size_t asked) const {
    constexpr std::size_t kUnit = 128;
    return checked_ ? asked : (asked + kUnit - 1) / kUnit * kUnit;
  }

  // Takes the next cluster; false: there is none.
  bool take() {
    const Dim3& g = grid_.launch.grid;
    const std::uint64_t total = volume(g) / cluster_.ctas.size();
    if (grid_.stopped.load(std::memory_order_relaxed)) return false;
    std::uint64_t n = grid_.next.fetch_add(1, std::memory_order_relaxed);
    if (n >= total) return false;
    if (grid_.launch.last_cta_first) n = total - 1 - n;
    cluster_.phase = 0;
    cluster_.pending = cluster_.unmade = cluster_.made_up = false;
    idle_ = 0;
    if (checked_) {
      order_.begin(static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(cluster_.ctas.size()),
                   static_cast<std::uint32_t>(cluster_.ctas[0].warps.size()));
    }
    for (Cta& cta : cluster_.ctas) {
      cta.id = grid_.cta_at(n, cta.rank);
      begin(cta);
    }
    scheduler_.begin(cluster_.ctas, grid_.launch.order, n);
    return true;
  }

  enum class Went : std::uint8_t { kOn, kWaits, kToEnd, kWrong };  // kWaits: nothing that concerns others happened
  // Some warps of the cluster have a quantum.
  Went round() {
    bool moved = false;
    bool polls_alone = true;
    bool slices_alone = true;  // every warp that ran used up its time slice
    bool preempted = false;
    const std::uint64_t progress = cluster_.progress();
    for (const WarpScheduler::Quantum& quantum : scheduler_.round()) {
      Warp& w = *quantum.warp;
      if (w.live == 0) continue;
      const bool ready =
          std::any_of(w.groups.begin(), w.groups.end(), [](const Group& g) { return g.state == Group::State::kReady; });
      if (!ready) continue;
      moved = true;
      w.polls = false;
      w.quantum = quantum.instructions;
      if (!run_warp(w)) return Went::kWrong;
      preempted = w.stop == Stop::kQuantumOver;
      polls_alone = polls_alone && w.polls;
      slices_alone = slices_alone && w.stop == Stop::kYield;
    }
    for (Cta& cta : cluster_.ctas) {
      if (cta.pending != 0 && release_barriers(cta)) {
        moved = true;
        polls_alone = slices_alone = false;
      }
    }
    if (release_cluster(cluster_)) {
      moved = true;
      slices_alone = false;
    }
    const bool alive = std::any_of(cluster_.ctas.begin(), cluster_.ctas.end(), [](const Cta& cta) {
      return std::any_of(cta.warps.begin(), cta.warps.end(), [](const Warp& w) { return w.live != 0; });
    });
    if (!alive) {
      spin_.moved();
      return Went::kToEnd;
    }
    const bool event = cluster_.progress() != progress || !(slices_alone || polls_alone || preempted);
    scheduler_.ran(event);
    if (!scheduler_.whole() && !event) return Went::kOn;
    idle_ = polls_alone && cluster_.progress() == progress ? idle_ + 1 : 0;
    const bool waits = moved && slices_alone && cluster_.progress() == progress;
    if (!waits) spin_.moved();
    if (idle_ == kIdleRounds && cluster_.unmade && !cluster_.made_up) {
      cluster_.made_up = true;
      idle_ = 0;
      return Went::kOn;
    }
    if (moved && idle_ != kIdleRounds && !(waits && !polls_alone && spin_.idle(cluster_))) {
      return waits ? Went::kWaits : Went::kOn;
    }
    report_deadlock(cluster_);
    return Went::kWrong;
  }

  // The cluster is done.
  void end() {
    for (Cta& cta : cluster_.ctas) {
      if (checked_) cta.checker->end(cta);
    }
  }

  void run_all() {
    while (take()) {
      Went went = Went::kOn;
      while (went == Went::kOn || went == Went::kWaits) went = round();
      if (went == Went::kWrong) break;
      end();
    }
    leave();
  }

  // It takes no more clusters; what was found goes to the report.
  void leave() {
    spin_.moved();
    grid_.spins.left();
    std::uint64_t instructions = count_;
    std::vector<Finding> findings;
    for (const Cta& cta : cluster_.ctas) {
      for (const Warp& w : cta.warps) instructions += w.instructions;
      if (!checked_) continue;
      for (Finding& f : checkers_[cta.rank]->take()) findings.push_back(std::move(f));
    }
    const std::lock_guard lock(grid_.mutex);
    grid_.report.warp_instructions += instructions;
    for (Finding& f : findings) {
      const auto same = std::find_if(grid_.report.findings.begin(), grid_.report.findings.end(), [&](const Finding& o) {
        return o.what == f.what && o.pc == f.pc && o.other == f.other;
      });
      if (same == grid_.report.findings.end()) {
        grid_.report.findings.push_back(std::move(f));
        continue;
      }
      const std::uint64_t sum = same->count + f.count;
      const auto place = [](const Finding& o) {
        return std::tie(o.cta[2], o.cta[1], o.cta[0], o.warp, o.lane, o.detail);
      };
      if (place(f) < place(*same)) *same = std::move(f);
      same->count = sum;
    }
  }

 private:
  void begin(Cta& cta) {
    const Kernel& k = *grid_.kernel;
    const ArchInfo& a = info(k.arch);
    std::fill(cta.files.begin(), cta.files.end(), checked_ ? kPoison : 0);
    std::fill(cta.shared.begin(), cta.shared.end(), std::byte{0});
    std::fill(cta.local.begin(), cta.local.end(), std::byte{0});
    cta.barriers.fill(NamedBarrier{});
    cta.pending = 0;
    cta.mbarriers.clear();
    cta.cluster_arrived.fill(0);
    cta.free_registers = 0;
    cta.touched_until = 0;
    // Rows on cache lines.
    const auto base = reinterpret_cast<std::uintptr_t>(cta.files.data());
    std::uint32_t* file = cta.files.data() + (64 - base % 64) % 64 / 4;
    for (std::uint32_t i = 0; i < cta.warps.size(); ++i) {
      Warp& w = cta.warps[i];
      count_ += w.instructions;
      w.file = file + std::size_t{k.row_count} * kLanes * i;
      std::fill_n(w.file, std::size_t{rows::kFirst} * kLanes, 0u);
      w.pred.fill(0);
      w.pred[preds::kTrue] = kAllLanes;
      w.pred[preds::kUniform + preds::kTrue] = kAllLanes;
      w.ureg.fill(0);
      w.code = k.uops.data();
      w.constants = grid_.constants.data();
      w.shared = cta.shared.data();
      w.shared_base = a.shared_base;
      w.shared_bytes = static_cast<std::uint32_t>(cta.shared.size());
      w.memory = grid_.memory;
      w.cta = &cta;
      w.checker = nullptr;
      w.stop = Stop::kNone;
      w.quantum = 0;
      w.instructions = w.counted = 0;
      w.overtime = 0;
      w.index = i;
      w.rotate = false;
      w.barrier_result = 0;
      w.cluster_owed = 0;
      w.registers = k.registers;
      w.cluster_phase = 0;
      w.local = cta.local.data() + std::size_t{k.local} * kLanes * i;
      w.local_bytes = k.local;
      for (auto& b : w.convergence) b.fill(0);
      const std::uint32_t left = threads_ - i * kLanes;
      w.live = left >= kLanes ? kAllLanes : (1u << left) - 1;
      w.groups.assign(1, Group{.mask = w.live, .pc = 0});
      w.stacked = a.encoding == Encoding::k64;
      w.tokens.assign(w.stacked ? 1 : 0, Token{});
      w.current = 0;
    }
    if (checked_) checkers_[cta.rank]->begin(cta);
  }

  Grid& grid_;
  Cluster cluster_;
  Order order_;
  WarpScheduler scheduler_;
  SpinWatch spin_;
  std::uint32_t idle_ = 0;                          // rounds in a row in which all that run only asked for an mbarrier
  std::vector<std::unique_ptr<Checker>> checkers_;  // by rank; checked mode only
  bool checked_;
  std::uint32_t threads_ = 0;
  std::uint64_t count_ = 0;
};

// Several clusters at a time on one host thread; whose turn it is follows from the order. One of them falls behind.
void run_in_order(Grid& grid, std::uint64_t at_a_time) {
  constexpr unsigned kBurst = 8;  // rounds of a burst: up to 2^8
  constexpr std::uint32_t kWhile = 256;
  Random random(grid.launch.order);
  std::vector<std::unique_ptr<Runner>> all;
  for (std::uint64_t i = 0; i < at_a_time; ++i) {
    all.push_back(std::make_unique<Runner>(grid));
    all.back()->take();
  }
  std::size_t behind = 0;
  for (std::uint64_t turn = 0; !all.empty(); ++turn) {
    if (turn % kWhile == 0) behind = random.below(all.size());
    std::size_t i = random.below(all.size());
    if (i == behind && random.below(16) != 0) i = random.below(all.size());
    Runner& r = *all[i];
    Runner::Went went = Runner::Went::kOn;
    for (std::uint32_t left = random.some(kBurst); left != 0 && went == Runner::Went::kOn; --left) went = r.round();
    if (went == Runner::Went::kOn || went == Runner::Went::kWaits) continue;
    if (went == Runner::Went::kWrong) break;
    r.end();
    if (r.take()) continue;
    r.leave();
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (const auto& r : all) r->leave();  // a fault: the others go nowhere
}

Status check_launch(const Kernel& k, const Launch& l) {
  const auto bad = [&](const std::string& what) -> Status { return error("kernel " + k.name + ": " + what); };
  const std::uint64_t threads = volume(l.block);
  if (threads == 0 || threads > 1024 || l.block.x > 1024 || l.block.y > 1024 || l.block.z > 64) {
    return bad("block of " + triple({l.block.x, l.block.y, l.block.z}) + " threads; 1 to 1024 are allowed");
  }
  if (l.grid.x == 0 || l.grid.y == 0 || l.grid.z == 0 || l.grid.x > 0x7fffffffu || l.grid.y > 65535 ||
      l.grid.z > 65535) {
    return bad("grid of " + triple({l.grid.x, l.grid.y, l.grid.z}) + "; at most (2147483647,65535,65535), none 0");
  }
  if (l.cluster != 0 && k.explicit_cluster) return bad("it states its cluster; the launch asks for another");
  const std::array<std::uint32_t, 3> c = cluster_of(k, l);
  if (l.grid.x % c[0] != 0 || l.grid.y % c[1] != 0 || l.grid.z % c[2] != 0) {
    return bad("grid of " + triple({l.grid.x, l.grid.y, l.grid.z}) + "; it must be a multiple of the cluster, " +
               triple(c) + " CTAs");
  }
  if (std::uint64_t{c[0]} * c[1] * c[2] > kMaxCluster) {
    return bad("a cluster of " + triple(c) + "; at most " + std::to_string(kMaxCluster) + " CTAs can be one");
  }
  if (k.reqntid[0] != 0 && (l.block.x != k.reqntid[0] || l.block.y != std::max(1u, k.reqntid[1]) ||
                            l.block.z != std::max(1u, k.reqntid[2]))) {
    return bad("block of " + triple({l.block.x, l.block.y, l.block.z}) + " threads; the kernel needs " +
               triple(k.reqntid));
  }
  if (k.max_threads != 0 && threads > k.max_threads) {
    return bad(std::to_string(threads) + " threads; the kernel allows " + std::to_string(k.max_threads));
  }
  if (const std::uint32_t most = most_registers(static_cast<std::uint32_t>(threads)); k.registers > most) {
    return bad(std::to_string(threads) + " threads of " + std::to_string(k.registers) +
               " registers; a multiprocessor has " + std::to_string(most) + " for each of so many");
  }
  if (l.params.size() != k.param_bytes) {
    return bad(std::to_string(l.params.size()) + " bytes of parameters; the kernel takes " +
               std::to_string(k.param_bytes));
  }
  const std::uint64_t shared = std::uint64_t{k.shared} + l.dynamic_shared;
  if (shared > info(k.arch).max_shared) {
    return bad(std::to_string(shared) + " bytes of shared memory; " + std::string(info(k.arch).name) + " has " +
               std::to_string(info(k.arch).max_shared));
  }
  return Done{};
}

}  // namespace

bool Launch::in_clusters(const Kernel& kernel) const {
  return kernel.explicit_cluster || cluster > 1;
}

Result<Report> run(const Kernel& kernel, Memory& memory, const Launch& launch) {
  if (Status ok = check_launch(kernel, launch); !ok) return ok.error();
  const std::array<std::uint32_t, 3> c = cluster_of(kernel, launch);
  // In an order of a seed they are not host threads, but as many clusters take turns.
  const bool ordered = launch.order != 0;
  const std::uint64_t some = ordered ? 2 + launch.order % 3 : std::max(1u, std::thread::hardware_concurrency());
  const std::uint64_t asked = launch.threads != 0 ? launch.threads : some;
  const std::uint64_t threads = std::min(asked, volume(launch.grid) / (std::uint64_t{c[0]} * c[1] * c[2]));
  Grid grid(threads);
  grid.kernel = &kernel;
  grid.memory = Machine::impl(memory);
  grid.owner = &memory;
  grid.launch = launch;
  grid.constants = constants_of(kernel, launch);
  grid.cluster = c;
  if (launch.mode == Mode::kChecked) {
    grid.global = std::make_shared<GlobalShadow>();
    grid.has_cas =
        std::any_of(kernel.checks.begin(), kernel.checks.end(), [](const CheckOp& op) { return op.compares; });
    grid.has_membar = std::any_of(kernel.checks.begin(), kernel.checks.end(),
                                  [](const CheckOp& op) { return op.membar != CheckOp::Membar::kNone; });
  }
  if (ordered) {
    run_in_order(grid, threads);
  } else {
    std::vector<std::thread> pool;
    for (std::uint64_t i = 1; i < threads; ++i) pool.emplace_back([&grid] { Runner(grid).run_all(); });
    Runner(grid).run_all();
    for (std::thread& t : pool) t.join();
  }
  if (grid.printed) std::fflush(stdout);
  for (Finding& f : grid.report.findings) f.order = launch.order;
  if (grid.fault) {
    if (ordered) grid.fault->message += " (in order " + std::to_string(launch.order) + ")";
    for (const Finding& f : grid.report.findings) grid.fault->notes.push_back(f.text());
    return *grid.fault;
  }
  std::sort(grid.report.findings.begin(), grid.report.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.pc, a.what, a.other) < std::tie(b.pc, b.what, b.other);
  });
  return std::move(grid.report);
}

}  // namespace nervanagpu::sass::emulate
