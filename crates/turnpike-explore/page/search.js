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
    const nothing = program ? "any-error" : queries ? `the ${queries} queries of the model` : "deadlock";
    byId("find").placeholder = nothing;
    const strategies = this.model.strategies.filter((strategy) => program || !strategy.programs_only);
    byId("strategy").replaceChildren(...strategies.map(({ name }) => make("option", { value: name }, name)));
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
    byId("wrong").textContent = problem ?? "";
  }

  begin() {
    if (this.source) return;
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
    const answers = data.answers
      ? data.answers.map((answer) => this.answer(answer))
      : [this.result(data.findings, data.findings.objectives.join("; "))];
    for (const answer of answers) byId("results").prepend(answer);
    notice(data.interrupted ? "stopped" : `${data.verdict} after ${data.seconds.toFixed(2)} s`);
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

  result(findings, title) {
    const counts = findings.states === null ? "" : `, ${counted(findings.states, "state")}, depth ${grouped(findings.depth)}`;
    const item = make("li", {},
      make("p", {}, make("strong", {}, findings.verdict), ` ${title}`),
      make("p", { class: "quiet" }, `${findings.strategy}${counts}${findings.left_out ? `; ${findings.left_out}` : ""}`));
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
    if (await this.steps.go(witness.visit)) this.steps.follow();
  }
}
