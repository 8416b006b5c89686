/** The built console over a real engine, as one operator. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { KeyScope, MessagingEngine } from "../../adapters/entry.ts";
import { nodeHandler } from "../../adapters/http/node.ts";

export interface ConsoleServer extends AsyncDisposable {
  /** The address of the page. */
  readonly url: string;
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const types: Readonly<Record<string, string>> = { js: "text/javascript", css: "text/css" };

/** Serves the console below `/console/` with an account's key and its scopes. */
export async function serveConsole(
  engine: MessagingEngine,
  { secret, scopes }: { secret: string | null; scopes: readonly KeyScope[] },
): Promise<ConsoleServer> {
  const folder = new URL("../../dist/web/console/", import.meta.url);
  const { "main.tsx": main } = JSON.parse(
    readFileSync(new URL("manifest.json", folder), "utf8"),
  ) as { "main.tsx": { file: string; css: string[] } };
  const styles = main.css.map((file) => `<link rel="stylesheet" href="${file}">`).join("");
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Console</title>
<meta name="viewport" content="width=device-width, initial-scale=1">${styles}
<script type="module" src="${main.file}"></script><body><div id="app"></div>`;
  const session = {
    operator: { id: "kim", name: "Kim Larsen" },
    account_id: "acct_1",
    mode: "sandbox",
    may: scopes,
    version: "0.1.0",
  };
  const api = nodeHandler(engine, { basePath: "/console" });
  const answer = (response: ServerResponse, type: string, body: string | Buffer): void =>
    void response.setHeader("content-type", type).end(body);
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/[?].*/, "");
    if (path.startsWith("/console/v1/")) {
      request.rawHeaders.push("Authorization", `Bearer ${secret}`);
      api(request, response);
    } else if (path === "/console/session") {
      answer(response, "application/json", JSON.stringify(session));
    } else if (path.startsWith("/console/assets/")) {
      const file = readFileSync(new URL(path.slice("/console/".length), folder));
      answer(response, types[path.split(".").at(-1) ?? ""] ?? "text/plain", file);
    } else {
      response.setHeader("content-security-policy", policy);
      answer(response, "text/html", html);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/console/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
