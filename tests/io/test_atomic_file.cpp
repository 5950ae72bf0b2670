// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <lindyn/io/atomic_file.hpp>

#include "testing.hpp"

using lindyn::file_error;
using lindyn::io::atomic_file;
using namespace lindyn::testing;

TEST_CASE("a committed file has exactly what was written, and nothing else is left") {
  const temporary_folder folder;
  atomic_file file(folder / "a.txt");
  file.stream() << "one\r\n" << 2;
  CHECK(!std::filesystem::exists(folder / "a.txt"));
  file.commit();
  CHECK(content(folder / "a.txt") == "one\r\n2");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a commit replaces the old file, and until then readers see the old one") {
  const temporary_folder folder;
  put(folder / "a.txt", "old");
  atomic_file file(folder / "a.txt");
  file.stream() << "new" << std::flush;
  CHECK(content(folder / "a.txt") == "old");
  file.commit();
  CHECK(content(folder / "a.txt") == "new");
}

TEST_CASE("without a commit the old file stays and the temporary one is removed") {
  const temporary_folder folder;
  put(folder / "a.txt", "old");
  {
    atomic_file file(folder / "a.txt");
    file.stream() << "new";
    CHECK(folder.entries() == 2);
  }
  CHECK(content(folder / "a.txt") == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("two writers of one target do not disturb each other, and the last commit wins") {
  const temporary_folder folder;
  atomic_file first(folder / "a.txt"), second(folder / "a.txt");
  first.stream() << "first";
  second.stream() << "second";
  second.commit();
  first.commit();
  CHECK(content(folder / "a.txt") == "first");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file in a folder that is not there is refused by name and reason") {
  const temporary_folder folder;
  const auto path = folder / "absent" / "a.txt";
  const auto message = message_of<file_error>([&] { const atomic_file file(path); });
  CHECK(contains(message, path.string()));
  CHECK(contains(message, "No such file or directory"));
}

TEST_CASE("a target that is a folder can't be replaced") {
  const temporary_folder folder;
  std::filesystem::create_directory(folder / "a");
  const auto message = message_of<file_error>([&] { atomic_file(folder / "a").commit(); });
  CHECK(contains(message, "cannot replace " + (folder / "a").string()));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a device isn't replaced, nor a link to one") {
  const temporary_folder folder;
  std::filesystem::create_symlink("/dev/null", folder / "a");
  CHECK(contains(message_of<file_error>([] { atomic_file("/dev/null").commit(); }), "/dev/null: it isn't a regular"));
  CHECK_THROWS_AS(atomic_file(folder / "a").commit(), file_error);
  CHECK(std::filesystem::is_character_file(folder / "a"));
}

TEST_CASE("content that could not be written is not committed") {
  const temporary_folder folder;
  put(folder / "a.txt", "old");
  {
    atomic_file file(folder / "a.txt");
    file.stream().setstate(std::ios::badbit);
    CHECK(contains(message_of<file_error>([&] { file.commit(); }), "cannot write " + (folder / "a.txt").string()));
  }
  CHECK(content(folder / "a.txt") == "old");
  CHECK(folder.entries() == 1);
}
