// The state space: the explored part as a graph in layers.

import { get, post } from "./api.js";
import { byId, counted, download, make, makeSvg, rove } from "./elements.js";

const RADIUS = 11;
const COLOURS = 12;
// With more edges than these, labels would cover each other: they are shown where the pointer is.
const LABELLED = 90;
const LONGEST_LABEL = 22;
const LETTER_WIDTH = 5.6;
const LABEL_HEIGHT = 10;
// Parts of an edge at which its label may stand, the best one first.
const LABEL_PLACES = [0.66, 0.5, 0.58, 0.74, 0.42, 0.34];

export class Graph {
  constructor(model, steps) {
    this.model = model;
    this.steps = steps;
    this.asked = { limit: model.program ? 60 : 200, expand: [], colour: null, collapse: null, bisimilar: false, highway: null, seed: 0 };
    this.scale = null;
    // Places that nodes were moved to by hand, by state.
    this.moved = new Map();
  }

  // Draws what was asked for; what is drawn already is only marked anew.
  async show() {
    const wanted = JSON.stringify(this.asked);
    const picture = byId("picture");
    const asking = (this.asking = (this.asking ?? 0) + 1);
    if (wanted === this.drawn && this.svg.isConnected) {
      await this.findPlace();
      if (asking === this.asking) this.markCurrent();
      return;
    }
    this.showTools();
    if (wanted !== this.drawn) {
      let graph;
      try {
        graph = await post("/api/graph", this.asked);
      } catch (error) {
        if (asking !== this.asking) return;
        this.drawn = null;
        byId("picture-key").replaceChildren();
        picture.replaceChildren(make("p", { class: "quiet" }, error.message));
        return;
      }
      if (asking !== this.asking || !byId("tab-space").matches("[aria-selected=true]")) return;
      this.graph = graph;
      this.drawn = wanted;
      this.draw();
    }
    await this.findPlace();
    if (asking !== this.asking || !byId("tab-space").matches("[aria-selected=true]")) return;
    byId("picture-key").replaceChildren(...this.key());
    picture.replaceChildren(this.svg);
    this.markCurrent();
    this.reveal();
  }

  // The state that is looked at, as the picture knows it: for models with time it has coarser states.
  async findPlace() {
    const { visit, hash } = this.steps.details;
    if (!this.model.timed) {
      this.hash = hash;
      return;
    }
    try {
      this.hash = (await get(`/api/visit/${visit}/place`)).hash;
    } catch {
      this.hash = null;
    }
  }

  // Scrolls to the node that was expanded last, the one that is looked at, or the initial one.
  reveal() {
    const { nodes } = this.graph;
    const expanded = nodes.findIndex((node) => node.state === this.asked.expand.at(-1));
    const current = nodes.findIndex((node) => node.hashes.includes(this.hash));
    const { x, y } = nodes[[expanded, current, 0].find((place) => place >= 0)];
    const picture = byId("picture");
    const [left, top] = this.svg.getAttribute("viewBox").split(" ").map(Number);
    picture.scrollLeft = (x - left) * this.scale - picture.clientWidth / 2;
    picture.scrollTop = (y - top) * this.scale - picture.clientHeight / 2;
  }

  // The state that is looked at, and the way to it.
  markCurrent() {
    for (const group of this.svg.querySelectorAll(".current")) group.classList.remove("current");
    const place = this.graph.nodes.findIndex((node) => node.hashes.includes(this.hash));
    const circle = this.svg.querySelector(`[data-node="${place}"] .space-node`);
    circle?.classList.add("current");
    byId("space-place")?.replaceChildren(circle ? "" : "The state that is looked at is not drawn.");
  }

  ask(changes) {
    Object.assign(this.asked, changes);
    this.show();
  }

  showTools() {
    const chosen = (value) => ["", ...this.model.parameters].map((name) => {
      const option = make("option", { value: name }, name === "" ? "nothing" : name);
      option.selected = name === (value ?? "");
      return option;
    });
    const select = (text, value, change) => make("label", { class: "inline" }, text, make("select", {
      onchange: (event) => change(event.target.value || null),
    }, ...chosen(value)));
    const bisimilar = make("input", { type: "checkbox", onchange: (event) => this.ask({ bisimilar: event.target.checked, collapse: null, highway: null }) });
    bisimilar.checked = this.asked.bisimilar;
    byId("picture-tools").replaceChildren(
      make("label", { class: "inline" }, "states", make("input", {
        value: this.asked.limit,
        size: 5,
        inputmode: "numeric",
        onchange: (event) => this.ask({ limit: Math.max(1, Number.parseInt(event.target.value, 10) || 1), expand: [] }),
      })),
      select("colour by", this.asked.colour, (colour) => this.ask({ colour })),
      select("collapse by", this.asked.collapse, (collapse) => this.ask({ collapse, bisimilar: false })),
      make("label", { class: "inline" }, bisimilar, "bisimilar states as one"),
      make("label", { class: "inline" }, "highway of width", make("input", {
        value: this.asked.highway ?? "",
        size: 4,
        inputmode: "numeric",
        placeholder: "none",
        // Only a part of the states is drawn then, which cannot be folded.
        onchange: (event) => this.ask({ highway: Number.parseInt(event.target.value, 10) || null, expand: [], bisimilar: false, collapse: null }),
      })),
      make("button", { type: "button", id: "arrange", hidden: this.moved.size === 0 ? "" : null, onclick: () => this.arrange() }, "Arrange anew"),
      make("button", { type: "button", onclick: () => this.zoom(1.25) }, "Larger"),
      make("button", { type: "button", onclick: () => this.zoom(0.8) }, "Smaller"),
      make("button", { type: "button", id: "save-space", onclick: () => this.save() }, "Save as SVG"));
  }

  key() {
    const { nodes, edges, complete, colours } = this.graph;
    const states = nodes.reduce((sum, node) => sum + node.states, 0);
    const drawn = states === nodes.length ? counted(states, "state") : `${counted(states, "state")} as ${counted(nodes.length, "node")}`;
    const rest = complete ? "; these are all states" : "; click on a dashed node to expand it";
    const text = `${drawn}, ${counted(edges.length, "edge")}${rest}`;
    const entries = colours.slice(0, 24).map((value, index) => make("span", { class: "key-entry" },
      makeSvg("svg", { viewBox: "0 0 14 14" }, makeSvg("circle", { cx: 7, cy: 7, r: 6, class: `space-node c${index % COLOURS}` })), value));
    return [make("p", { class: "quiet" }, `${text}. `, make("span", { id: "space-place" })), ...entries];
  }

  // The part of the plane that has all nodes.
  frame() {
    const { nodes } = this.graph;
    const [xs, ys] = [nodes.map((node) => node.x), nodes.map((node) => node.y)];
    const [left, top] = [Math.min(...xs) - (this.asked.highway ? 110 : 60), Math.min(0, ...ys) - 40];
    return { left, top, width: Math.max(...xs) + 80 - left, height: Math.max(...ys) + 40 - top };
  }

  draw() {
    const { nodes, edges } = this.graph;
    for (const node of nodes) {
      // Where the layout has it; rows are numbered there.
      node.home = { x: node.x, y: node.y };
      Object.assign(node, this.moved.get(node.state));
    }
    const { left, top, width, height } = this.frame();
    // At first all of it is seen, unless it would be too small to read.
    const most = Number(getComputedStyle(byId("picture")).getPropertyValue("--zoom"));
    this.scale ??= Math.max(0.45, Math.min(most, (byId("picture").clientWidth - 24) / width));
    const svg = makeSvg("svg", { viewBox: `${left} ${top} ${width} ${height}`, width: width * this.scale, height: height * this.scale, role: "group", "aria-label": "State space" });
    svg.append(makeSvg("defs", {}, makeSvg("marker", { id: "space-arrow", viewBox: "0 0 8 8", refX: 7.5, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" },
      makeSvg("path", { class: "space-head", d: "M0,1 L8,4 L0,7 z" }))));
    this.ways = edges.map((edge) => this.edge(edge, nodes[edge.from], nodes[edge.to]));
    this.labels = makeSvg("g", {});
    svg.append(...this.ways, this.labels, ...this.rows(nodes, left));
    this.showLabels();
    this.groups = nodes.map((node, index) => this.node(node, index));
    svg.append(...this.groups);
    rove(this.groups, (index, key) => this.neighbour(index, key));
    this.svg = svg;
  }

  showLabels() {
    const { nodes, edges } = this.graph;
    this.labels.replaceChildren(...(edges.length <= LABELLED ? this.edgeLabels(edges, nodes) : []));
  }

  // Moves a node by hand, with its edges.
  move(index, x, y) {
    const node = this.graph.nodes[index];
    Object.assign(node, { x, y });
    this.moved.set(node.state, { x, y });
    const [circle, text] = this.groups[index].children;
    circle.setAttribute("cx", x);
    circle.setAttribute("cy", y);
    text.setAttribute("x", x);
    text.setAttribute("y", y + 3.5);
    this.graph.edges.forEach((edge, place) => {
      if (edge.from === index || edge.to === index) this.ways[place].setAttribute("d", this.route(this.graph.nodes[edge.from], this.graph.nodes[edge.to]));
    });
    this.labels.replaceChildren();
    byId("arrange").hidden = false;
  }

  // After a move: labels stand on their edges again, and the picture has room for all nodes.
  settle() {
    this.showLabels();
    const { left, top, width, height } = this.frame();
    this.svg.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
    this.svg.setAttribute("width", width * this.scale);
    this.svg.setAttribute("height", height * this.scale);
  }

  // Forgets what was moved by hand.
  arrange() {
    this.moved.clear();
    this.drawn = null;
    this.show();
  }

  // Lets a node be dragged, or moved by the arrow keys with Shift.
  letMove(group, index) {
    const node = this.graph.nodes[index];
    let from = null;
    group.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = { x: event.clientX - node.x * this.scale, y: event.clientY - node.y * this.scale, startX: event.clientX, startY: event.clientY };
      this.dragged = false;
      group.setPointerCapture(event.pointerId);
    });
    group.addEventListener("pointermove", (event) => {
      if (!from) return;
      // A click may tremble.
      if (Math.hypot(event.clientX - from.startX, event.clientY - from.startY) > 4) this.dragged = true;
      if (this.dragged) this.move(index, (event.clientX - from.x) / this.scale, (event.clientY - from.y) / this.scale);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      group.addEventListener(name, () => {
        if (from && this.dragged) this.settle();
        from = null;
      });
    }
    const directions = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
    group.addEventListener("keydown", (event) => {
      const direction = event.shiftKey && directions[event.key];
      if (!direction) return;
      this.move(index, node.x + 11 * direction[0], node.y + 11 * direction[1]);
      this.settle();
      event.preventDefault();
      event.stopImmediatePropagation();
    });
  }

  // The node that an arrow key leads to: the nearest one in the row above or below, or in the same row.
  neighbour(index, key) {
    const { nodes } = this.graph;
    const from = nodes[index];
    const fits = {
      ArrowUp: (node) => node.depth === from.depth - 1,
      ArrowDown: (node) => node.depth === from.depth + 1,
      ArrowLeft: (node) => node.depth === from.depth && node.x < from.x,
      ArrowRight: (node) => node.depth === from.depth && node.x > from.x,
    }[key];
    if (!fits) return undefined;
    let best;
    nodes.forEach((node, other) => {
      if (fits(node) && (best === undefined || Math.abs(node.x - from.x) < Math.abs(nodes[best].x - from.x))) best = other;
    });
    return best;
  }

  // Numbers of the rows; of a highway, how many of each were chosen.
  rows(nodes, left) {
    const rows = new Map();
    for (const node of nodes) {
      const row = rows.get(node.depth) ?? { y: node.home.y, all: 0, expanded: 0 };
      row.all += 1;
      row.expanded += node.expanded ? 1 : 0;
      rows.set(node.depth, row);
    }
    return [...rows].map(([depth, { y, all, expanded }]) => makeSvg("text", { class: "space-row", x: left + 4, y: y + 3.5 },
      this.asked.highway ? `${depth}: ${expanded} of ${all}` : String(depth)));
  }

  // Labels stand on their edges where there is room; those without room are shown where the pointer is.
  edgeLabels(edges, nodes) {
    const taken = nodes.map(({ x, y }) => ({ x: x - RADIUS, y, width: 2 * RADIUS, height: 2 * RADIUS }));
    const isFree = (box) => !taken.some((other) =>
      box.x < other.x + other.width && other.x < box.x + box.width && Math.abs(box.y - other.y) < (LABEL_HEIGHT + other.height) / 2);
    return edges.flatMap((edge) => {
      const [from, to] = [nodes[edge.from], nodes[edge.to]];
      const [first] = edge.labels;
      const more = edge.labels.length > 1 ? ` +${edge.labels.length - 1}` : "";
      const text = (first.length > LONGEST_LABEL ? `${first.slice(0, LONGEST_LABEL - 1)}…` : first) + more;
      const width = text.length * LETTER_WIDTH;
      const places = from === to
        ? [[from.x + 24 + width / 2, from.y - 14]]
        : LABEL_PLACES.map((part) => [from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)]);
      const place = places.find(([x, y]) => isFree({ x: x - width / 2, y, width }));
      if (!place) return [];
      const [x, y] = place;
      taken.push({ x: x - width / 2, y, width, height: LABEL_HEIGHT });
      return [makeSvg("text", { class: "space-label", x, y, "text-anchor": "middle" }, text)];
    });
  }

  // The way of an edge from one node to another.
  route(from, to) {
    if (from === to) return `M${from.x + 6},${from.y - 9} c14,-22 26,2 4,8`;
    if (to.y > from.y) return `M${from.x},${from.y + RADIUS} L${to.x},${to.y - RADIUS}`;
    // Back or sideways: a curve, so that it is not taken for the way down.
    const bend = from.x <= to.x ? -36 : 36;
    return `M${from.x},${from.y} C${from.x + bend},${from.y} ${to.x + bend},${to.y} ${to.x},${to.y + (to.y < from.y ? RADIUS : 0)}`;
  }

  edge(edge, from, to) {
    const path = this.route(from, to);
    const more = edge.transitions > edge.labels.length ? `\n${edge.transitions} transitions` : "";
    return makeSvg("path", { class: "space-edge", d: path, "marker-end": "url(#space-arrow)" }, makeSvg("title", {}, edge.labels.join("\n") + more));
  }

  node(node, index) {
    const classes = ["space-node"];
    if (!node.expanded) classes.push("open");
    if (node.deadlock) classes.push("deadlock");
    if (node.colour !== undefined) classes.push(`c${node.colour % COLOURS}`);
    const circle = makeSvg("circle", { class: classes.join(" "), cx: node.x, cy: node.y, r: node.states > 1 ? RADIUS + 3 : RADIUS });
    const about = `depth ${node.depth}${node.states > 1 ? `, ${counted(node.states, "state")}` : ""}${node.deadlock ? ", deadlock" : ""}${node.text ? `, ${node.text}` : ""}`;
    const text = makeSvg("text", { class: "space-text", x: node.x, y: node.y + 3.5, "text-anchor": "middle" }, node.states > 1 ? String(node.states) : String(index));
    const group = makeSvg("g", { role: "button", "aria-label": about, "data-node": index, class: node.colour === undefined ? "" : "coloured" }, circle, text, makeSvg("title", {}, about));
    const act = () => {
      // A state is looked at; one that was not expanded is expanded as well.
      if (node.expanded) this.steps.goAlong(node.choices, true);
      else this.ask({ expand: [...this.asked.expand, node.state] });
    };
    group.addEventListener("click", () => {
      // The end of a drag is not a click.
      if (!this.dragged) act();
      this.dragged = false;
    });
    this.letMove(group, index);
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter") act();
    });
    return group;
  }

  zoom(factor) {
    this.scale *= factor;
    const [, , width, height] = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.svg.setAttribute("width", width * this.scale);
    this.svg.setAttribute("height", height * this.scale);
  }

  // Colours come from the page's style, which the file has to bring along.
  async save() {
    const copy = this.svg.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const style = await (await fetch("/page/style.css")).text();
    copy.prepend(makeSvg("style", {}, style));
    download("state-space.svg", new XMLSerializer().serializeToString(copy), "image/svg+xml");
  }
}
