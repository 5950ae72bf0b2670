// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checkpoints: the state of a training in two files, from which it goes on with the same bits.

#include <cerrno>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/atomic_file.hpp>
#include <lindyn/io/digest.hpp>
#include <lindyn/io/file_lock.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/io/parameters.hpp>
#include <lindyn/io/safetensors.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/train/settings.hpp>
#include <lindyn/version.hpp>

namespace lindyn::train {

/// A checkpoint belongs to a training of another configuration. `argument()` is the first key that differs.
class configuration_error : public argument_error {
public:
  using argument_error::argument_error;
};

/// A training whose state can be kept: a trainer whose optimiser is resumable, or one run of a batched ensemble.
template <class T>
concept resumable_training = requires(std::remove_cvref_t<T>& training, const std::remove_cvref_t<T>& seen) {
  typename std::remove_cvref_t<T>::scalar;
  { training.describe() } -> std::same_as<settings>;
  { seen.parameters() } -> std::convertible_to<const parameter_table&>;
  requires optimizer::resumable_optimizer < std::remove_cvref_t<decltype(seen.rule())>,
  typename std::remove_cvref_t<T>::scalar > ;
  training.restart(seen.steps(), seen.weights(), seen.rule(), seen.observed());
};

namespace detail {

/// The digest of a file's bytes. Throws file_error if it can't be read.
inline std::string file_digest(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw file_error("cannot read " + path.string() + ": " + io::last_system_error().message());
  io::digest result;
  std::vector<char> block(1 << 16);
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    result(std::span(block).first(static_cast<std::size_t>(file.gcount())));
  } while (file);
  return result.text();
}

/// Where the JSON file is, or is going to be: what a link leads to.
inline std::filesystem::path checkpoint_place(const std::filesystem::path& path) {
  std::error_code reason;
  const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(path), reason);
  if (reason) throw file_error("cannot find " + path.string() + ": " + reason.message());
  return place;
}

/// The name of the safetensors file of that digest, beside the JSON file.
inline std::string tensors_name(const std::filesystem::path& place, const std::string& digest) {
  return place.filename().string() + "." + digest + ".safetensors";
}

/// Removes the safetensors files of earlier checkpoints of that place.
inline void remove_earlier(const std::filesystem::path& place, const std::string& kept) {
  const std::string pattern = tensors_name(place, "0123456789abcdef");
  const std::size_t begin = place.filename().string().size() + 1;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(place.parent_path(), ignored)) {
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

/// The error that names the JSON file and the reason.
inline file_error unusable(const std::filesystem::path& path, const std::string& reason) {
  return file_error("cannot resume from " + path.string() + ": " + reason);
}

/// What the JSON file says, besides the configuration.
struct checkpoint_state {
  index steps = 0;
  bool observed = false;
  std::int64_t optimizer_steps = 0;
  std::string tensors, tensors_digest;
};

/// Reads the JSON file that `path` leads to. Throws file_error unless it is as it was written, configuration_error unless
/// its configuration is the one that is wanted.
inline checkpoint_state read_state(const std::filesystem::path& path, const std::filesystem::path& place,
                                   const settings& wanted) {
  io::json state = io::read_json(place);
  if (!state.is_object() || !state.contains("lindyn_checkpoint"))
    throw unusable(path, "it is no checkpoint of lindyn's");
  if (state["lindyn_checkpoint"] != 1) throw unusable(path, "it is a checkpoint of another version of lindyn");
  const io::json digest = state.value("digest", io::json());
  state.erase("digest");
  if (digest != io::digest()(state.dump()).text()) throw unusable(path, "it is damaged: it doesn't have its digest");
  try {
    const io::json& configuration = io::member(state, "configuration");
    if (!configuration.is_object()) throw unusable(path, "it is damaged: its configuration is no object");
    require_same(path, configuration, wanted);
    return {.steps = io::member_as<index>(state, "steps"),
            .observed = io::member_as<bool>(state, "observed"),
            .optimizer_steps = io::member_as<std::int64_t>(state, "optimizer_steps"),
            .tensors = io::member_as<std::string>(state, "tensors"),
            .tensors_digest = io::member_as<std::string>(state, "tensors_digest")};
  } catch (const io::json::exception& problem) {
    throw unusable(path, problem.what());
  } catch (const configuration_error&) {
    throw;
  } catch (const argument_error& problem) {
    throw unusable(path, problem.what());
  }
}

}  // namespace detail

/// Writes the state of a training, to go on from, into two files: the JSON file `path`, with the number of steps and
/// all settings, and beside it a safetensors file whose name has its digest, with the weights by the parameters' names
/// and what the optimiser remembers ("first_moment.tok_emb"), which other programs open too.
/// The JSON file comes last, in one instant, and then the former safetensors file goes: whenever the program ends, the
/// folder has a checkpoint that is whole, the new one or the one before. (The operating system may take a while to bring
/// both to the disk: of a machine that loses its power just then, that isn't promised.) Of several programs that write
/// one checkpoint, the last one's is there.
/// \param path      of the JSON file, or a link to it; its folder is made, with its parents, unless it is there
/// \param training  whose optimiser is resumable
/// \param also      further settings that have to be the same when the training is resumed, such as the seed of a split
/// Throws file_error, naming the path, if a file can't be written, argument_error for a setting that is there twice.
template <resumable_training Training>
void save_checkpoint(const std::filesystem::path& path, Training&& training, const settings& also = {}) {
  settings all = training.describe();
  all.insert(all.end(), also.begin(), also.end());
  const io::json configuration = detail::to_json(all);
  const std::filesystem::path place = detail::checkpoint_place(path), folder = place.parent_path();
  std::error_code reason;
  std::filesystem::create_directories(folder, reason);
  if (reason) throw file_error("cannot write into " + folder.string() + ": " + reason.message());
  const auto alone = io::file_lock::of_folder(folder);

  using scalar = typename std::remove_cvref_t<Training>::scalar;
  const auto& weights = training.weights();  // copies, where they don't lie here
  const auto& rule = training.rule();
  std::vector<io::tensor_view> tensors;
  io::append_tensors(tensors, training.parameters(), std::span<const scalar>(weights));
  for (const auto& [name, values] : rule.state())
    io::append_tensors(tensors, training.parameters(), values, std::string(name) + ".");
  const std::filesystem::path written = folder / detail::tensors_name(place, "unfinished");
  io::write_safetensors(written, std::move(tensors),
                        {{"steps", std::to_string(training.steps())}, {"writer", "lindyn " LINDYN_VERSION_STRING}});
  const std::string digest = detail::file_digest(written), name = detail::tensors_name(place, digest);
  std::filesystem::rename(written, folder / name, reason);
  if (reason) throw file_error("cannot write " + (folder / name).string() + ": " + reason.message());

  io::json state{{"lindyn_checkpoint", 1},          {"steps", training.steps()},      {"observed", training.observed()},
                 {"optimizer_steps", rule.steps()}, {"configuration", configuration}, {"tensors", name},
                 {"tensors_digest", digest}};
  state["digest"] = io::digest()(state.dump()).text();
  io::write_json(place, state);
  detail::remove_earlier(place, name);
}

/// Goes on from a checkpoint: `training`, made as it was before, gets its weights, what its optimiser remembers and the
/// number of steps. The next steps are those of a training that was never interrupted, bit for bit, in a workspace of the
/// same kind: which of a transformer's savings are on isn't recorded, and changes last digits.
/// \param path      of the JSON file, or a link to it
/// \param training  whose state is replaced; it stays as it is if anything is wrong
/// \param also      as it was saved
/// Throws configuration_error, naming the first setting that differs; file_error, naming the path, if a file can't be
/// read, is damaged, no checkpoint, or if the two don't belong together. The files are never changed.
template <resumable_training Training>
void resume_checkpoint(const std::filesystem::path& path, Training&& training, const settings& also = {}) {
  using scalar = typename std::remove_cvref_t<Training>::scalar;
  const std::filesystem::path place = detail::checkpoint_place(path);
  settings all = training.describe();
  all.insert(all.end(), also.begin(), also.end());
  const detail::checkpoint_state state = detail::read_state(path, place, all);
  const std::filesystem::path tensors = place.parent_path() / state.tensors;
  const auto steps_of = [](const io::metadata_map& known) { return known.contains("steps") ? known.at("steps") : ""; };
  if (detail::file_digest(tensors) != state.tensors_digest ||
      steps_of(io::safetensors_file(tensors).metadata()) != std::to_string(state.steps))
    throw detail::unusable(path, tensors.string() + " is damaged, or isn't the file that was written with it");
  const auto weights = io::read_parameters<scalar>(tensors, training.parameters()).weights;
  auto rule = training.rule();
  std::vector<std::vector<scalar>> values;
  for (const auto& array : rule.state())
    values.push_back(io::read_parameters<scalar>(tensors, training.parameters(),
                                                 {.rules = {}, .prefix = std::string(array.name) + "."})
                         .weights);
  std::vector<optimizer::state_array<const scalar>> arrays;
  for (const auto& array : rule.state()) arrays.push_back({array.name, values[arrays.size()]});
  rule.restore(arrays, state.optimizer_steps);
  training.restart(state.steps, weights, std::move(rule), state.observed);
}

}  // namespace lindyn::train
