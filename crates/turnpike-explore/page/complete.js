// Completes words while they are typed: a list below a field, as the combobox pattern of ARIA has it.

import { make, scrollWithin } from "./elements.js";

const SHOWN = 12;
// Where words begin and end. Dots, brackets and commas belong to names such as P(1).critical.
const BREAKS = /[\s&|!<>=+*/]/;

export class Completion {
  // `words` gives the candidates for the text before the word; `breaks` is what stands between words.
  constructor(input, words, breaks = BREAKS) {
    this.input = input;
    this.breaks = breaks;
    this.words = words;
    this.found = [];
    this.chosen = -1;
    this.list = make("ul", { id: `${input.id}-words`, role: "listbox", class: "words", hidden: "" });
    // Outside the label, of whose name it is not a part.
    (input.closest("label") ?? input).after(this.list);
    for (const [name, value] of Object.entries({
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.id,
    })) input.setAttribute(name, value);
    input.addEventListener("input", () => this.update());
    input.addEventListener("focus", () => this.update());
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.key(event));
  }

  // The word at the caret, and where it begins.
  word() {
    const before = this.input.value.slice(0, this.input.selectionStart);
    let start = before.length;
    while (start > 0 && !this.breaks.test(before[start - 1])) start -= 1;
    return { start, text: before.slice(start), before: before.slice(0, start) };
  }

  update() {
    const { text, before } = this.word();
    const wanted = text.toLowerCase();
    const candidates = this.words(before.trim()).filter((word) => word !== text);
    const begins = candidates.filter((word) => word.toLowerCase().startsWith(wanted));
    const has = wanted === "" ? [] : candidates.filter((word) => !begins.includes(word) && word.toLowerCase().includes(wanted));
    this.found = [...begins, ...has].slice(0, SHOWN);
    this.chosen = -1;
    this.show();
  }

  show() {
    this.list.hidden = this.found.length === 0;
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.list.replaceChildren(...this.found.map((word, index) => make("li", {
      id: `${this.list.id}-${index}`,
      role: "option",
      "aria-selected": String(index === this.chosen),
      // Before the field loses the focus.
      onmousedown: (event) => {
        event.preventDefault();
        this.take(index);
      },
    }, word)));
    if (this.chosen >= 0) this.input.setAttribute("aria-activedescendant", `${this.list.id}-${this.chosen}`);
    else this.input.removeAttribute("aria-activedescendant");
    scrollWithin(this.list, this.list.children[this.chosen]);
  }

  close() {
    this.found = [];
    this.show();
  }

  key(event) {
    if (this.list.hidden) return;
    const count = this.found.length;
    if (event.key === "ArrowDown") this.chosen = (this.chosen + 1) % count;
    else if (event.key === "ArrowUp") this.chosen = this.chosen <= 0 ? count - 1 : this.chosen - 1;
    else if (event.key === "Escape") {
      this.close();
      event.stopPropagation();
      return;
    } else if ((event.key === "Enter" || event.key === "Tab") && this.chosen >= 0) {
      this.take(this.chosen);
      event.preventDefault();
      return;
    } else return;
    event.preventDefault();
    this.show();
  }

  take(index) {
    const { start } = this.word();
    const after = this.input.value.slice(this.input.selectionStart);
    const value = `${this.input.value.slice(0, start)}${this.found[index]}`;
    this.input.value = value + after;
    this.input.setSelectionRange(value.length, value.length);
    this.input.dispatchEvent(new Event("input", { bubbles: true }));
    this.close();
  }
}
