// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "source_tree.hpp"

namespace {

/// The umbrella headers, and the other libraries (the first folder of their headers) that each part adds.
const std::map<std::string, std::vector<std::string>> parts = {
    {"lindyn/lindyn.hpp", {"Eigen"}}, {"lindyn/flows.hpp", {"boost"}},           {"lindyn/storage.hpp", {"nlohmann"}},
    {"lindyn/device.hpp", {}},        {"lindyn/device_kernels.hpp", {"thrust"}},
};

/// Whether headers of one part may include those of another: kernels what they define.
bool stands_on(const std::string& part, const std::string& other) {
  return other == part || other == "lindyn/lindyn.hpp" ||
         (part == "lindyn/device_kernels.hpp" && other == "lindyn/device.hpp");
}

using house::source_file;

/// Which umbrella includes a header: path of the header -> path of the umbrella.
std::multimap<std::string, std::string> members(const std::vector<source_file>& headers) {
  std::multimap<std::string, std::string> found;
  for (const auto& header : headers)
    if (parts.contains(header.path))
      for (const std::string& include : house::includes(header))
        found.emplace(include.substr(1, include.size() - 2), header.path);
  return found;
}

/// One sentence for each header that isn't in exactly one umbrella.
std::vector<std::string> misplaced(const std::vector<source_file>& headers) {
  const auto umbrella = members(headers);
  std::vector<std::string> sentences;
  for (const auto& header : headers) {
    const auto count = umbrella.count(header.path);
    if (!parts.contains(header.path) && count != 1)
      sentences.push_back("<" + header.path + "> is in " + std::to_string(count) + " umbrella headers");
  }
  return sentences;
}

/// One sentence for each include that needs a library, or another part, that its own part doesn't have.
std::vector<std::string> undeclared(const std::vector<source_file>& headers) {
  const auto umbrella = members(headers);
  std::vector<std::string> sentences;
  for (const auto& header : headers) {
    if (!umbrella.contains(header.path)) continue;
    const std::string& part = umbrella.find(header.path)->second;
    for (const std::string& include : house::includes(header)) {
      const std::string path = include.substr(1, include.size() - 2);
      const auto other = umbrella.find(path);
      if (other != umbrella.end() && !stands_on(part, other->second))
        sentences.push_back(header.path + " (" + part + ") includes " + include + " (" + other->second + ")");
      for (const auto& [owner, libraries] : parts)
        for (const std::string& library : libraries)
          if (path.starts_with(library + "/") && owner != part && owner != "lindyn/lindyn.hpp")
            sentences.push_back(header.path + " (" + part + ") includes " + include);
    }
  }
  return sentences;
}

/// All that a header includes, directly or not, without delimiters.
std::set<std::string> reached(const std::string& from, const std::vector<source_file>& headers) {
  std::set<std::string> found;
  std::vector<std::string> open{from};
  while (!open.empty()) {
    const auto header = std::ranges::find(headers, open.back(), &source_file::path);
    open.pop_back();
    if (header == headers.end()) continue;
    for (const std::string& include : house::includes(*header))
      if (const std::string path = include.substr(1, include.size() - 2); found.insert(path).second)
        open.push_back(path);
  }
  return found;
}

}  // namespace

TEST_CASE("every header is in exactly one umbrella header") {
  const auto sentences = misplaced(house::headers());
  CHECK_MESSAGE(sentences.empty(), house::listed(sentences));
}

TEST_CASE("headers need only what their umbrella's target brings along") {
  const auto sentences = undeclared(house::headers());
  CHECK_MESSAGE(sentences.empty(), house::listed(sentences));
}

TEST_CASE("device code reaches neither Eigen nor what the host alone can compile, and programs on a device no Thrust") {
  const auto headers = house::headers();
  const auto kernels = reached("lindyn/device_kernels.hpp", headers), device = reached("lindyn/device.hpp", headers);
  CHECK(kernels.contains("lindyn/backend/backend.hpp"));
  CHECK(device.contains("lindyn/backend/backend.hpp"));
  for (const std::string& path : kernels) {
    CAPTURE(path);
    CHECK_FALSE(path.starts_with("Eigen/"));
    CHECK_FALSE(path.starts_with("lindyn/backend/host"));
    CHECK_FALSE(path.starts_with("lindyn/train/"));
  }
  for (const std::string& path : device) {
    CAPTURE(path);
    CHECK_FALSE(path.starts_with("thrust/"));
  }
}

TEST_CASE("the tests of the umbrella headers see what they are there to see") {
  const source_file plain = {"lindyn/lindyn.hpp", {"#include <lindyn/core/a.hpp>"}};
  const source_file flows = {"lindyn/flows.hpp", {"#include <lindyn/integrate/b.hpp>"}};
  const source_file a = {"lindyn/core/a.hpp", {}};
  const source_file b = {"lindyn/integrate/b.hpp", {"#include <boost/b.hpp>", "#include <lindyn/core/a.hpp>"}};
  CHECK(misplaced({plain, flows, a, b}).empty());
  CHECK(undeclared({plain, flows, a, b}).empty());
  CHECK(misplaced({plain, a, b}).size() == 1);
  CHECK(misplaced({plain, flows, a, b, {"lindyn/storage.hpp", {"#include <lindyn/core/a.hpp>"}}}).size() == 1);
  CHECK(undeclared({plain, flows, b, {"lindyn/core/a.hpp", {"#include <boost/b.hpp>"}}}).size() == 1);
  CHECK(undeclared({plain, flows, b, {"lindyn/core/a.hpp", {"#include <lindyn/integrate/b.hpp>"}}}).size() == 1);
}
