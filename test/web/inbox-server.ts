/** The built inbox over a real engine, as one operator. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { MessagingEngine } from "../../adapters/entry.ts";
import { nodeHandler } from "../../adapters/http/node.ts";

export interface InboxServer extends AsyncDisposable {
  /** The address of the page. */
  readonly url: string;
  /** Answers writes below these paths with 503, as a server that is about to stop. */
  refuse(path: RegExp | undefined): void;
  /** How many event streams are open now. */
  streams(): number;
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const types: Readonly<Record<string, string>> = { js: "text/javascript", css: "text/css" };

/** Serves the inbox below `/desk/` with an account's key. */
export async function serveInbox(engine: MessagingEngine, key: string): Promise<InboxServer> {
  const folder = new URL("../../dist/web/inbox/", import.meta.url);
  const { "main.tsx": main } = JSON.parse(
    readFileSync(new URL("manifest.json", folder), "utf8"),
  ) as { "main.tsx": { file: string; css: string[] } };
  const html = [
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Inbox</title>`,
    `<meta name="viewport" content="width=device-width, initial-scale=1">`,
    ...main.css.map((file) => `<link rel="stylesheet" href="${file}">`),
    `<script type="module" src="${main.file}"></script><body><div id="app"></div>`,
  ].join("\n");
  const session = {
    operator: { id: "kim", name: "Kim Larsen" },
    account_id: "acct_1",
    mode: "sandbox",
    may: ["messages", "contacts", "conversations", "agents"].flatMap((each) => [
      `${each}:read`,
      `${each}:write`,
    ]),
    version: "0.1.0",
  };
  session.may.push("events:read", "senders:manage");
  const api = nodeHandler(engine, { basePath: "/desk" });
  let refused: RegExp | undefined;
  let streams = 0;
  const answer = (response: ServerResponse, type: string, body: string | Buffer): void =>
    void response.setHeader("content-type", type).end(body);
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/[?].*/, "");
    if (path.startsWith("/desk/v1/")) {
      if (request.method !== "GET" && refused?.test(path) === true) {
        response.writeHead(503, { "content-type": "application/problem+json" });
        response.end(JSON.stringify({ status: 503, detail: "The engine is stopping." }));
        return;
      }
      if (path.endsWith("/events/stream")) {
        streams += 1;
        response.once("close", () => void (streams -= 1));
      }
      request.rawHeaders.push("Authorization", `Bearer ${key}`);
      api(request, response);
    } else if (path === "/desk/session") {
      answer(response, "application/json", JSON.stringify(session));
    } else if (path.startsWith("/desk/assets/")) {
      const file = readFileSync(new URL(path.slice("/desk/".length), folder));
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
    url: `http://127.0.0.1:${port}/desk/`,
    streams: () => streams,
    refuse: (path) => void (refused = path),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
