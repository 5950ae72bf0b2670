// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The options of a law on the command line and in summaries.

#include <string>

#include <CLI/CLI.hpp>

#include <lindyn/io/json.hpp>

#include "recall_experiment.hpp"
#include "refuse_unused.hpp"

namespace examples {

/// Adds the options that decide a law.
inline void add_law_options(CLI::App& app, law_options& law) {
  app.add_option("--task", law.task, "what is asked")->check(CLI::IsMember(examples::tasks))->capture_default_str();
  app.add_option("--pairs", law.pairs, "N, blocks before the query")->capture_default_str();
  app.add_option("--vocab", law.vocabulary, "V, tokens")->capture_default_str();
  app.add_option("--block", law.block, "recall: k, tokens of a block (0: 2)")->capture_default_str();
  app.add_option("--hops", law.hops, "j_hop: j, blocks from the query to the answer")->capture_default_str();
  app.add_option("--conditions", law.conditions, "conditional_retrieval: m, of which N is a multiple")
      ->capture_default_str();
  app.add_flag("--association", law.association,
               "recall: tokens are matched in couples whose labels can be stored in weights");
  app.add_flag("--directed", law.directed, "recall: the same, where every token is an item or a label");
  app.add_option("--within-class", law.within_class,
                 "with --association or --directed: probability of a label that isn't stored")
      ->capture_default_str();
  app.add_option("--rare", law.rare, "recall: probability that a pair is of rare tokens")->capture_default_str();
  app.add_option("--rare-vocab", law.rare_vocabulary, "rare tokens among the V (0: there is no such class)")
      ->capture_default_str();
  app.add_option("--burstiness", law.burstiness, "recall: blocks that hold the queried pair")->capture_default_str();
  app.add_option("--distractors", law.distractors, "recall: further blocks that are never asked for")
      ->capture_default_str();
  app.add_option("--positions", law.positions, "how positions are drawn: slots or ring")->capture_default_str();
  app.add_option("--slots", law.slots, "slots of positions (0: blocks + 2)")->capture_default_str();
  app.add_option("--ring", law.ring, "with --positions ring: positions on it (0: block x slots)")
      ->capture_default_str();
}

/// refuse_unused for all options of a law.
inline void refuse_unused_law_options(const CLI::App& app, const law_options& law) {
  refuse_unused(app, "--hops", law.task == "j_hop", "--task j_hop");
  refuse_unused(app, "--conditions", law.task == "conditional_retrieval", "--task conditional_retrieval");
  refuse_unused(app, "--within-class", law.association || law.directed, "--association or --directed");
  refuse_unused(app, "--ring", law.positions == "ring", "--positions ring");
}

/// Appends a law's options to a summary.
inline void append_law(lindyn::io::json& summary, const law_options& law) {
  summary["task"] = law.task;
  summary["pairs"] = law.pairs;
  summary["vocab"] = law.vocabulary;
  summary["block"] = law.block;
  summary["hops"] = law.hops;
  summary["conditions"] = law.conditions;
  summary["association"] = law.association;
  summary["directed"] = law.directed;
  summary["within_class"] = law.within_class;
  summary["rare"] = law.rare;
  summary["rare_vocab"] = law.rare_vocabulary;
  summary["burstiness"] = law.burstiness;
  summary["distractors"] = law.distractors;
  summary["positions"] = law.positions;
  summary["slots"] = law.slots;
  summary["ring"] = law.ring;
}

}  // namespace examples
