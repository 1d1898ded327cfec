// Asks the server. Every answer is JSON or text; what is refused comes with a sentence.

export class Refused extends Error {}

async function answered(asked) {
  const response = await asked.catch((error) => {
    throw error.name === "AbortError" ? error : new Refused("turnpike no longer answers");
  });
  if (response.ok) return response;
  let message = `the server answered ${response.status}`;
  try {
    const { error, help } = await response.json();
    message = help ? `${error} (${help})` : error;
  } catch { /* An answer without a sentence. */ }
  throw new Refused(message);
}

// Each page has its own tree of visited states, by a number that it draws.
const [page] = crypto.getRandomValues(new Uint32Array(1));
export const ofPage = (path) => `${path}${path.includes("?") ? "&" : "?"}page=${page}`;

export const get = async (path) => (await answered(fetch(ofPage(path)))).json();
export const getText = async (path) => (await answered(fetch(ofPage(path)))).text();

export async function post(path, body = {}) {
  const headers = { "content-type": "application/json" };
  const asked = fetch(ofPage(path), { method: "POST", headers, body: JSON.stringify(body) });
  return (await answered(asked)).json();
}

// Begins a search. `hear` is called with the name and the data of each event; closing what is returned stops
// the search. Of what is refused, `refused` says why.
export function search(options, hear) {
  const form = encodeURIComponent(JSON.stringify({ options }));
  const stop = new AbortController();
  const listen = async () => {
    const response = await answered(fetch(ofPage(`/api/search?form=${form}`), { signal: stop.signal }));
    for await (const [name, data] of events(response.body)) {
      hear(name, data);
      if (name === "finished") return;
    }
    hear("refused", { message: "the search ended without a result" });
  };
  listen().catch((error) => {
    if (!stop.signal.aborted) hear("refused", { message: error instanceof Refused ? error.message : "turnpike no longer answers" });
  });
  return { close: () => stop.abort() };
}

// Names and data of server-sent events.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      const lines = part.split("\n");
      const field = (name) => lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2)).join("\n");
      if (field("data") !== "") yield [field("event"), JSON.parse(field("data"))];
    }
  }
}
