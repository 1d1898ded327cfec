// Makes elements. Text is always text: nothing that comes from a model is ever read as markup.

export const byId = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function makeSvg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// Makes one of several elements reachable by Tab, and lets `next` choose the one that an arrow key leads to.
export function rove(elements, next) {
  const enter = (element) => {
    for (const other of elements) other.setAttribute("tabindex", other === element ? "0" : "-1");
  };
  elements.forEach((element, index) => {
    element.addEventListener("focus", () => enter(element));
    element.addEventListener("keydown", (event) => {
      const target = elements[next(index, event.key)];
      if (!target) return;
      target.focus();
      event.preventDefault();
    });
  });
  if (elements.length > 0) enter(elements[0]);
}

// Scrolls a list, and not the page, until an element of it is seen.
export function scrollWithin(list, element) {
  if (!element) return;
  const [inner, outer] = [element.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
}

// A command line whose words are not broken at their hyphens.
export const words = (text) => text.split(" ").flatMap((word, index) => [index > 0 ? " " : "", make("span", {}, word)]);

export const grouped = (number) => number.toLocaleString("en");
export const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

export function notice(text) {
  byId("notice").textContent = text;
}

export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
