// Stepping: the state, the ways on, the way behind, and the tree of all that was visited.

import { get, post } from "./api.js";
import { Delay } from "./delay.js";
import { byId, grouped, make, notice, scrollWithin } from "./elements.js";

export class Steps {
  constructor(model) {
    this.model = model;
    this.listeners = [];
    // Visits that this page knows: their parents, labels and children.
    this.tree = new Map([[0, { parent: null, label: "", children: [] }]]);
    this.followed = [];
    this.pinned = new Set();
    this.seed = 0;
    this.delay = new Delay(this);
    byId("back").addEventListener("click", () => this.back());
    byId("start").addEventListener("click", () => this.go(0));
    byId("walk").addEventListener("click", () => this.walk());
    byId("filter-values").addEventListener("input", () => this.showValues());
    let waiting;
    byId("filter-enabled").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.go(this.details.visit), 120);
    });
  }

  onMove(listener) {
    this.listeners.push(listener);
  }

  // Asks for a state and shows it. What is refused changes nothing.
  async ask(question) {
    let details;
    try {
      details = await question();
    } catch (error) {
      notice(error.message);
      return false;
    }
    notice("");
    this.details = details;
    this.remember(details.path);
    this.show();
    for (const listener of this.listeners) listener(details);
    return true;
  }

  go(visit) {
    const label = byId("filter-enabled").value.trim();
    const pattern = label === "" || /[*?]/.test(label) ? label : `*${label}*`;
    return this.ask(() => get(`/api/visit/${visit}?label=${encodeURIComponent(pattern)}`));
  }

  // Takes one of the listed transitions.
  take(index) {
    const way = this.details.enabled[index];
    if (way) return this.takeChoice(way.choice);
  }

  takeChoice(choice) {
    const { chosen } = this.delay;
    return this.ask(() => post(`/api/visit/${this.details.visit}/step`, chosen === null ? { choice } : { choice, delay: chosen }));
  }

  back() {
    const before = this.details.path.at(-2);
    if (before) return this.go(before.visit);
  }

  ahead() {
    const place = this.followed.indexOf(this.details.visit);
    if (place >= 0 && place + 1 < this.followed.length) return this.go(this.followed[place + 1]);
  }

  walk() {
    const steps = Math.max(1, Number.parseInt(byId("walk-steps").value, 10) || 1);
    this.seed += 1;
    return this.ask(() => post(`/api/visit/${this.details.visit}/walk`, { steps, seed: this.seed }));
  }

  // Goes to a state by choices from the initial one; `drawn` if they are those of the picture of the state space.
  goAlong(choices, drawn = false) {
    return this.ask(() => post("/api/visit/0/follow", { choices, drawn }));
  }

  // Makes the way to the current state the one that is followed.
  follow() {
    this.followed = this.details.path.map((passed) => passed.visit);
    this.show();
  }

  remember(path) {
    path.forEach(({ visit, label, who, choice }, index) => {
      if (this.tree.has(visit)) return;
      const parent = path[index - 1].visit;
      this.tree.set(visit, { parent, label, who, choice, children: [] });
      this.tree.get(parent).children.push(visit);
    });
  }

  show() {
    const { details } = this;
    const steps = details.path.length - 1;
    const last = details.path.at(-1);
    byId("place").textContent = steps === 0
      ? "in the initial state"
      : `after step ${steps}: ${last.label}${last.time ? ` at ${last.time}` : ""}`;
    byId("back").disabled = steps === 0;
    this.showEnabled();
    this.delay.show(details);
    this.showValues();
    this.showPath();
    this.showTree();
    this.showThreads();
  }

  showEnabled() {
    const { enabled, matching, deadlock } = this.details;
    const list = byId("enabled");
    list.replaceChildren(...enabled.map((way, index) => {
      // Zones change with every step, and are shown with the state.
      const changed = way.changes.filter((value) => !(this.model.timed && value.name === "zone"));
      const changes = changed.slice(0, 6).map((value) => `${value.name} = ${value.value}`);
      if (changed.length > 6) changes.push("…");
      if (way.windows) {
        const texts = way.windows.map((window) => window.text).join(" or ");
        changes.unshift(texts === "" ? "after other delays before" : `after ${texts}`);
      }
      return make("li", {}, make("button", {
        type: "button",
        "data-choice": way.choice,
        onclick: () => this.takeChoice(way.choice),
      }, make("span", { class: "number" }, String(index + 1)), make("span", {},
        make("span", { class: "label" }, way.label),
        make("span", { class: "changes" }, changes.join(", ")),
        ...this.whoElse(way))));
    }));
    let count = matching > enabled.length ? `${grouped(enabled.length)} of ${grouped(matching)}` : "";
    if (matching === 0) count = deadlock ? "(none, this is a deadlock)" : "(none)";
    byId("count").textContent = count;
    byId("hindered").hidden = this.details.stuck.length === 0;
    byId("hindered-lines").textContent = this.details.stuck.join("\n");
    const title = { true: "Why nothing is possible once time has passed", false: "What is not possible now, and why" };
    byId("hindered-title").textContent = deadlock && matching === 0 ? "Why nothing is possible" : title[deadlock];
  }

  // Who takes part, unless it is one component that does what the label says.
  whoElse({ who, label }) {
    const isPlain = !who || (!who.includes(", ") && who.endsWith(` ${label}`));
    return isPlain ? [] : [make("span", { class: "who" }, who)];
  }

  focusEnabled(direction) {
    const buttons = [...byId("enabled").querySelectorAll("button")];
    const place = buttons.indexOf(document.activeElement);
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, place + direction))];
    next?.focus();
  }

  showValues() {
    if (!this.details) return;
    const words = byId("filter-values").value.trim().toLowerCase();
    const shown = this.details.values.filter(({ name }) => this.pinned.has(name) || name.toLowerCase().includes(words));
    shown.sort((one, other) => this.pinned.has(other.name) - this.pinned.has(one.name));
    const longest = Math.max(0, ...shown.map(({ name }) => name.length));
    byId("values").style.setProperty("--longest-name", `${longest}ch`);
    // A component stands above its parameters, which begin with its name; threads are called like their creators.
    const hasParts = (name) => !this.model.program && shown.some((other) => other.name.startsWith(`${name}.`));
    byId("values").tBodies[0].replaceChildren(...shown.map(({ name, value, before }) => {
      const pinned = this.pinned.has(name);
      const pin = make("input", {
        type: "checkbox",
        "aria-label": `Pin ${name}`,
        onchange: () => {
          if (!this.pinned.delete(name)) this.pinned.add(name);
          this.showValues();
        },
      });
      pin.checked = pinned;
      const row = make("tr", { class: before === undefined ? "" : "changed" },
        make("td", {}, pin), make("td", {}, name), ...this.cells(name, value, before));
      if (hasParts(name)) row.classList.add("component");
      return row;
    }));
  }

  // A value and the one before. A zone has a line for each of its bounds: those that are new are marked.
  cells(name, value, before) {
    if (!this.model.timed || name !== "zone") return [make("td", {}, value), make("td", {}, before ?? "")];
    const bounds = (zone) => zone.replace(/^\((.*)\)$/, "$1").split(" && ");
    const [now, old] = [bounds(value), bounds(before ?? value)];
    return [make("td", { class: "zone", colspan: 2 },
      ...now.map((bound) => make(old.includes(bound) ? "span" : "ins", {}, bound)),
      ...old.filter((bound) => !now.includes(bound)).map((bound) => make("del", {}, bound)))];
  }

  showPath() {
    const { path, visit } = this.details;
    const place = this.followed.indexOf(visit);
    const ahead = place >= 0 ? this.followed.slice(place + 1) : [];
    const entry = (passed, index, isAhead) => make("li", { class: isAhead ? "ahead" : "" }, make("button", {
      type: "button",
      "data-visit": passed.visit,
      "aria-current": passed.visit === visit ? "true" : null,
      onclick: () => this.go(passed.visit),
    }, make("span", { class: "number" }, String(index)), make("span", {}, passed.label || "initial state",
      ...(passed.time ? [make("span", { class: "changes" }, `@${passed.time}`)] : []),
      ...this.whoElse(passed))));
    const later = ahead.map((visit) => ({ visit, ...this.tree.get(visit) }));
    byId("path").replaceChildren(
      ...path.map((passed, index) => entry(passed, index, false)),
      ...later.map((passed, index) => entry(passed, path.length + index, true)));
    byId("followed").textContent = ahead.length > 0 ? `${ahead.length} more step${ahead.length === 1 ? "" : "s"} ahead: n` : "";
    scrollWithin(byId("path"), byId("path").querySelector("[aria-current]"));
  }

  // Only places where the tree branches, its ends and the current state are drawn.
  showTree() {
    const { visit } = this.details;
    const branches = (start) => {
      let at = start;
      let length = 0;
      for (;;) {
        const { children } = this.tree.get(at);
        if (children.length !== 1 || at === visit) break;
        [at] = children;
        length += 1;
      }
      const { children, label } = this.tree.get(at);
      const name = at === 0 ? "initial state" : label;
      const button = make("button", {
        type: "button",
        "aria-current": at === visit ? "true" : null,
        onclick: () => this.go(at),
      }, length > 0 ? `… ${name}` : name);
      const item = make("li", {}, button);
      if (children.length > 0) item.append(make("ul", {}, ...children.map(branches)));
      return item;
    };
    byId("tree").replaceChildren(branches(0));
  }

  showThreads() {
    const { program, places } = this.details;
    const parts = [];
    if (places) {
      parts.push(make("h3", {}, "Where components are"), make("div", { class: "thread" }, make("pre", {}, ...places.map((place) =>
        make("span", { class: "line" }, `${place.component}\n${String(place.number).padStart(5)}  ${place.text}`)))));
    }
    if (program) {
      parts.push(make("p", {}, program.message));
      for (const thread of program.threads) {
        const frames = thread.frames.map((frame) =>
          make("li", { class: frame.user ? "" : "ahead" }, frame.place ? `${frame.function}  ${frame.place}` : frame.function));
        const lines = thread.source.map((line) =>
          make("span", { class: line.here ? "line here" : "line" }, `${String(line.number).padStart(5)}  ${line.text}`));
        const part = make("div", { class: "thread" }, make("h3", {}, thread.name));
        if (thread.waits) part.append(make("p", { class: "wrong" }, thread.waits));
        for (const lock of thread.holds) part.append(make("p", { class: "quiet" }, `holds ${lock}`));
        part.append(make("ol", { start: 0 }, ...frames));
        if (lines.length > 0) part.append(make("pre", {}, ...lines));
        parts.push(part);
      }
      if (program.output) parts.push(make("h3", {}, "Output"), make("pre", {}, program.output));
    }
    byId("threads").replaceChildren(...parts);
  }
}
