// A pass of a convolution on the tensor cores: what it copies and launches, and the workspace that it takes.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "kernels/conv/arena.h"
#include "kernels/conv/gather/columns.h"
#include "kernels/conv/gather/gconv_choice.h"
#include "kernels/conv/halo/cells.h"
#include "kernels/conv/halo/halo_choice.h"
#include "kernels/conv/halo/halo_update_choice.h"
#include "kernels/conv/halo/resident_choice.h"
#include "kernels/conv/halo/swapped_choice.h"
#include "kernels/conv/implicit/byte_results.h"
#include "kernels/conv/implicit/hconv_choice.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/implicit/packs.h"
#include "kernels/conv/narrow/narrow_choice.h"
#include "kernels/conv/narrow/narrow_swapped_choice.h"
#include "kernels/conv/narrow/narrow_update_choice.h"
#include "kernels/conv/pieces/piece_cells.h"
#include "kernels/conv/pieces/pieces.h"
#include "kernels/conv/pieces/two_pieces.h"
#include "kernels/conv/pieces/windows.h"
#include "kernels/conv/problem.h"
#include "kernels/conv/product.h"
#include "kernels/conv/strided/classes.h"
#include "kernels/conv/tensor_cores.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "kernels/gemm/types.h"
#include "kernels/split_sum/split_sum.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::tensor_cores {

constexpr std::int64_t kEight = 8;   // channels of 16 bytes
constexpr std::int64_t kBlock = 64;  // of k, of 16-bit operands
constexpr std::int64_t kBox = 64;    // filters of a box
constexpr std::int64_t kLimit = std::int64_t{1} << 31;
constexpr std::int64_t kMaskWord = 32;  // bits

inline std::int64_t eights(std::int64_t channels) {
  return ceil_div(channels, kEight) * kEight;
}

// Elements of 16 bytes, where the copy engine reads.
inline std::int64_t unit_of(Dtype type) {
  return 16 / width_of(type);
}

// As many bytes, two at a time.
inline std::int64_t pairs(std::int64_t elements, Dtype type) {
  return ceil_div(elements * width_of(type), 2);
}

// A pass: what it copies and launches. Without a device nothing is launched, and only the workspace counted.
class Pass {
 public:
  Pass(Device* device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
       const Stream& stream, const Forced& forced)
      : device_(device),
        pass_(pass),
        p_(p),
        at_(pointers),
        e_(epilogue),
        stream_(stream),
        forced_(forced),
        arena_(pointers.workspace) {}

  // models: what is launched, by the model.
  void run(std::vector<Modelled>* models = nullptr);
  [[nodiscard]] bool masked() const { return masked_; }
  // Of sums of channels: what the kernels have left, and, without a device, what they may leave.
  [[nodiscard]] std::int64_t parts() const { return sums_ && (masked_ || e_.mask == 0) ? parts_ : 0; }
  [[nodiscard]] std::int64_t most_parts() const { return most_parts_; }
  [[nodiscard]] std::size_t workspace() const { return arena_.most(); }

 private:
  // A launch of a pass: of a group, or of hconv.sass: of several packs of groups, each of which is such a product.
  struct Launch {
    char pass = 'f';
    Gather gather;
    TensorMap a, b;
    GemmProblem gemm;
    std::int64_t divisor = 1;   // hconv.sass's depth
    std::int64_t channels = 0;  // update: of each tap, where these are no blocks of 64; else 0
    double bytes = 0;
    std::int64_t packs = 1;
    std::int64_t group_channels = 0, group_images = 0, group_filters = 0;  // hconv.sass's
    std::int64_t block = 0;         // update: rows of the sums that are a group's
    std::int64_t first_column = 0;  // of the result's channels
    bool deep = false;              // maps of rank 5
    Pixels gathered;                // by gconv.sass; of 0 channels: hconv.sass
    // c: rows of the result, and how many of them lie from a position to the next: along an axis, and from image to image.
    std::int64_t rows = 0, row_n = 0;
    Inner row_steps = {0, 0, 0};
    std::vector<classes::Class> classes;
    // What is gathered, and the filters; u: dy. f, b of gconv.sass: not said.
    Pixels x, w;
    bool on_the_way = false;     // u: w is dy as it lies, for conv_split.sass
    bool of_two_pieces = false;  // conv_f16x3.sass: split sums are added after the launch that follows
  };

  // model: makes a Modelled, where somebody asks for it.
  template <typename F>
  void note(const F& model) const {
    if (models_ != nullptr) models_->push_back(model());
  }
  [[nodiscard]] Shape shape(Role role) const { return shape_of(p_, role); }
  [[nodiscard]] Strided laid_out(Role role) const { return conv_detail::laid_out(p_, role); }
  [[nodiscard]] Pixels as_it_lies(Role role, std::uint64_t address) const;  // with channels last
  Pixels operand(Role role, std::uint64_t address, std::int64_t unit);
  Pixels operand(Role role, std::uint64_t address) { return operand(role, address, unit_of(type_of(p_, role))); }
  Pixels operand_in_packs(Role role, std::uint64_t address, const Packs& packs);
  [[nodiscard]] Pixels group_of(Pixels t, std::int64_t g) const;
  void copy(std::uint64_t from, Dtype from_type, const Strided& from_layout, std::uint64_t to, Dtype to_type,
            const Strided& to_layout, const Rounding& rounding = {});
  [[nodiscard]] GemmProblem epilogue(std::int64_t group, std::int64_t columns) const;
  void positions(const Pixels& gathered, const Pixels& w, const Pixels& out);
  // fprop: y is rounded stochastically, and by the copy that follows.
  [[nodiscard]] bool rounded_by_copy() const {
    return e_.rounding.stochastic && (p_.layout != Layout::channels_last || apart(p_, Role::y));
  }
  [[nodiscard]] std::optional<narrow::Choice> is_narrow() const;
  void narrow_fprop(const narrow::Choice& c, const Pixels& out);
  [[nodiscard]] std::optional<narrow::Choice> is_narrow_swapped(const narrow::Choice& c, const GemmProblem& g) const;
  [[nodiscard]] std::optional<narrow_update::Choice> is_narrow_update() const;
  void narrow_gradient(const narrow_update::Choice& c, const Pixels& dy, const Pixels& out);
  [[nodiscard]] std::optional<cells::Cells> in_cells() const;
  void put_mask(GemmProblem& g, std::int64_t row, std::int64_t group) const;
  void expect_parts(const Launch& l);
  void put_parts(Values& v, const GemmProblem& g, const hgemm::Tile& tile, std::int64_t first_column);
  void widen_bias();
  [[nodiscard]] bool in_pieces() const { return pieces::asked(p_); }
  // The type of an operand's elements in the product.
  [[nodiscard]] Dtype operands(Role role) const { return in_pieces() ? Dtype::bfloat16 : type_of(p_, role); }
  void run_pieces();
  void in_two_pieces(const std::optional<windows::Windows>& in_windows, std::int64_t products, const Pixels& out);
  void in_three_pieces(const Pixels& out);
  void run_pieces_copied();
  void run_pieces_apart();
  void run_as_product();
  [[nodiscard]] ConvPieces shared(Role role) const;
  void mask_if();
  void split_on_the_way(const hconv::Work& work, const Pixels& dy);
  void launch_pieces(const Launch& l, const Packs& packs);
  void cells_in_pieces_fprop(const piece_cells::Cells& c, const Pixels& out);
  void cells_in_pieces_update(const piece_cells::Cells& c, const Pixels& out);
  void windows_in_three_pieces(const windows::Windows& w, const Pixels& out);
  void launch_windows(const windows::Windows& w, const pieces::Kind& kind, std::uint64_t images, std::uint64_t filters,
                      const Pixels& out);
  Launch some_positions(const Gather& f, const Pixels& gathered, const Pixels& w, const Pixels& out, const Packs& packs,
                        std::int64_t first, std::int64_t count) const;
  [[nodiscard]] Launch of_classes(const classes::Launch& c, const Pixels& gathered, const Pixels& w, const Pixels& out,
                                  const Packs& packs) const;
  [[nodiscard]] double microseconds_of(const Launch& l) const;
  [[nodiscard]] bool in_their_places(const std::vector<Gather>& all, const Pixels& gathered, const Pixels& w,
                                     const Pixels& out, const Packs& packs);
  [[nodiscard]] hconv::Work work_of(const Launch& l, const Packs& packs) const;
  [[nodiscard]] hconv::Work plain_work(const Launch& l) const;
  [[nodiscard]] int multiprocessors() const {
    return device_ == nullptr ? hgemm::kProcessors : device_->info().multiprocessors;
  }
  [[nodiscard]] bool apart_pays(const Gather& f, const Pixels& gathered, const Pixels& w, const Pixels& out,
                                const Packs& packs) const;
  Pixels block_diagonal(const Pixels& w, const Packs& packs);
  void update(const Pixels& dy, const Pixels& x, const Pixels& out);
  void update(const Pixels& dy, const Pixels& x, const Pixels& out, const Gather& f, std::int64_t channels,
              const Packs& packs);
  [[nodiscard]] std::optional<halo::Choice> shares_taps(const Launch& l, int multiprocessors) const;
  [[nodiscard]] static halo::Work halo_work(const Launch& l);
  [[nodiscard]] static halo::Work resident_work(const Launch& l);
  void launch_halo(const Launch& l, const halo::Choice& choice);
  [[nodiscard]] std::optional<swapped::Choice> swaps_operands(const Launch& l) const;
  [[nodiscard]] double without_swapping(const Launch& l) const;
  void launch_swapped(const Launch& l, const swapped::Choice& choice);
  [[nodiscard]] static halo_update::Work shared_work(const Launch& l);
  [[nodiscard]] std::optional<halo_update::Choice> shares_products(const Launch& l) const;
  void launch_halo_update(const Launch& l, const halo_update::Choice& choice);
  [[nodiscard]] std::optional<resident::Choice> keeps_filters(const Launch& l, int multiprocessors) const;
  std::optional<resident::Choice> keeps_filters(Launch& l, const std::optional<halo::Choice>& streams,
                                                int multiprocessors) const;
  [[nodiscard]] static std::optional<Launch> in_channels_of_16_bits(const Launch& l);
  void launch_resident(const Launch& l, const resident::Choice& choice);
  [[nodiscard]] std::optional<GemmProblem> as_product(const Launch& l) const;
  std::optional<Launch> in_half_blocks(const Launch& l);
  void launch(const Launch& l);
  [[nodiscard]] Grid grid_of(const GemmProblem& g, const hgemm::Tile& tile, std::int64_t splits = 1,
                             std::int64_t packs = 1) const;
  void launch_product(const Launch& l, const hconv::Choice& choice, std::int64_t run);
  Pixels filters(std::int64_t group, std::int64_t rows, std::int64_t channels);
  void cells_fprop(const cells::Cells& c, const Pixels& out);
  void cells_update(const cells::Cells& c, const Pixels& dy, const Pixels& out);
  void few_positions(const Pixels& gathered, const Pixels& out);
  void few_update(const Pixels& dy, const Pixels& x, const Pixels& out);
  std::uint64_t padded(const Columns& c);
  std::uint64_t matrix(const Columns& c);
  void gather(const Columns& c, std::uint64_t images, std::int64_t first, std::int64_t count, std::uint64_t to);
  void multiply(GemmProblem g);
  void columns_fprop(const Pixels& out);
  void columns_update(const Pixels& dy, const Pixels& out);

  Device* device_;
  ConvPass pass_;
  const ConvProblem& p_;
  ConvPointers at_;
  Epilogue e_;
  Stream stream_;
  Forced forced_;
  Arena arena_;
  bool masked_ = true;  // by the kernels' epilogues
  bool sums_ = false;   // sums of channels are asked for, and may be those of the kernels' parts
  std::int64_t parts_ = 0, most_parts_ = 0;
  std::uint64_t ranges_ = 0;  // of pieces.h
  std::int64_t most_exponents_ = 0;
  bf16x6::Unless unless_;                  // of two_pieces.h
  std::uint64_t moved1_ = 0, moved2_ = 0;  // how far two pieces of either operand are from where three would be
  bool done_in_windows_ = false;           // by two pieces
  std::optional<pieces::Split> split_;     // update by conv_split.sass, and its dy
  Pixels dy_;
  std::vector<Modelled>* models_ = nullptr;
};

}  // namespace nervanagpu::conv_detail::tensor_cores
