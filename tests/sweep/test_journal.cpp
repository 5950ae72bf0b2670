// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <lindyn/sweep/journal.hpp>

#include "../io/testing.hpp"

using lindyn::sweep::damaged_journal_error;
using lindyn::sweep::journal;
using lindyn::sweep::other_configuration_error;
using lindyn::sweep::remove_journal;
using namespace lindyn::testing;

namespace {

const std::string head = "# lindyn journal 1\n# rate 0.5\n# seed 1\ncell,loss,time\n";

journal open(const std::filesystem::path& path, const std::string& configuration = "rate 0.5\nseed 1") {
  return {path, configuration, {"loss", "time"}, 5};
}

/// The line that a journal with this content is said to be damaged in; -1 if it isn't. Never changes the file.
lindyn::index damaged_line(const std::string& text) {
  const temporary_folder folder;
  put(folder / "j", text);
  lindyn::index line = -1;
  try {
    open(folder / "j");
  } catch (const damaged_journal_error& fault) {
    line = fault.line();
    CHECK(contains(fault.what(), "line " + std::to_string(line)));
    CHECK(content(folder / "j") == text);
    CHECK(folder.entries() == 1);
  }
  return line;
}

}  // namespace

TEST_CASE("a journal is readable text, and each line is in the file at once") {
  const temporary_folder folder;
  journal kept = open(folder / "j");
  CHECK(kept.finished().empty());
  CHECK(content(folder / "j") == head);
  kept.append(3, std::vector<double>{0.25, 17.5});
  CHECK(content(folder / "j") == head + "3,0.25,17.5\n");
  kept.append(0, std::vector<double>{0.1, -1});
  CHECK(content(folder / "j") == head + "3,0.25,17.5\n0,0.1,-1\n");
}

TEST_CASE("columns may have any name that fits in a line") {
  const temporary_folder folder;
  const std::vector<std::string> columns{"needed (1,2)", "\"so\""};
  journal(folder / "j", "", columns, 1).append(0, std::vector<double>{1, 2});
  CHECK(content(folder / "j") == "# lindyn journal 1\n# \ncell,\"needed (1,2)\",\"\"\"so\"\"\"\n0,1,2\n");
  CHECK(journal(folder / "j", "", columns, 1).finished().size() == 1);
}

TEST_CASE("every number is read back to the bit, also those that aren't finite") {
  const temporary_folder folder;
  constexpr auto limits = std::numeric_limits<double>();
  const std::vector<double> values{1.0 / 3,
                                   -0.0,
                                   limits.denorm_min(),
                                   limits.max(),
                                   std::exp(1.0),
                                   limits.infinity(),
                                   -limits.infinity(),
                                   123456789.123456789};
  {
    journal kept(folder / "j", "", {"value"}, 100);
    for (std::size_t i = 0; i < values.size(); ++i) kept.append(lindyn::index(i), std::vector<double>{values[i]});
    kept.append(50, std::vector<double>{limits.quiet_NaN()});
  }
  const journal again(folder / "j", "", {"value"}, 100);
  REQUIRE(again.finished().size() == values.size() + 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(again.finished()[i].cell == lindyn::index(i));
    CHECK(std::bit_cast<std::uint64_t>(again.finished()[i].values[0]) == std::bit_cast<std::uint64_t>(values[i]));
  }
  CHECK(std::isnan(again.finished().back().values[0]));
}

TEST_CASE("wherever a killed program stopped writing, whole lines remain and the journal goes on") {
  const std::string all = head + "3,0.25,17.5\n0,0.1,-1\n";
  for (std::size_t length = 0; length <= all.size(); ++length) {
    CAPTURE(length);
    const temporary_folder folder;
    put(folder / "j", all.substr(0, length));
    std::size_t whole = 0;
    {
      journal kept = open(folder / "j");
      whole = kept.finished().size();
      CHECK(whole == (length >= head.size() + 12 ? 1u : 0u) + (length == all.size() ? 1u : 0u));
      kept.append(4, std::vector<double>{1, 2});
    }
    CHECK(open(folder / "j").finished().size() == whole + 1);
    CHECK(folder.entries() == 1);
  }
}

TEST_CASE("a damaged line is named, and the file left as it is") {
  CHECK(damaged_line(head + "3,0.25,17.5\n") == -1);
  CHECK(damaged_line("something else\n") == 1);
  CHECK(damaged_line(head + "3,0.25\n") == 5);
  CHECK(damaged_line(head + "3,0.25,17.5,1\n") == 5);
  CHECK(damaged_line(head + "3,0.25,17.5\n5,1,1\n") == 6);
  CHECK(damaged_line(head + "-1,1,1\n") == 5);
  CHECK(damaged_line(head + "1.5,1,1\n") == 5);
  CHECK(damaged_line(head + "\n") == 5);
  CHECK(damaged_line(head + "3,0.2x,17.5\n0,1,1\n") == 5);
  CHECK(damaged_line(head + "3,,17.5\n") == 5);
  CHECK(damaged_line(head + "3,0.25,17.5\n0,1,1\n3,0.25,17.5\n") == 7);
  CHECK(damaged_line(head + "0,1,1\n" + std::string(40, '\0') + "\n1,1,1\n") == 6);
}

TEST_CASE("another configuration is refused, with the first line that differs, and the file left as it is") {
  const temporary_folder folder;
  open(folder / "j").append(1, std::vector<double>{1, 2});
  const std::string before = content(folder / "j");
  const auto refusal = [&](const std::string& configuration, const std::vector<std::string>& columns) {
    const auto text =
        message_of<other_configuration_error>([&] { (void)journal(folder / "j", configuration, columns, 5); });
    CHECK(content(folder / "j") == before);
    return text;
  };
  CHECK(contains(refusal("rate 0.25\nseed 1", {"loss", "time"}), "\"# rate 0.5\" where this one has \"# rate 0.25\""));
  CHECK(contains(refusal("rate 0.5", {"loss", "time"}), "\"# seed 1\" where this one has \"cell,loss,time\""));
  CHECK(contains(refusal("rate 0.5\nseed 1\nmore", {"loss", "time"}),
                 "\"cell,loss,time\" where this one has \"# more\""));
  CHECK(contains(refusal("rate 0.5\nseed 1", {"loss"}), "\"cell,loss,time\" where this one has \"cell,loss\""));
  CHECK(open(folder / "j").finished().size() == 1);
}

TEST_CASE("a journal in use is neither opened nor removed, and can be once it is let go") {
  const temporary_folder folder;
  {
    journal kept = open(folder / "j");
    kept.append(3, std::vector<double>{0.25, 17.5});
    const auto message = message_of<lindyn::io::file_in_use_error>([&] { open(folder / "j"); });
    CHECK(contains(message, (folder / "j").string()));
    CHECK_THROWS_AS(remove_journal(folder / "j"), lindyn::io::file_in_use_error);
    kept.append(4, std::vector<double>{1, 2});
  }
  CHECK(open(folder / "j").finished().size() == 2);
  for (int time = 0; time < 2; ++time) remove_journal(folder / "j");
  CHECK(folder.entries() == 0);
  CHECK_THROWS_AS(remove_journal(folder.path()), lindyn::file_error);
}

TEST_CASE("what can't be a journal is refused") {
  const temporary_folder folder;
  CHECK_THROWS_AS(open(folder.path()), lindyn::file_error);
  CHECK_THROWS_AS(open(folder / "absent" / "j"), lindyn::file_error);
  CHECK_THROWS_AS(journal(folder / "j", "", {"a\nb"}, 1), lindyn::argument_error);
  CHECK_THROWS_AS(journal(folder / "j", "", {""}, 1), lindyn::argument_error);
  CHECK_THROWS_AS(open(folder / "j").append(0, std::vector<double>{1}), lindyn::shape_error);
}
