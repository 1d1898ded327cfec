// Pictures of the way to the current state, drawn by the server.

import { getText, ofPage } from "./api.js";
import { byId, download, make, rove } from "./elements.js";

const LEAST_SCALE = 0.62;
// What is said in sentences must stay readable.
const LEAST_SCALE_OF_SENTENCES = 0.9;
const NAMES = { sequence: "sequence", gantt: "gantt", timeline: "timeline", why: "why-stuck" };

export class Pictures {
  constructor(model, steps, graph) {
    this.model = model;
    this.steps = steps;
    this.graph = graph;
    this.loop = null;
    this.view = "sequence";
    this.names = [];
    this.tabs = [...byId("tabs").querySelectorAll("[role=tab]")];
    for (const tab of this.tabs) {
      tab.addEventListener("click", () => this.choose(tab.dataset.view));
      tab.addEventListener("keydown", (event) => this.move(event, tab));
      if (tab.dataset.view === "gantt" && !model.timed) tab.hidden = true;
    }
    byId("picture").addEventListener("click", (event) => this.clickStep(event));
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
      this.graph.show();
      return;
    }
    byId("picture-key").replaceChildren();
    const end = this.view === "why" ? this.details.visit : this.end();
    const query = new URLSearchParams();
    if (this.view === "timeline") query.set("names", JSON.stringify(this.names));
    if (this.loop !== null && this.steps.followed.at(-1) === end) query.set("loop", this.loop);
    const address = `/api/visit/${end}/chart/${NAMES[this.view]}?${query}`;
    if (address !== this.drawn) {
      this.drawn = address;
      this.tools(address);
      try {
        const text = await getText(address);
        if (this.drawn !== address) return;
        this.insert(text);
      } catch (error) {
        if (this.drawn === address) byId("picture").replaceChildren(make("p", { class: "quiet" }, error.message));
        return;
      }
    }
    this.markStep();
  }

  // The page has the style of charts already.
  insert(text) {
    const svg = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
    // A wide chart becomes smaller, but not too small to read: the rest is scrolled to.
    svg.style.minWidth = `${Number(svg.getAttribute("width")) * (this.view === "why" ? LEAST_SCALE_OF_SENTENCES : LEAST_SCALE)}px`;
    byId("picture").replaceChildren(document.importNode(svg, true));
    const steps = [...byId("picture").querySelectorAll("[data-step]")];
    for (const step of steps) {
      step.setAttribute("role", "button");
      if (!step.hasAttribute("aria-label")) step.setAttribute("aria-label", `Step ${step.dataset.step}`);
      step.addEventListener("keydown", (event) => {
        if (event.key === "Enter") this.clickStep(event);
      });
    }
    const directions = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };
    rove(steps, (index, key) => (key in directions ? index + directions[key] : undefined));
  }

  tools(address) {
    const save = make("button", {
      type: "button",
      onclick: async () => download(`${NAMES[this.view]}.svg`, await getText(`${address}&file=true`), "image/svg+xml"),
    }, "Save as SVG");
    const trace = make("a", { href: ofPage(`/api/visit/${this.end()}/trace`), download: "witness.json" }, "Save the trace");
    byId("picture-tools").replaceChildren(save, trace);
    if (this.view === "timeline") byId("picture-tools").append(this.variables());
  }

  variables() {
    const list = make("select", {
      multiple: "",
      size: "4",
      "aria-label": "Values to show",
      onchange: (event) => {
        this.names = [...event.target.selectedOptions].map((option) => option.value);
        this.draw();
      },
    }, ...this.model.parameters.map((name) => make("option", { value: name }, name)));
    for (const option of list.options) option.selected = this.names.includes(option.value);
    return list;
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
