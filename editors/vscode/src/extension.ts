// Starts `turnpike lsp`, and runs searches in a terminal.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(vscode.commands.registerCommand("turnpike.search", search));
  client = new LanguageClient(
    "turnpike",
    { command: program(), args: ["lsp"] },
    { documentSelector: ["mcrl2", "mcf", "tck", "xta"].map((language) => ({ scheme: "file", language })) },
  );
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function program(): string {
  return vscode.workspace.getConfiguration("turnpike").get("path", "turnpike");
}

/** Searches a model: that of a lens, or the open one for what the user types. */
async function search(address?: string, goal?: string): Promise<void> {
  const model = address ? vscode.Uri.parse(address) : vscode.window.activeTextEditor?.document.uri;
  if (!model) {
    return;
  }
  const wanted = goal ?? (await vscode.window.showInputBox({ prompt: "What to look for", value: "deadlock" }));
  if (!wanted) {
    return;
  }
  await vscode.workspace.saveAll(false);
  const more = vscode.workspace.getConfiguration("turnpike").get<string[]>("arguments", []);
  // The arguments go to the program as they are: no shell reads them.
  vscode.window
    .createTerminal({
      name: `turnpike: ${wanted}`,
      shellPath: "/usr/bin/env",
      shellArgs: ["sh", "-c", '"$@"; echo; read -r _', "sh", program(), "search", model.fsPath, "--find", wanted, ...more],
    })
    .show();
}
