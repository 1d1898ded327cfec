// The page begins here: it learns what the model is, and wires the parts together.

import { get, post } from "./api.js";
import { byId, notice } from "./elements.js";
import { Graph } from "./graph.js";
import { Search } from "./search.js";
import { Steps } from "./steps.js";
import { Pictures } from "./witness.js";

const model = await get("/api/model");
document.title = `${model.title} – turnpike`;
byId("title").textContent = model.title;

const steps = new Steps(model);
const graph = new Graph(model, steps);
const pictures = new Pictures(model, steps, graph);
const search = new Search(model, steps, pictures);
steps.onMove((details) => pictures.update(details));

byId("end").addEventListener("click", async () => {
  await post("/api/end");
  search.stop();
  notice("turnpike has ended; this page can be closed");
  for (const control of document.querySelectorAll("button, input, select, textarea")) control.disabled = true;
});
byId("keys-button").addEventListener("click", () => byId("keys").showModal());

// Moves are made in the order of their keys, each from where the one before led.
const MOST_WAITING = 50;
let waiting = 0;
let moves = Promise.resolve();
function move(make) {
  if (waiting === MOST_WAITING) return;
  waiting += 1;
  moves = moves.catch(() => {}).then(make).finally(() => { waiting -= 1; });
}

const keys = {
  b: () => move(() => steps.back()),
  n: () => move(() => steps.ahead()),
  0: () => move(() => steps.go(0)),
  r: () => move(() => steps.walk()),
  "/": () => byId("filter-enabled").focus(),
  f: () => byId("find").focus(),
  d: () => byId("delay").hidden || byId("delay-text").focus(),
  j: () => steps.focusEnabled(1),
  k: () => steps.focusEnabled(-1),
  "?": () => byId("keys").showModal(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input:not([type=checkbox]):not([type=range]), select, textarea");
  if (event.key === "Escape") {
    if (typing) event.target.blur();
    else search.stop();
    return;
  }
  if (typing || byId("keys").open) return;
  if (/^[1-9]$/.test(event.key)) move(() => steps.take(Number(event.key) - 1));
  else if (Object.hasOwn(keys, event.key)) keys[event.key]();
  else return;
  event.preventDefault();
});

await steps.go(model.start);
if (model.start !== 0) steps.follow();
document.body.dataset.ready = "true";
performance.mark("ready");
