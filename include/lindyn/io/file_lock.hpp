// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A file, or a folder, that one program at a time may use.

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/atomic_file.hpp>

namespace lindyn::io {

/// A file is in use by another program, or elsewhere in this one.
class file_in_use_error : public file_error {
public:
  using file_error::file_error;
};

/// Holds a file as its own for as long as it lives. The operating system lets go of it when the program ends, however
/// sudden, so that nothing is left behind that had to be removed by hand. Only others that ask for a lock are kept out;
/// on a file system without locks (flock) nobody is.
class file_lock {
public:
  /// Creates the file, empty, if it isn't there.
  /// Throws file_in_use_error, naming the path, if somebody else holds it, file_error if it can't be written to.
  explicit file_lock(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) throw file_error("cannot write " + path.string() + ": " + last_system_error().message());
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(descriptor_);
    throw file_in_use_error("cannot write " + path.string() + ": another program is writing it");
  }

  /// Holds a folder, as soon as nobody else does. Files in it, and locks of those, have nothing to do with that.
  /// Throws file_error if it can't be opened.
  [[nodiscard]] static file_lock of_folder(const std::filesystem::path& folder) {
    file_lock result(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (result.descriptor_ < 0)
      throw file_error("cannot write into " + folder.string() + ": " + last_system_error().message());
    while (::flock(result.descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
    return result;
  }

  /// Takes the file over from `other`, which is left without one.
  file_lock(file_lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  /// Exchanges the files.
  file_lock& operator=(file_lock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~file_lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

private:
  explicit file_lock(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace lindyn::io
