// Pictures of the way to the current state, drawn by the server.

import { getText, ofPage } from "./api.js";
import { byId, download, make, rove } from "./elements.js";

const LEAST_SCALE = 0.8;
// What is said in sentences must stay readable.
const LEAST_SCALE_OF_SENTENCES = 0.9;
// Views that are drawn as wide as their place is.
const FITTED = ["automata", "sequence", "gantt", "timeline"];
const NAMES = { automata: "automata", sequence: "sequence", gantt: "gantt", timeline: "timeline", why: "why-stuck" };

export class Pictures {
  constructor(model, steps, graph) {
    this.model = model;
    this.steps = steps;
    this.graph = graph;
    this.loop = null;
    this.view = model.automata.length > 0 ? "automata" : "sequence";
    // The values or automata that are chosen, by view.
    this.names = { timeline: [], automata: [] };
    this.tabs = [...byId("tabs").querySelectorAll("[role=tab]")];
    for (const tab of this.tabs) {
      tab.addEventListener("click", () => this.choose(tab.dataset.view));
      tab.addEventListener("keydown", (event) => this.move(event, tab));
      if (tab.dataset.view === "gantt" && !model.timed) tab.hidden = true;
      if (tab.dataset.view === "automata" && model.automata.length === 0) tab.hidden = true;
    }
    // The edges of the transition that somebody looks at in the list.
    const enabled = byId("enabled");
    for (const name of ["mouseover", "focusin"]) {
      enabled.addEventListener(name, (event) => this.markNext(event.target.closest("[data-choice]")?.dataset.choice));
    }
    for (const name of ["mouseout", "focusout"]) enabled.addEventListener(name, () => this.markNext());
    byId("picture").addEventListener("click", (event) => this.act(event));
    let waiting;
    window.addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => FITTED.includes(this.view) && this.draw(), 150);
    });
    this.mark();
  }

  move(event, tab) {
    const shown = this.tabs.filter((one) => !one.hidden);
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!direction) return;
    const next = shown[(shown.indexOf(tab) + direction + shown.length) % shown.length];
    next.focus();
    this.choose(next.dataset.view);
    event.preventDefault();
  }

  choose(view) {
    this.view = view;
    this.mark();
    this.draw();
  }

  mark() {
    for (const tab of this.tabs) {
      const chosen = tab.dataset.view === this.view;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen) byId("picture").setAttribute("aria-labelledby", tab.id);
    }
  }

  // The end of the way that is drawn: that which is followed, if the current state is on it.
  end() {
    const { followed, details } = this.steps;
    return followed.includes(details.visit) ? followed.at(-1) : details.visit;
  }

  update(details) {
    this.details = details;
    byId("tab-why").hidden = !details.deadlock && this.view !== "why";
    this.draw();
  }

  async draw() {
    if (!this.details) return;
    if (this.view === "space") {
      this.drawn = null;
      this.drawnView = this.view;
      this.graph.show();
      return;
    }
    byId("picture-key").replaceChildren();
    if (this.view === "evidence") {
      this.drawEvidence();
      return;
    }
    const end = this.view === "why" || this.view === "automata" ? this.details.visit : this.end();
    const query = new URLSearchParams();
    if (FITTED.includes(this.view)) query.set("width", Math.floor(byId("picture").clientWidth / this.zoom() / (this.view === "sequence" ? LEAST_SCALE : 1)));
    if (this.view in this.names) query.set("names", JSON.stringify(this.names[this.view]));
    if (this.loop !== null && this.steps.followed.at(-1) === end) query.set("loop", this.loop);
    const address = `/api/visit/${end}/chart/${NAMES[this.view]}?${query}`;
    if (address !== this.drawn) {
      const isNewView = this.view !== this.drawnView;
      this.drawn = address;
      this.drawnView = this.view;
      // The list of names keeps its place and the focus.
      if (isNewView || !(this.view in this.names)) this.tools();
      this.address = address;
      try {
        const text = await getText(address);
        if (this.drawn !== address) return;
        this.insert(text);
        if (isNewView) byId("picture").scrollTo(0, 0);
      } catch (error) {
        if (this.drawn === address) byId("picture").replaceChildren(make("p", { class: "quiet" }, error.message));
        return;
      }
    }
    this.markStep();
    this.markNext();
  }

  // How much larger charts are in very large windows.
  zoom() {
    return Number(getComputedStyle(byId("picture")).getPropertyValue("--zoom"));
  }

  // What shows the verdict on a formula, where that is not a path.
  showEvidence(evidence) {
    this.evidence = evidence;
    byId("tab-evidence").hidden = false;
    this.choose("evidence");
  }

  drawEvidence() {
    const { states, steps, picture, aut } = this.evidence;
    this.drawn = null;
    this.drawnView = this.view;
    byId("picture-tools").replaceChildren(
      make("button", { type: "button", onclick: () => download("evidence.aut", aut, "text/plain") }, "Save as .aut"));
    byId("picture-key").replaceChildren(make("p", { class: "quiet" }, `A part of the system with ${states} states and ${steps} steps, which alone decides the formula.`));
    if (picture) this.insert(picture);
    else byId("picture").replaceChildren(make("p", { class: "quiet" }, "It is too large to be drawn."));
  }

  // Marks the edges of a transition; of the next one on the way that is followed, if none is named.
  markNext(choice) {
    if (this.view !== "automata" || !this.steps.details) return;
    const { followed, tree, details } = this.steps;
    const place = followed.indexOf(details.visit);
    const ahead = place >= 0 ? tree.get(followed[place + 1])?.choice : undefined;
    const way = details.enabled.find((one) => String(one.choice) === String(choice ?? ahead));
    const edges = new Set((way?.edges ?? []).map(([automaton, edge]) => `${automaton} ${edge}`));
    for (const drawn of byId("picture").querySelectorAll("[data-edge]")) {
      drawn.classList.toggle("next", edges.has(`${drawn.dataset.automaton} ${drawn.dataset.edge}`));
    }
  }

  // An edge that can be taken is taken; where several transitions have it, the first one in the list is chosen.
  clickEdge(event) {
    const edge = event.target.closest(".edge.enabled");
    if (!edge) return;
    const isOwn = ([automaton, own]) => String(automaton) === edge.dataset.automaton && String(own) === edge.dataset.edge;
    const ways = this.steps.details.enabled.filter((way) => way.edges?.some(isOwn));
    if (ways.length === 1) this.steps.takeChoice(ways[0].choice);
    else if (ways.length > 1) byId("enabled").querySelector(`[data-choice="${ways[0].choice}"]`)?.focus();
  }

  // The page has the style of charts already.
  insert(text) {
    const svg = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
    // A wide chart becomes smaller, but not too small to read: the rest is scrolled to.
    svg.style.minWidth = `${Number(svg.getAttribute("width")) * (this.view === "why" ? LEAST_SCALE_OF_SENTENCES : LEAST_SCALE)}px`;
    const hadFocus = Boolean(document.activeElement?.closest("#picture svg"));
    byId("picture").replaceChildren(document.importNode(svg, true));
    const steps = [...byId("picture").querySelectorAll("[data-step], .edge.enabled")];
    for (const step of steps) {
      step.setAttribute("role", "button");
      const about = step.dataset.step === undefined ? `Take ${this.edgeText(step)}` : `Step ${step.dataset.step}`;
      if (!step.hasAttribute("aria-label")) step.setAttribute("aria-label", about);
      step.addEventListener("keydown", (event) => {
        if (event.key === "Enter") this.act(event);
      });
    }
    const directions = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };
    rove(steps, (index, key) => (key in directions ? index + directions[key] : undefined));
    // Whoever steps by the keyboard in the picture goes on there.
    if (hadFocus) (steps[0] ?? byId("picture")).focus();
  }

  edgeText(edge) {
    const name = this.model.automata[Number(edge.dataset.automaton)] ?? "";
    return `${name}: ${[...edge.querySelectorAll("text")].map((line) => line.lastChild.textContent.trim()).join(", ") || "tau"}`;
  }

  tools() {
    const save = make("button", {
      type: "button",
      onclick: async () => download(`${NAMES[this.view]}.svg`, await getText(`${this.address}&file=true`), "image/svg+xml"),
    }, "Save as SVG");
    const trace = make("a", { href: ofPage(`/api/visit/${this.end()}/trace`), download: "witness.json" }, "Save the trace");
    trace.addEventListener("click", () => { trace.href = ofPage(`/api/visit/${this.end()}/trace`); });
    byId("picture-tools").replaceChildren(save, trace);
    if (this.view === "timeline") byId("picture-tools").append(this.choice("Values to show", this.model.parameters));
    if (this.view === "automata" && this.model.automata.length > 1) byId("picture-tools").append(this.choice("Automata to show", this.model.automata));
  }

  // A list of names of which some are shown.
  choice(about, names) {
    const { view } = this;
    const list = make("select", {
      multiple: "",
      size: "4",
      "aria-label": about,
      onchange: (event) => {
        this.names[view] = [...event.target.selectedOptions].map((option) => option.value);
        this.draw();
      },
    }, ...names.map((name) => make("option", { value: name }, name)));
    for (const option of list.options) option.selected = this.names[view].includes(option.value);
    return list;
  }

  act(event) {
    if (event.target.closest("[data-step]")) this.clickStep(event);
    else this.clickEdge(event);
  }

  clickStep(event) {
    const step = event.target.closest("[data-step]");
    if (!step) return;
    const end = this.end();
    const path = this.steps.followed.at(-1) === end ? this.steps.followed : this.details.path.map((passed) => passed.visit);
    const visit = path[Number(step.dataset.step)];
    if (visit !== undefined) this.steps.go(visit);
  }

  markStep() {
    const step = String(this.details.path.length - 1);
    for (const drawn of byId("picture").querySelectorAll("[data-step]")) {
      drawn.classList.toggle("here", drawn.dataset.step === step);
    }
  }
}
