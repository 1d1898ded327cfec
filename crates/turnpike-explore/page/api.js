// Asks the server. Every answer is JSON or text; what is refused comes with a sentence.

export class Refused extends Error {}

async function answered(response) {
  if (response.ok) return response;
  let message = `the server answered ${response.status}`;
  try {
    const { error, help } = await response.json();
    message = help ? `${error} (${help})` : error;
  } catch { /* An answer without a sentence. */ }
  throw new Refused(message);
}

export const get = async (path) => (await answered(await fetch(path))).json();
export const getText = async (path) => (await answered(await fetch(path))).text();

export async function post(path, body = {}) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  return (await answered(response)).json();
}

// Begins a search. `hear` is called with the name and the data of each event; closing the source stops
// the search.
export function search(options, hear) {
  const form = JSON.stringify({ options });
  const source = new EventSource(`/api/search?form=${encodeURIComponent(form)}`);
  for (const name of ["started", "warning", "progress", "answered", "finished"]) {
    source.addEventListener(name, (event) => {
      if (name === "finished") source.close();
      hear(name, JSON.parse(event.data));
    });
  }
  // What was refused or lost is not asked for again.
  source.onerror = () => {
    source.close();
    hear("lost", {});
  };
  return source;
}
