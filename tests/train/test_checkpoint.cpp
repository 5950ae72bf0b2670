// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <lindyn/io/digest.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/io/safetensors.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/population/finite/batches.hpp>
#include <lindyn/task/sequence_set.hpp>
#include <lindyn/train/checkpoint.hpp>
#include <lindyn/train/interrupt.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/observer.hpp>
#include <lindyn/train/trainer.hpp>

#include "../counted_allocations.hpp"
#include "../io/testing.hpp"
#include "noisy_bowl.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name
using train::resume_checkpoint;
using train::save_checkpoint;
namespace fs = std::filesystem;

/// What decays apart from the weight.
const schedule::schedule others_decay = schedule::steps{0.1, {{5, 0.02}}};

/// A decay of the weight that begins at step 3 and ends at step 6, another of the others, and a rate that warms up.
const train::trainer_options windowed{
    .learning_rate = 0.05,
    .learning_rate_schedule = schedule::warmup{4},
    .decay_schedule = schedule::window{3, 6, 0.2},
    .groups = {{"matrices", 1, {"weight"}}, {"others", 0.5, {"embedding", "bias"}, others_decay}},
    .clip_norm = 5};

/// Stops at several steps, inside and at the edges of the window, and goes on as another trainer from other weights.
template <class Scalar, class Options>
void check_resumes(const Options& options, optimizer::decay_mode mode) {
  const temporary_folder folder;
  const fs::path path = folder / "state.json";
  train::trainer_options training = windowed;
  training.decay_mode = mode;
  typename noisy_bowl<Scalar>::workspace memory;
  using rule = typename Options::template rule<Scalar>;
  const auto trainer_of = [&](std::vector<Scalar>& weights) {
    return train::trainer(noisy_bowl<Scalar>(), weights, rule(bowl_table().size(), options), training);
  };
  auto whole = bowl_start<Scalar>(), parts = whole;
  auto uninterrupted = trainer_of(whole);
  uninterrupted.run(9, memory);
  {
    auto first = trainer_of(parts);
    save_checkpoint(path, first);
  }
  for (const index stop : {1, 3, 4, 6, 9}) {
    std::vector<Scalar> weights(whole.size(), Scalar(0.5));
    auto resumed = trainer_of(weights);
    resume_checkpoint(path, resumed);
    resumed.run(stop, memory);
    save_checkpoint(path, resumed);
    CHECK(folder.entries() == 2);
    if (stop < 9) continue;
    CHECK(resumed.steps() == 9);
    CHECK(weights == whole);
    CHECK(resumed.rule() == uninterrupted.rule());
  }
}

TEST_CASE("a training that is stopped and resumed several times, about a window of decay, ends with the same bits") {
  using optimizer::decay_mode;
  check_resumes<double>(optimizer::sgd_options{}, decay_mode::ratio);
  check_resumes<float>(optimizer::sgd_options{}, decay_mode::absolute);
  check_resumes<double>(optimizer::momentum_options{}, decay_mode::coupled_l2);
  check_resumes<float>(optimizer::momentum_options{}, decay_mode::lr_scaled);
  check_resumes<float>(optimizer::momentum_options{.nesterov = true}, decay_mode::coupled_l2);
  check_resumes<double>(optimizer::momentum_options{.nesterov = true}, decay_mode::absolute);
  check_resumes<float>(optimizer::adam_options{.beta2 = 0.98}, decay_mode::coupled_l2);
  check_resumes<double>(optimizer::adam_options{}, decay_mode::lr_scaled);
}

/// Sums of two digits, each `copies` times, of which a small network learns.
task::sequence_set sums(int copies = 1) {
  std::vector<int> tokens, answers;
  for (int sum = 0; sum < 25 * copies; ++sum) {
    const int a = sum / 5 % 5, b = sum % 5;
    tokens.insert(tokens.end(), {a, b, 5});
    answers.push_back((a + b) % 5);
  }
  return {{.vocabulary = 6, .outputs = 5, .length = 3}, tokens, answers};
}

constexpr model::prenorm_shape small_shape{
    .vocabulary = 6, .outputs = 5, .context = 3, .width = 8, .heads = 2, .layers = 1, .hidden = 12};

/// A transformer on those sums, by Adam, in epochs of which the last batch is short.
struct small_training {
  using network = model::prenorm_transformer<float>;

  explicit small_training(int threads = 1, const model::prenorm_shape& shape = small_shape, std::uint64_t seed = 3,
                          const train::trainer_options& options = {.learning_rate = 0.01,
                                                                   .decay_schedule = schedule::window{2, 7, 0.3}})
      : net(shape),
        weights(model::initial_weights<float>(shape, {})),
        memory(backend::host(threads)),
        trainer(train::set_objective(net, data, {.size = 8, .seed = seed, .draw = population::sampling::epochs}),
                weights, optimizer::adam<float>(net.parameters().size()), options) {}

  small_training(const small_training&) = delete;
  small_training& operator=(const small_training&) = delete;

  task::sequence_set data = sums();
  network net;
  std::vector<float> weights;
  network::workspace memory;
  train::trainer<train::set_objective<network>, optimizer::adam<float>> trainer;
};

TEST_CASE("so does a transformer's, resumed in the middle of an epoch, on any number of threads") {
  const temporary_folder folder;
  small_training whole, first;
  whole.trainer.run(12, whole.memory);
  first.trainer.run(5, first.memory);  // an epoch has 4 steps
  save_checkpoint(folder / "state.json", first.trainer);
  small_training second(2);
  resume_checkpoint(folder / "state.json", second.trainer);
  second.trainer.run(12, second.memory);
  CHECK(second.weights == whole.weights);
  CHECK(second.trainer.rule() == whole.trainer.rule());
  CHECK(second.trainer.evaluate(second.memory) == whole.trainer.evaluate(whole.memory));
}

TEST_CASE("on four threads, too, among which batches are divided") {
  const temporary_folder folder;
  const small_training::network net(small_shape);
  const task::sequence_set data = sums(10);
  const auto behind_steps = [&](int threads, index interrupted) {
    auto weights = model::initial_weights<float>(small_shape, {});
    const auto trainer_of = [&] {
      return train::trainer(
          train::set_objective(net, data, {.size = 200, .seed = 3, .draw = population::sampling::epochs}), weights,
          optimizer::adam<float>(net.parameters().size()), {.learning_rate = 0.01});
    };
    small_training::network::workspace memory{backend::host(threads)};
    auto trainer = trainer_of();
    trainer.run(interrupted, memory);
    save_checkpoint(folder / "state.json", trainer);
    auto second = trainer_of();
    resume_checkpoint(folder / "state.json", second);
    second.run(4, memory);
    return weights;
  };
  CHECK(behind_steps(4, 1) == behind_steps(1, 3));
}

TEST_CASE("a step of a transformer allocates nothing after the first epoch, in which the longest batches come") {
  small_training training;
  training.trainer.run(4, training.memory);
  const long before = allocations;
  training.trainer.run(12, training.memory);
  CHECK(allocations.load() == before);
}

TEST_CASE("a transformer that diverges says at which step and in which activations") {
  small_training training;
  training.trainer.step(training.memory);
  for (float& weight : training.weights) weight *= 1e20f;
  const auto weights = training.weights;
  try {
    training.trainer.run(9, training.memory);
    FAIL("nothing was thrown");
  } catch (const train::divergence_error& fault) {
    CHECK(contains(fault.tensor(), "activations blocks.0."));
    CHECK(fault.step() == 1);
    CHECK(contains(fault.what(), " at step 1"));
  }
  CHECK(training.trainer.steps() == 1);
  CHECK(training.weights == weights);
}

TEST_CASE("a training that a signal ends behind a step goes on from its checkpoint") {
  const temporary_folder folder;
  small_training whole, second;
  whole.trainer.run(6, whole.memory);
  std::signal(SIGTERM, SIG_DFL);
  {
    const train::interrupt interrupt;
    small_training first(1, small_shape, 3,
                         {.learning_rate = 0.01, .decay_schedule = schedule::window{2, 7, 0.3}, .stop = [&] {
                            return interrupt.requested();
                          }});
    CHECK(first.trainer.run(6, first.memory, train::at({4}, [](const auto&) { std::raise(SIGTERM); })) ==
          train::run_end::stopped);
    CHECK(first.trainer.steps() == 5);
    save_checkpoint(folder / "state.json", first.trainer);
  }
  resume_checkpoint(folder / "state.json", second.trainer);
  second.trainer.run(6, second.memory);
  CHECK(second.weights == whole.weights);
}

TEST_CASE("what observers have been told is not told again after a resume") {
  const temporary_folder folder;
  const auto told_after = [&](bool observed) {
    small_training first, second;
    const auto ignore = [](const auto&) {};
    observed ? first.trainer.run(2, first.memory, ignore) : first.trainer.run(2, first.memory);
    save_checkpoint(folder / "state.json", first.trainer);
    resume_checkpoint(folder / "state.json", second.trainer);
    std::vector<index> steps;
    second.trainer.run(3, second.memory, [&](const auto& here) { steps.push_back(here.step); });
    return steps;
  };
  CHECK(told_after(true) == std::vector<index>{3});
  CHECK(told_after(false) == std::vector<index>{2, 3});
}

TEST_CASE("the safetensors file has all parameters and moments by name, vectors with one dimension") {
  const temporary_folder folder;
  small_training training;
  training.trainer.run(3, training.memory);
  save_checkpoint(folder / "state.json", training.trainer);
  const auto state = io::read_json(folder / "state.json");
  CHECK(state["steps"] == 3);
  CHECK(state["configuration"]["decay_schedule"] == "window(2, 7, 0.3)");
  CHECK(state["configuration"]["batch.seed"] == "3");
  const parameter_table& table = training.net.parameters();
  const auto tensors = io::read_safetensors<float>(folder / state["tensors"].get<std::string>());
  CHECK(tensors.size() == 3 * static_cast<std::size_t>(table.count()));
  for (const auto& each : tensors) {
    const bool first = each.name.starts_with("first_moment."), second = each.name.starts_with("second_moment.");
    const parameter& which = table.find(each.name.substr(first ? 13 : second ? 14 : 0));
    CHECK(each.shape == (which.vector ? std::vector{which.columns} : std::vector{which.rows, which.columns}));
    const auto& rule = training.trainer.rule();
    const auto view = table.view(which, first    ? rule.first_moment()
                                        : second ? rule.second_moment()
                                                 : training.trainer.weights());
    CHECK(std::vector<float>(view.begin(), view.end()) == each.values);
  }
}

TEST_CASE("a training of another configuration is refused by the key that differs") {
  const temporary_folder folder;
  const fs::path path = folder / "state.json";
  small_training training;
  training.trainer.run(3, training.memory);
  save_checkpoint(path, training.trainer, {{"split.seed", "4"}});
  const auto refused_key = [&](small_training other, const train::settings& also = {{"split.seed", "4"}}) {
    const auto weights = other.weights;
    try {
      resume_checkpoint(path, other.trainer, also);
    } catch (const train::configuration_error& fault) {
      CHECK(other.weights == weights);
      CHECK(other.trainer.steps() == 0);
      CHECK(contains(fault.what(), path.string()));
      return fault.argument();
    }
    return std::string("none");
  };
  CHECK(refused_key(small_training()) == "none");
  auto wider = small_shape;
  wider.width = 10;
  CHECK(refused_key(small_training(1, wider)) == "shape.width");
  CHECK(refused_key(small_training(1, small_shape, 4)) == "batch.seed");
  CHECK(refused_key(small_training(1, small_shape, 3, {.learning_rate = 0.02})) == "learning_rate");
  CHECK(refused_key(small_training(1, small_shape, 3, {.learning_rate = 0.01})) == "decay_schedule");
  CHECK(refused_key(small_training(), {{"split.seed", "5"}}) == "split.seed");
  CHECK(refused_key(small_training(), {}) == "split.seed");
  CHECK(refused_key(small_training(), {{"split.seed", "4"}, {"more", ""}}) == "more");
  CHECK_THROWS_AS(save_checkpoint(path, training.trainer, {{"steps", ""}, {"steps", ""}}), argument_error);
}

TEST_CASE("each setting of a training, changed alone, has it refused by that setting's name") {
  const temporary_folder folder;
  const fs::path path = folder / "state.json";
  struct choice {
    train::trainer_options options = {.learning_rate = 0.01, .groups = {{"all", 1, {"embedding", "weight", "bias"}}}};
    optimizer::adam_options rule = {};
    std::uint64_t seed = 1;
  };
  const auto trainer_of = [](std::vector<double>& weights, const choice& with) {
    return train::trainer(noisy_bowl<double>{.seed = with.seed}, weights,
                          optimizer::adam<double>(bowl_table().size(), with.rule), with.options);
  };
  auto weights = bowl_start<double>();
  auto saved = trainer_of(weights, {});
  save_checkpoint(path, saved);
  const auto refused_key = [&](const auto& change) {
    choice with;
    change(with);
    auto other = trainer_of(weights, with);
    try {
      resume_checkpoint(path, other);
    } catch (const train::configuration_error& fault) {
      return fault.argument();
    }
    return std::string("none");
  };
  CHECK(refused_key([](choice&) {}) == "none");
  CHECK(refused_key([](choice& with) { with.seed = 2; }) == "seed");
  CHECK(refused_key([](choice& with) { with.rule.beta1 = 0.8; }) == "optimizer.beta1");
  CHECK(refused_key([](choice& with) { with.rule.beta2 = 0.8; }) == "optimizer.beta2");
  CHECK(refused_key([](choice& with) { with.rule.epsilon = 1e-6; }) == "optimizer.epsilon");
  CHECK(refused_key([](choice& with) { with.rule.decay.rate = 0.1; }) == "optimizer.decay.rate");
  CHECK(refused_key([](choice& with) { with.rule.decay.mode = optimizer::decay_mode::coupled_l2; }) ==
        "optimizer.decay.mode");
  CHECK(refused_key([](choice& with) { with.rule.decay.base_learning_rate = 1; }) ==
        "optimizer.decay.base_learning_rate");
  CHECK(refused_key([](choice& with) { with.options.learning_rate = 0.02; }) == "learning_rate");
  CHECK(refused_key([](choice& with) { with.options.learning_rate_schedule = 0.5; }) == "learning_rate_schedule");
  CHECK(refused_key([](choice& with) { with.options.decay_schedule = 0.5; }) == "decay_schedule");
  CHECK(refused_key([](choice& with) { with.options.decay_mode = optimizer::decay_mode::absolute; }) == "decay_mode");
  CHECK(refused_key([](choice& with) { with.options.groups[0].name = "every"; }) == "groups.0");
  CHECK(refused_key([](choice& with) { with.options.groups[0].base_decay = 2; }) == "groups.0");
  CHECK(refused_key([](choice& with) { with.options.groups[0].decay_schedule = 0.0; }) == "groups.0");
  CHECK(refused_key([](choice& with) {
          with.options.groups = {{"all", 1, {"embedding", "weight"}}, {"bias", 1, {"bias"}}};
        }) == "groups.0");
  CHECK(refused_key([](choice& with) { with.options.clip_norm = 3; }) == "clip_norm");

  std::vector<double> by_another = weights;
  train::trainer other_rule(noisy_bowl<double>(), by_another, optimizer::sgd<double>(bowl_table().size()));
  std::string key;
  try {
    resume_checkpoint(path, other_rule);
  } catch (const train::configuration_error& fault) {
    key = fault.argument();
  }
  CHECK(key == "optimizer");
  auto single = bowl_start<float>();
  train::trainer in_float(noisy_bowl<float>(), single, optimizer::adam<float>(bowl_table().size()), choice().options);
  try {
    resume_checkpoint(path, in_float);
  } catch (const train::configuration_error& fault) {
    key = fault.argument();
  }
  CHECK(key == "precision");
}

TEST_CASE("settings of an objective on a set: every member of the shape, the data, and how batches are drawn") {
  const auto settings_of = [](const model::prenorm_shape& shape, int copies, const population::batches& draw) {
    const small_training::network net(shape);
    const task::sequence_set data = sums(copies);
    train::settings all;
    train::set_objective(net, data, draw).describe(all);
    return all;
  };
  const population::batches draw{.size = 8, .seed = 3, .draw = population::sampling::epochs};
  const auto before = settings_of(small_shape, 1, draw);
  const auto differing = [&](const train::settings& other) {
    std::vector<std::string> keys;
    REQUIRE(other.size() == before.size());
    for (std::size_t i = 0; i < other.size(); ++i)
      if (other[i] != before[i]) keys.push_back(other[i].first);
    return keys;
  };
  using keys = std::vector<std::string>;
  const auto by_shape = [&](auto member, auto value) {
    auto shape = small_shape;
    shape.*member = value;
    return differing(settings_of(shape, 1, draw));
  };
  using shape = model::prenorm_shape;
  CHECK(by_shape(&shape::width, 10) == keys{"shape.width"});
  CHECK(by_shape(&shape::heads, 4) == keys{"shape.heads"});
  CHECK(by_shape(&shape::layers, 2) == keys{"shape.layers"});
  CHECK(by_shape(&shape::hidden, 13) == keys{"shape.hidden"});
  CHECK(by_shape(&shape::context, 4) == keys{"shape.context"});
  CHECK(by_shape(&shape::activation, backend::activation::relu) == keys{"shape.activation"});
  CHECK(by_shape(&shape::causal, false) == keys{"shape.causal"});
  CHECK(by_shape(&shape::biases, false) == keys{"shape.biases"});
  CHECK(by_shape(&shape::key_bias, false) == keys{"shape.key_bias"});
  CHECK(differing(settings_of(small_shape, 2, draw)) == keys{"data.sequences", "data.digest"});
  const auto by_draw = [&](auto member, auto value) {
    auto other = draw;
    other.*member = value;
    return differing(settings_of(small_shape, 1, other));
  };
  CHECK(by_draw(&population::batches::size, 9) == keys{"batch.size"});
  CHECK(by_draw(&population::batches::seed, 4) == keys{"batch.seed"});
  CHECK(by_draw(&population::batches::draw, population::sampling::with_replacement) == keys{"batch.draw"});
}

TEST_CASE("damaged, foreign and missing files are refused by path, and are left as they are") {
  const temporary_folder folder;
  const fs::path path = folder / "state.json";
  small_training training, other;
  const auto refusal = [&] { return message_of<file_error>([&] { resume_checkpoint(path, other.trainer); }); };
  CHECK(contains(refusal(), path.string()));
  training.trainer.run(1, training.memory);
  save_checkpoint(path, training.trainer);
  const fs::path tensors = folder / io::read_json(path)["tensors"].get<std::string>();
  const std::string state = content(path), numbers = content(tensors);

  const auto replaced = [](std::string text, const std::string& part, const std::string& by) {
    REQUIRE(contains(text, part));
    return text.replace(text.find(part), part.size(), by);
  };
  for (const std::string& damaged :
       {std::string(), state.substr(0, state.size() / 2), replaced(state, "\"steps\": 1", "\"steps\": 2"),
        replaced(state, "\"lindyn_checkpoint\": 1", "\"lindyn_checkpoint\": 2"), std::string("{\"steps\": 1}"),
        std::string("[1]")}) {
    put(path, damaged);
    CHECK(contains(refusal(), path.string()));
    CHECK(content(path) == damaged);
  }
  put(path, state);
  auto flipped = numbers;
  flipped[numbers.size() - 5] = static_cast<char>(flipped[numbers.size() - 5] ^ 1);
  for (const std::string& damaged : {std::string(), numbers.substr(0, numbers.size() - 1), flipped}) {
    put(tensors, damaged);
    CHECK(contains(refusal(), tensors.string()));
    CHECK(content(tensors) == damaged);
  }
  fs::remove(tensors);
  CHECK(contains(refusal(), tensors.string()));
  CHECK(other.trainer.steps() == 0);
  put(tensors, numbers);
  CHECK(refusal().empty());
  CHECK(other.weights == training.weights);
}

TEST_CASE(
    "a state whose digest is right, but whose members are not, is refused by path; so are tensors of another step") {
  const temporary_folder folder;
  const fs::path path = folder / "state.json";
  small_training training, other;
  training.trainer.run(1, training.memory);
  save_checkpoint(path, training.trainer);
  const io::json state = io::read_json(path);
  const auto refusal = [&](const std::string& member, const io::json& value) {
    io::json changed = state;
    changed.erase("digest");
    changed[member] = value;
    changed["digest"] = io::digest()(changed.dump()).text();
    io::write_json(path, changed);
    return message_of<file_error>([&] { resume_checkpoint(path, other.trainer); });
  };
  for (const char* member : {"steps", "observed", "optimizer_steps", "configuration", "tensors", "tensors_digest"}) {
    CAPTURE(std::string(member));
    CHECK(contains(refusal(member, io::json::array()), path.string()));
  }
  CHECK(contains(refusal("configuration", {{"precision", 1}}), path.string()));
  CHECK(contains(refusal("steps", 2), "isn't the file that was written with it"));
  CHECK(other.trainer.steps() == 0);
}

TEST_CASE("where a checkpoint can't be written, the one before stays whole") {
  const temporary_folder folder;
  const fs::path path = folder / "state.json";
  small_training training, other;
  training.trainer.run(2, training.memory);
  save_checkpoint(path, training.trainer);
  const auto before = training.weights;
  training.trainer.run(3, training.memory);
  const fs::path unfinished = folder / "state.json.unfinished.safetensors";
  fs::create_directory(unfinished);  // stands where the tensors are to be written
  CHECK_THROWS_AS(save_checkpoint(path, training.trainer), file_error);
  resume_checkpoint(path, other.trainer);
  CHECK(other.trainer.steps() == 2);
  CHECK(other.weights == before);
  put(folder / "file", "");
  CHECK_THROWS_AS(save_checkpoint(folder / "file" / "state.json", training.trainer), file_error);
  fs::remove(folder / "file");
  fs::remove(unfinished);

  // The tensors are written, but not the JSON file.
  fs::rename(path, folder / "kept");
  fs::create_directory(path);
  CHECK_THROWS_AS(save_checkpoint(path, training.trainer), file_error);
  fs::remove(path);
  fs::rename(folder / "kept", path);
  resume_checkpoint(path, other.trainer);
  CHECK(other.trainer.steps() == 2);
  CHECK(other.weights == before);

  put(folder / "state.json.other.safetensors", "somebody else's");
  save_checkpoint(path, training.trainer);
  CHECK(folder.entries() == 3);  // the former tensors have gone, and nothing else
}

TEST_CASE("checkpoints whose names differ in their endings alone stand side by side, in a folder that is made") {
  const temporary_folder folder;
  noisy_bowl<double>::workspace memory;
  auto weights = bowl_start<double>();
  train::trainer trainer(noisy_bowl<double>(), weights, optimizer::sgd<double>(bowl_table().size()));
  const fs::path runs = folder / "all" / "runs";
  std::vector<std::vector<double>> saved;
  for (const char* name : {"run.1", "run.2", "run"}) {
    trainer.step(memory);
    save_checkpoint(runs / name, trainer);
    saved.push_back(weights);
  }
  fs::create_symlink(runs / "run.2", folder / "link");
  const auto resumed = [&](const fs::path& path) {
    resume_checkpoint(path, trainer);
    return weights;
  };
  CHECK(resumed(runs / "run.1") == saved[0]);
  CHECK(resumed(runs / "run") == saved[2]);
  CHECK(resumed(folder / "link") == saved[1]);
  save_checkpoint(folder / "link", trainer);
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(folder.entries() == 2);
}

TEST_CASE("of several who write one checkpoint, each leaves a pair that belongs together") {
  const temporary_folder folder;
  const fs::path path = folder / "state.json";
  const auto write = [&](std::uint64_t start) {
    noisy_bowl<double>::workspace memory;
    std::vector<double> weights(bowl_start<double>().size(), static_cast<double>(start));
    train::trainer trainer(noisy_bowl<double>(), weights, optimizer::sgd<double>(bowl_table().size()));
    for (int save = 0; save < 10; ++save) {
      trainer.step(memory);
      save_checkpoint(path, trainer);
    }
  };
  { const std::jthread first(write, 1), second(write, 2); }
  auto weights = bowl_start<double>();
  train::trainer trainer(noisy_bowl<double>(), weights, optimizer::sgd<double>(bowl_table().size()));
  CHECK_NOTHROW(resume_checkpoint(path, trainer));
  CHECK(trainer.steps() == 10);
  CHECK(folder.entries() == 2);
}

/// For checkpoint_package.sh: trains, and writes a checkpoint where the environment says, and beside it what is in it.
TEST_CASE("a checkpoint is written where the environment says" * doctest::skip()) {
  const char* const path = std::getenv("LINDYN_CHECKPOINT");
  REQUIRE(path != nullptr);
  small_training training;
  training.trainer.run(5, training.memory);
  save_checkpoint(path, training.trainer);
  io::json content = io::json::object();
  for (const parameter& which : training.net.parameters()) {
    const auto add = [&](const std::string& name, std::span<const float> buffer) {
      const auto view = training.net.parameters().view(which, buffer);
      for (index row = 0; row < view.rows; ++row) content[name].push_back(view.row(row));
      if (which.vector) content[name] = io::json(content[name][0]);
    };
    add(which.name, training.weights);
    add("first_moment." + which.name, training.trainer.rule().first_moment());
    add("second_moment." + which.name, training.trainer.rule().second_moment());
  }
  io::write_json(fs::path(path).replace_extension(".content"), content);
}

}  // namespace
