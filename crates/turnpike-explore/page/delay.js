// Time in models with time: the clocks of the run that is shown, and how long to wait before the next step.

import { byId } from "./elements.js";

// An exact number such as 5/2, 2.5 or 3: its numerator and its denominator, which is 0 for anything else.
export function fraction(text) {
  const parts = /^(\d+)(?:\/(\d+)|\.(\d+))?$/.exec(text);
  if (!parts) return [0n, 0n];
  const [, whole, below, decimals] = parts;
  if (decimals !== undefined) return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
  return [BigInt(whole), BigInt(below ?? 1)];
}

// The same for what is near enough for a slider.
export function number(text) {
  const [above, below] = fraction(text);
  return below === 0n ? NaN : Number(above) / Number(below);
}

// The exact sum of two numbers, as text.
export function sum(one, other) {
  const [[a, b], [c, d]] = [fraction(one), fraction(other)];
  const [above, below] = [a * d + c * b, b * d];
  let [rest, divisor] = [above, below];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  return below === divisor ? String(above / divisor) : `${above / divisor}/${below / divisor}`;
}

// The position of the slider, which moves in quarters.
const quarters = (value) => sum(`${Math.round(value * 4)}/4`, "0");

// Whether one number is smaller than another, exactly.
const isLess = (one, other) => {
  const [[a, b], [c, d]] = [fraction(one), fraction(other)];
  return a * d < c * b;
};

const isIn = (delay, { from, after, to, before }) => {
  if (fraction(delay)[1] === 0n) return false;
  const isAbove = after ? isLess(from, delay) : !isLess(delay, from);
  return isAbove && (to === null || (before ? isLess(delay, to) : !isLess(to, delay)));
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
    const after = (clock) => (clock.runs && valid && chosen !== null ? sum(clock.value, chosen) : clock.value);
    const now = valid && chosen !== null ? sum(moment.time, chosen) : moment.time;
    byId("clocks").textContent = [`time ${now}`, ...moment.clocks.map((clock) => `${clock.name} ${after(clock)}`)].join("   ");
    const possible = moment.waits.map((window) => window.text).join(" or ") || "no delay";
    const allowed = chosen === null || moment.waits.some((window) => isIn(chosen, window));
    byId("delay-note").textContent = allowed ? `one can wait ${possible}` : `one cannot wait ${chosen}, only ${possible}`;
    byId("delay-note").classList.toggle("wrong", !allowed);
    const buttons = byId("enabled").querySelectorAll("button");
    this.enabled.forEach((way, index) => {
      const open = chosen === null || !way.windows || way.windows.some((window) => isIn(chosen, window));
      buttons[index]?.classList.toggle("ahead", !open);
    });
  }
}
