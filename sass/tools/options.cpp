// The command line of the tools.
#include <algorithm>

#include "sass/tools/commands.h"

namespace nervanagpu::sass::tools {

bool Options::has(std::string_view flag) const {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

std::vector<std::string> Options::all(const std::string& name) const {
  std::vector<std::string> out;
  const auto [first, last] = values.equal_range(name);
  for (auto it = first; it != last; ++it) out.push_back(it->second);
  return out;
}

std::optional<std::string> Options::one(const std::string& name) const {
  const std::vector<std::string> found = all(name);
  if (found.empty()) return std::nullopt;
  return found.back();
}

Result<Options> parse_options(const Arguments& args, std::initializer_list<std::string_view> with_value,
                              std::initializer_list<std::string_view> flags) {
  Options out;
  const auto in = [](std::initializer_list<std::string_view> list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& a = args[i];
    if (a == "--") {
      out.files.insert(out.files.end(), args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      break;
    }
    if (a == "-h" || a == "--help") {
      out.flags.emplace_back("--help");
      continue;
    }
    if (a.size() < 2 || a[0] != '-') {
      out.files.push_back(a);
      continue;
    }
    std::string name = a;
    std::optional<std::string> value;
    if (a[1] == '-') {
      const std::size_t equals = a.find('=');
      if (equals != std::string::npos) {
        name = a.substr(0, equals);
        value = a.substr(equals + 1);
      }
    } else if (a.size() > 2) {
      name = a.substr(0, 2);
      value = a.substr(2);
    }
    if (in(flags, name)) {
      if (value) return error("option " + name + " takes no value, found `" + *value + "`");
      out.flags.push_back(name);
    } else if (in(with_value, name)) {
      if (!value) {
        if (i + 1 >= args.size()) return error("option " + name + " needs a value");
        value = args[++i];
      }
      out.values.emplace(name, std::move(*value));
    } else {
      std::string all;
      for (const std::string_view o : with_value) all += " " + std::string(o);
      for (const std::string_view o : flags) all += " " + std::string(o);
      return error("there is no option " + name, {"options:" + all + " --help"});
    }
  }
  return out;
}

}  // namespace nervanagpu::sass::tools
