// Searching: a form, signs of life, and results to look at.

import { Refused, post, search } from "./api.js";
import { Completion } from "./complete.js";
import { byId, counted, grouped, make, notice, words } from "./elements.js";

// Options with a field of their own, and its id.
const LIMITS = {
  seed: "seed",
  "max-states": "max-states",
  "max-depth": "max-depth",
  "max-time": "max-time",
  "max-memory": "max-memory",
  threads: "thread-count",
  runs: "runs",
};

export class Search {
  constructor(model, steps, pictures) {
    this.model = model;
    this.steps = steps;
    this.pictures = pictures;
    this.source = null;
    this.fillForm();
    const form = byId("form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.begin();
    });
    form.addEventListener("input", () => this.preview());
    byId("stop").addEventListener("click", () => this.stop());
    byId("strategy").addEventListener("change", () => this.showStrategy());
    this.showStrategy();
    this.preview();
  }

  fillForm() {
    const { program, queries } = this.model;
    new Completion(byId("find"), (before) => this.words(before));
    byId("queries-label").hidden = !this.model.timed;
    this.fillFormulas();
    const nothing = program ? "any-error" : queries ? (queries === 1 ? "the query of the model" : `the ${queries} queries of the model`) : "deadlock";
    byId("find").placeholder = nothing;
    const strategies = this.model.strategies.filter((strategy) => program || !strategy.programs_only);
    byId("strategy").replaceChildren(...strategies.map(({ name }) => make("option", { value: name }, name)));
  }

  // Formulas can be written, or chosen from the files beside the model.
  fillFormulas() {
    const { formulas } = this.model;
    if (!formulas) return;
    byId("formulas").hidden = false;
    new Completion(byId("formula"), (before) => (before === "" ? [] : [...this.model.actions, "true", "false", "forall", "exists", "mu", "nu"]), /[\s&|!<>=+*/.()[\]]/);
    byId("formula-files").hidden = formulas.length === 0;
    byId("formula-files").append(...formulas.map((file) => make("label", { class: "inline file", title: file },
      make("input", { type: "checkbox", "data-formula": file }), file.split("/").at(-1))));
  }

  // What can stand after the words before: objectives first, then the names of the model.
  words(before) {
    const { actions, parameters, locations, suggestions, measures, program } = this.model;
    const [keyword] = before.split(/\s/);
    if (keyword === "") {
      return [...new Set([
        ...suggestions,
        ...(program
          ? ["any-error", "deadlock", "assertion", "panic", "crash", "heap", "race", "leak", "hang", "livelock"]
          : ["deadlock", "livelock", "nondeterminism"]),
        "action", "label", "cover", "min", "max",
        ...(program ? [] : ["state"]),
      ])];
    }
    if (keyword === "action" || keyword === "label" || keyword === "cover") return before === keyword ? actions : [];
    if (keyword === "min" || keyword === "max") return before === keyword ? [...measures, ...actions.map((name) => `${name}.1`)] : [];
    if (keyword !== "state") return [];
    // After a comparison: the value that the name has now.
    const compared = /(\S+)\s*[=!<>]=?$/.exec(before);
    const known = compared && this.steps.details?.values.find(({ name }) => name === compared[1]);
    if (known) return [known.value];
    return [...locations, ...parameters.filter((name) => name !== "zone"), "deadlock"];
  }

  strategy() {
    return this.model.strategies.find(({ name }) => name === byId("strategy").value);
  }

  showStrategy() {
    const strategy = this.strategy();
    byId("about-strategy").textContent = `${strategy.summary}; ${strategy.guarantee}`;
    byId("strategy-options").replaceChildren(...strategy.options.map((option) => {
      const input = make("input", option.switch
        ? { type: "checkbox", "data-option": option.name }
        : { "data-option": option.name, placeholder: option.default, spellcheck: "false" });
      return make("label", { title: option.doc }, `${option.name} `, input);
    }));
    this.preview();
  }

  // What the form says, as options of a request.
  options() {
    const options = [];
    const find = byId("find").value.trim();
    if (find !== "") options.push(["find", find]);
    const queries = byId("queries").value.split("\n").map((query) => query.trim()).filter((query) => query !== "");
    options.push(...queries.map((query) => ["query", query]));
    const formula = byId("formula").value.trim();
    if (formula !== "") options.push(["formula", formula]);
    for (const file of byId("formula-files").querySelectorAll("input:checked")) options.push(["formula", file.dataset.formula]);
    const strategy = byId("strategy").value;
    if (strategy !== this.model.strategies[0].name) options.push(["strategy", strategy]);
    for (const input of byId("strategy-options").querySelectorAll("[data-option]")) {
      if (input.type === "checkbox" ? input.checked : input.value.trim() !== "") {
        options.push([input.dataset.option, input.type === "checkbox" ? "" : input.value.trim()]);
      }
    }
    for (const [name, id] of Object.entries(LIMITS)) {
      const value = byId(id).value.trim();
      if (value !== "") options.push([name, value]);
    }
    return options;
  }

  async preview() {
    const asked = (this.previews = (this.previews ?? 0) + 1);
    const begun = this.begun;
    let answer;
    try {
      answer = await post("/api/command", { options: this.options() });
    } catch (error) {
      answer = { problem: error instanceof Refused ? error.message : "turnpike no longer answers" };
    }
    // Answers may overtake each other.
    if (asked !== this.previews) return;
    const { command, problem } = answer;
    byId("command").replaceChildren(...words(command ?? ""));
    // A search that began meanwhile has its own problems to show.
    if (begun === this.begun) byId("wrong").textContent = problem ?? "";
  }

  begin() {
    if (this.source) return;
    this.begun = (this.begun ?? 0) + 1;
    this.number = null;
    this.stopping = false;
    byId("wrong").textContent = "";
    byId("go").disabled = true;
    byId("stop").hidden = false;
    byId("progress").hidden = false;
    byId("progress").replaceChildren();
    this.began = performance.now();
    notice("searching");
    this.source = search(this.options(), (name, data) => this.hear(name, data));
  }

  // The search reports what it has; a second request does not wait for that.
  async stop() {
    if (!this.source) return;
    if (this.number === null || this.stopping) {
      this.source.close();
      this.done("stopped");
      return;
    }
    this.stopping = true;
    notice("stopping");
    try {
      await post(`/api/search/${this.number}/stop`);
    } catch { /* It has just ended by itself. */ }
  }

  done(text) {
    this.source = null;
    byId("go").disabled = false;
    byId("stop").hidden = true;
    byId("progress").hidden = true;
    notice(text);
  }

  hear(name, data) {
    if (name === "started") {
      this.command = data.command;
      this.number = data.search;
    }
    else if (name === "warning") byId("wrong").textContent = data.message;
    else if (name === "progress") this.showProgress(data);
    else if (name === "refused") {
      this.done("");
      byId("wrong").textContent = data.message;
    }
    else if (name === "finished") this.finish(data);
  }

  showProgress(data) {
    if (data.event === "generation") {
      notice(`generation ${data.generation}: best fitness ${data.best}`);
      return;
    }
    if (data.event === "shortening") {
      notice(`found; shortening ${data.length} steps`);
      return;
    }
    if (data.event === "game") {
      notice(`solving the game of the formula: ${counted(data.states, "state")}, ${data.seconds.toFixed(1)} s`);
      return;
    }
    const rate = data.states / Math.max(data.seconds, 1e-3);
    if (data.member) notice(`searching: ${data.member}`);
    const rows = [
      ["states", grouped(data.states)],
      ["rate", `${grouped(Math.round(rate))} per second`],
      ["depth", grouped(data.depth)],
      ["memory", `${(data.bytes / 2 ** 20).toFixed(0)} MiB`],
      ["time", `${data.seconds.toFixed(1)} s`],
    ];
    rows.push(["member", data.member ?? byId("strategy").value]);
    // Only texts change: nothing flickers, however often this happens.
    const list = byId("progress");
    if (list.children.length === 0) list.append(...rows.flatMap(([term]) => [make("dt", {}, term), make("dd")]));
    rows.forEach(([, text], index) => {
      list.children[2 * index + 1].textContent = text;
    });
  }

  finish(data) {
    this.done("");
    if (data.problems) {
      const [first] = data.problems;
      byId("wrong").textContent = first.help ? `${first.message} (${first.help})` : first.message;
      return;
    }
    let answers;
    if (data.formulas) answers = data.formulas.map((answer) => this.verdict(answer));
    else if (data.answers) answers = data.answers.map((answer) => this.answer(answer));
    else answers = [this.result(data.findings, data.findings.objectives.join("; "))];
    for (const answer of answers) byId("results").prepend(answer);
    const verdict = data.formulas ? this.countVerdicts(data.formulas) : data.verdict;
    notice(data.interrupted ? "stopped" : `${verdict} after ${data.seconds.toFixed(2)} s`);
    if (data.formulas) {
      const shown = data.formulas.find(({ reply }) => reply.evidence);
      if (shown) this.lookAtEvidence(shown);
      return;
    }
    const [best] = (data.findings ?? data.answers.find((one) => one.reply.findings?.witnesses.length)?.reply.findings)?.witnesses ?? [];
    if (best) this.look(best);
  }

  answer({ query, reply }) {
    if (reply.problems) return make("li", {}, make("p", {}, query), make("p", { class: "wrong" }, reply.problems[0].message));
    if (reply.values) {
      const doubt = reply.measured === "measured" ? "" : `${reply.measured}: `;
      return make("li", {}, make("p", {}, query), make("p", {}, make("strong", {}, doubt + (reply.values.join(", ") || "no state has a value"))));
    }
    if (!reply.findings) return make("li", {}, make("p", {}, `${query}: measured`));
    const satisfied = { true: "satisfied", false: "not satisfied", null: "not known" }[String(reply.satisfied)];
    return this.result(reply.findings, `${query}: ${satisfied}`);
  }

  // How many formulas hold, and how many do not.
  countVerdicts(formulas) {
    const counts = new Map();
    for (const { reply } of formulas) {
      const verdict = reply.verdict ?? "wrong";
      counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    }
    if (formulas.length === 1) return [...counts.keys()][0];
    return [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(", ");
  }

  // A formula with its verdict, and what shows it.
  verdict(answer) {
    const { formula, text, reply, seconds } = answer;
    const item = make("li", {}, make("p", { title: text }, make("strong", {}, reply.verdict ?? "wrong"), ` ${formula}`));
    if (reply.problems) {
      for (const problem of reply.problems) item.append(make("p", { class: "wrong" }, problem.help ? `${problem.message} (${problem.help})` : problem.message));
      return item;
    }
    const how = [`${reply.fragment}${reply.strategy ? `, ${reply.strategy}` : ""}`, `${counted(reply.states, "state")} expanded`, `${seconds.toFixed(2)} s`];
    item.append(make("p", { class: "quiet" }, how.join(", ")));
    if (reply.reason) item.append(make("p", {}, `not decided: ${reply.reason}`));
    if (reply.sentence) item.append(make("p", {}, reply.sentence));
    item.append(make("p", {}, make("code", {}, ...words(this.command))));
    for (const warning of reply.warnings) item.append(make("p", { class: "wrong" }, warning.message));
    const { evidence } = reply;
    if (evidence) {
      const about = evidence.kind === "strategy"
        ? `Look at ${counted(evidence.states, "state")} that show it`
        : `Look at ${counted(evidence.length, "step")}${evidence.loop === null ? "" : " with a loop"}`;
      item.append(make("button", { type: "button", onclick: () => this.lookAtEvidence(answer) }, about));
    }
    return item;
  }

  lookAtEvidence({ reply: { evidence } }) {
    if (evidence.kind === "strategy") this.pictures.showEvidence(evidence);
    else if (evidence.visit === null) notice(`the path: ${evidence.labels.join(", ")}`);
    else this.look(evidence);
  }

  result(findings, title) {
    const counts = findings.states === null ? "" : `, ${counted(findings.states, "state")}, depth ${grouped(findings.depth)}; ${findings.stopped}`;
    const item = make("li", {},
      make("p", {}, make("strong", {}, findings.verdict), ` ${title}`),
      make("p", { class: "quiet" }, `${findings.strategy}${counts}${findings.left_out ? `; ${findings.left_out}` : ""}`));
    for (const [what, value] of Object.entries(findings.extreme ?? {})) {
      item.append(make("p", {}, make("strong", {}, value === null ? `${what}: no value seen` : `${what} = ${value}`)));
    }
    item.append(make("p", {}, make("code", {}, ...words(this.command))));
    for (const warning of findings.warnings) item.append(make("p", { class: "wrong" }, warning.message));
    for (const witness of findings.witnesses) {
      const length = `${counted(witness.length, "step")}${witness.shortest ? ", shortest" : ""}`;
      item.append(make("button", { type: "button", title: witness.objective, onclick: () => this.look(witness) }, `Look at ${length}`));
    }
    return item;
  }

  async look(witness) {
    if (witness.visit === null) {
      notice("this witness cannot be followed step by step");
      return;
    }
    this.pictures.loop = witness.loop;
    if (!await this.steps.go(witness.visit)) return;
    this.steps.follow();
    // A loop belongs to the way that is followed now.
    this.pictures.draw();
  }
}
