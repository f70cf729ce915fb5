// A cubin on a device: its variables get addresses, and whoever holds addresses gets those.
#include <algorithm>
#include <cstring>

#include "sass/emulate/state/warp.h"
#include "sass/emulate/uop/kernel.h"
#include "sass/relocate.h"

namespace nervanagpu::sass::emulate {

struct Module::Impl {
  Arch arch = Arch::sm_90a;
  Memory* memory = nullptr;
  std::uint64_t address = 0;  // of the variables; 0: there are none
  std::uint64_t bytes = 0;
  std::vector<Variable> variables;
  std::shared_ptr<SharedBanks> banks = std::make_shared<SharedBanks>();

  [[nodiscard]] std::uint64_t resolved(Relocation::To to, std::uint64_t value) const {
    const bool narrow = info(arch).encoding == Encoding::k64;
    switch (to) {
      case Relocation::To::kVariable: return address + value;
      case Relocation::To::kCode: return (narrow ? kCodeWindow32 : kCodeWindow) + value;
      case Relocation::To::kFunction: break;
    }
    return (narrow ? kExternalWindow32 : kExternalWindow) + value * 16;
  }
  void relocate(std::uint8_t* to, const std::vector<Relocation>& list) const {
    for (const Relocation& r : list) {
      const std::uint64_t value = resolved(r.to, r.value);
      std::memcpy(to + r.offset, &value, r.bytes);
    }
  }
};

Module::Module(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Module::~Module() {
  if (impl_->address != 0) impl_->memory->free(impl_->address);
}

Result<std::unique_ptr<Module>> Module::load(const CubinImage& image, Memory& memory) {
  const ModuleData& data = image.data;
  std::unique_ptr<Module> module(new Module(std::make_unique<Impl>()));
  Impl& m = *module->impl_;
  m.arch = image.arch;
  m.memory = &memory;
  m.bytes = data.bytes;
  m.variables = data.variables;
  m.banks->constant3 = data.constant3;
  m.banks->constant4 = data.constant4;
  m.banks->externals = data.externals;
  if (data.bytes != 0) {
    m.address = memory.allocate(data.bytes);
    std::byte* host = m.address == 0 ? nullptr : memory.host(m.address, data.bytes);
    if (host == nullptr) {
      return error("the cubin's variables need " + std::to_string(data.bytes) + " bytes; " +
                   std::to_string(memory.capacity() - std::min(memory.used(), memory.capacity())) + " are free");
    }
    if (!data.initial.empty()) std::memcpy(host, data.initial.data(), data.initial.size());
    std::memset(host + data.initial.size(), 0, data.bytes - data.initial.size());
    m.relocate(reinterpret_cast<std::uint8_t*>(host), data.in_variables);
  }
  m.relocate(m.banks->constant3.data(), data.in_constant3);
  m.relocate(m.banks->constant4.data(), data.in_constant4);
  return module;
}

Result<std::shared_ptr<const Kernel>> Module::kernel(const KernelImage& image) const {
  if (image.relocations.empty()) return emulate::load(impl_->arch, image, impl_->banks);
  KernelImage placed = image;
  placed.relocations.clear();
  for (const CodeRelocation& r : image.relocations) {
    if (r.field == CodeRelocation::Field::kOther) {
      return error("kernel " + image.name + ": instruction " + std::to_string(r.index) + " has a relocation of type " +
                   std::to_string(r.value) + ", which is not known");
    }
    sass::relocate(impl_->arch, placed.code[r.index], r.field, impl_->resolved(r.to, r.value));
  }
  return emulate::load(impl_->arch, placed, impl_->banks);
}

std::span<std::byte> Module::variable(std::string_view name) {
  const auto v = std::find_if(impl_->variables.begin(), impl_->variables.end(),
                              [&](const Variable& one) { return one.name == name; });
  if (v == impl_->variables.end()) return {};
  std::byte* start = v->place == Variable::Place::kConstant
                         ? reinterpret_cast<std::byte*>(impl_->banks->constant3.data())
                         : impl_->memory->host(impl_->address, impl_->bytes);
  return {start + v->offset, static_cast<std::size_t>(v->bytes)};
}

}  // namespace nervanagpu::sass::emulate
