// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checkpoints: the state of a training in two files, from which it goes on with the same bits.

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/io/atomic_file.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/io/parameters.hpp>
#include <lindyn/io/safetensors.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/train/settings.hpp>
#include <lindyn/train/trainer.hpp>
#include <lindyn/version.hpp>

namespace lindyn::train {

/// A checkpoint belongs to a training of another configuration. `argument()` is the first key that differs.
class configuration_error : public argument_error {
public:
  using argument_error::argument_error;
};

namespace detail {

/// The digest of a file's bytes. Throws file_error if it can't be read.
inline std::string file_digest(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw file_error("cannot read " + path.string() + ": " + io::last_system_error().message());
  digest result;
  std::vector<char> block(1 << 16);
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    result(std::span(block).first(static_cast<std::size_t>(file.gcount())));
  } while (file);
  return result.text();
}

/// The name of the safetensors file of that digest, beside the JSON file.
inline std::string tensors_name(const std::filesystem::path& path, const std::string& digest) {
  return path.stem().string() + "." + digest + ".safetensors";
}

/// Removes the safetensors files of earlier checkpoints of that path.
inline void remove_earlier(const std::filesystem::path& path, const std::string& kept) {
  const std::string pattern = tensors_name(path, "0123456789abcdef");
  const std::size_t begin = path.stem().string().size() + 1;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(
           path.has_parent_path() ? path.parent_path() : std::filesystem::path("."), ignored)) {
    std::string name = entry.path().filename().string();
    if (name == kept || name.size() != pattern.size()) continue;
    const bool hexadecimal = name.find_first_not_of("0123456789abcdef", begin) == begin + 16;
    if (hexadecimal && name.replace(begin, 16, pattern, begin, 16) == pattern)
      std::filesystem::remove(entry.path(), ignored);
  }
}

/// The settings as an object of texts.
inline io::json to_json(const settings& all) {
  io::json result = io::json::object();
  for (const auto& [key, text] : all) {
    io::detail::require_utf8("name of a setting", key);
    io::detail::require_utf8("setting " + key, text);
    require(!result.contains(key), "setting", key, "there once");
    result[key] = text;
  }
  return result;
}

/// Throws configuration_error, naming the first key that differs.
inline void require_same(const std::filesystem::path& path, const io::json& stored, const settings& wanted) {
  const std::string end = ", as in the checkpoint " + path.string();
  for (const auto& [key, text] : wanted) {
    const auto found = stored.find(key);
    if (found == stored.end()) throw configuration_error(key, "'" + text + "'", "absent" + end);
    if (*found != text) throw configuration_error(key, "'" + text + "'", "'" + found->get<std::string>() + "'" + end);
  }
  const auto known = to_json(wanted);
  for (const auto& [key, text] : stored.items())
    if (!known.contains(key)) throw configuration_error(key, "absent", "'" + text.get<std::string>() + "'" + end);
}

}  // namespace detail

/// Writes the state of a training, to go on from, into two files: the JSON file `path`, with the number of steps and
/// all settings, and beside it a safetensors file whose name has its digest, with the weights by the parameters' names
/// and what the optimiser remembers ("first_moment.tok_emb"), which other programs open too.
/// The JSON file comes last, in one instant, and then the former safetensors file goes: whenever the program ends, the
/// folder has a checkpoint that is whole, the new one or the one before.
/// \param path      of the JSON file; its folder exists
/// \param training  a trainer whose optimiser is resumable
/// \param also      further settings that have to be the same when the training is resumed, such as the seed of a split
/// Throws file_error, naming the path, if a file can't be written, argument_error for a setting that is there twice.
template <class Objective, optimizer::resumable_optimizer<typename Objective::scalar> Rule>
void save_checkpoint(const std::filesystem::path& path, trainer<Objective, Rule>& training, const settings& also = {}) {
  settings all = training.describe();
  all.insert(all.end(), also.begin(), also.end());
  const io::json configuration = detail::to_json(all);

  std::vector<io::tensor_view> tensors;
  io::append_tensors(tensors, training.parameters(), training.weights());
  for (const auto& [name, values] : training.rule().state())
    io::append_tensors(tensors, training.parameters(), values, std::string(name) + ".");
  const std::filesystem::path written = std::filesystem::path(path).replace_extension(".unfinished.safetensors");
  io::write_safetensors(written, std::move(tensors),
                        {{"steps", std::to_string(training.steps())}, {"writer", "lindyn " LINDYN_VERSION_STRING}});
  const std::string digest = detail::file_digest(written), name = detail::tensors_name(path, digest);
  std::error_code reason;
  std::filesystem::rename(written, path.parent_path() / name, reason);
  if (reason) throw file_error("cannot write " + (path.parent_path() / name).string() + ": " + reason.message());

  io::json state{{"lindyn_checkpoint", 1},          {"steps", training.steps()},
                 {"observed", training.observed()}, {"optimizer_steps", training.rule().steps()},
                 {"configuration", configuration},  {"tensors", name},
                 {"tensors_digest", digest}};
  state["digest"] = detail::digest()(state.dump()).text();
  io::write_json(path, state);
  detail::remove_earlier(path, name);
}

/// Goes on from a checkpoint: `training`, made as it was before, gets its weights, what its optimiser remembers and the
/// number of steps. The next steps are those of a training that was never interrupted, bit for bit.
/// \param path      of the JSON file
/// \param training  whose state is replaced; it stays as it is if anything is wrong
/// \param also      as it was saved
/// Throws configuration_error, naming the first setting that differs; file_error, naming the path, if a file can't be
/// read, is damaged, no checkpoint, or if the two don't belong together. The files are never changed.
template <class Objective, optimizer::resumable_optimizer<typename Objective::scalar> Rule>
void resume_checkpoint(const std::filesystem::path& path, trainer<Objective, Rule>& training,
                       const settings& also = {}) {
  using scalar = typename Objective::scalar;
  const auto fail = [&path](const std::string& reason) {
    return file_error("cannot resume from " + path.string() + ": " + reason);
  };
  io::json state = io::read_json(path);
  if (!state.is_object() || !state.contains("lindyn_checkpoint")) throw fail("it is no checkpoint of lindyn's");
  if (state["lindyn_checkpoint"] != 1) throw fail("it is a checkpoint of another version of lindyn");
  const io::json digest = state.value("digest", io::json());
  state.erase("digest");
  if (digest != detail::digest()(state.dump()).text()) throw fail("it is damaged: it doesn't have its digest");
  settings all = training.describe();
  all.insert(all.end(), also.begin(), also.end());
  detail::require_same(path, state["configuration"], all);

  const std::string name = state["tensors"];
  const std::filesystem::path tensors = path.parent_path() / name;
  if (detail::file_digest(tensors) != state["tensors_digest"])
    throw fail(tensors.string() + " is damaged, or isn't the file that was written with it");
  const auto weights = io::read_parameters<scalar>(tensors, training.parameters()).weights;
  Rule rule = training.rule();
  std::vector<std::vector<scalar>> values;
  for (const auto& array : rule.state())
    values.push_back(io::read_parameters<scalar>(tensors, training.parameters(),
                                                 {.rules = {}, .prefix = std::string(array.name) + "."})
                         .weights);
  std::vector<optimizer::state_array<const scalar>> arrays;
  for (const auto& array : rule.state()) arrays.push_back({array.name, values[arrays.size()]});
  rule.restore(arrays, state["optimizer_steps"].get<std::int64_t>());
  training.restart(state["steps"].get<index>(), weights, std::move(rule), state["observed"].get<bool>());
}

}  // namespace lindyn::train
