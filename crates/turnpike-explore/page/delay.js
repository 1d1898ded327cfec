// Time in models with time: the clocks of the run that is shown, and how long to wait before the next step.

import { byId } from "./elements.js";

// An exact number such as 5/2.
export function number(text) {
  const [above, below] = text.split("/").map(Number);
  return below === undefined ? above : above / below;
}

// The same as text, in quarters.
const quarters = (value) => {
  const parts = Math.round(value * 4);
  if (parts % 4 === 0) return String(parts / 4);
  return parts % 2 === 0 ? `${parts / 2}/2` : `${parts}/4`;
};

const isIn = (delay, window) => {
  const [from, to] = [number(window.from), window.to === null ? Infinity : number(window.to)];
  return (delay > from || (delay === from && !window.after)) && (delay < to || (delay === to && !window.before));
};

export class Delay {
  constructor(steps) {
    this.steps = steps;
    // What is waited, as text; null for as long as needed.
    this.chosen = null;
    byId("delay-slider").addEventListener("input", (event) => this.choose(quarters(Number(event.target.value))));
    byId("delay-text").addEventListener("input", (event) => this.choose(event.target.value.trim() || null));
    byId("delay-clear").addEventListener("click", () => this.choose(null));
  }

  // Shows the clocks of a state; no delay is chosen there yet.
  show({ moment, enabled }) {
    byId("delay").hidden = !moment;
    this.moment = moment;
    this.enabled = enabled;
    this.chosen = null;
    if (!moment) return;
    const ends = [...moment.waits, ...enabled.flatMap((way) => way.windows ?? [])]
      .flatMap((window) => [window.from, window.to]).filter((end) => end !== null).map(number);
    // Where nothing ends the waiting, a little more than what makes a difference.
    const endless = moment.waits.some((window) => window.to === null);
    const most = Math.max(0, ...ends) + (endless ? 4 : 0);
    const slider = byId("delay-slider");
    slider.max = String(most);
    slider.disabled = most === 0;
    this.mark();
  }

  choose(text) {
    this.chosen = text;
    this.mark();
  }

  // Shows the clocks after the delay, and which transitions are possible then.
  mark() {
    const { moment, chosen } = this;
    const delay = chosen === null ? 0 : number(chosen);
    byId("delay-text").value = chosen ?? "";
    byId("delay-slider").value = String(Number.isFinite(delay) ? delay : 0);
    byId("delay-clear").disabled = chosen === null;
    const valid = Number.isFinite(delay) && delay >= 0;
    const after = (clock) => (clock.runs && valid && delay > 0 ? quarters(number(clock.value) + delay) : clock.value);
    const now = valid && delay > 0 ? quarters(number(moment.time) + delay) : moment.time;
    byId("clocks").textContent = [`time ${now}`, ...moment.clocks.map((clock) => `${clock.name} ${after(clock)}`)].join("   ");
    const possible = moment.waits.map((window) => window.text).join(" or ") || "no delay";
    const allowed = chosen === null || moment.waits.some((window) => isIn(delay, window));
    byId("delay-note").textContent = allowed ? `one can wait ${possible}` : `one cannot wait ${chosen}, only ${possible}`;
    byId("delay-note").classList.toggle("wrong", !allowed);
    const buttons = byId("enabled").querySelectorAll("button");
    this.enabled.forEach((way, index) => {
      const open = chosen === null || !way.windows || way.windows.some((window) => isIn(delay, window));
      buttons[index]?.classList.toggle("ahead", !open);
    });
  }
}
