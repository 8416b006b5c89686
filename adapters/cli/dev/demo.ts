/** The demo page: a small shop whose visitors can chat, and the receivers of its webhooks. */
import { readFileSync } from "node:fs";
import type { ApiRequest, ApiResponse, Mountable } from "../../../src/api/index.ts";

/** Where the demo's webhooks are posted to. One receiver works, the other one is down. */
export const receivers = { working: "/demo/webhooks", failing: "/demo/webhooks/old-till" } as const;

/** The page runs no inline script, and loads nothing from elsewhere. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

const security = {
  "Content-Security-Policy": policy,
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-cache",
};

const pictures = ["shop.svg", "monstera.svg", "olive.svg", "orchid.svg", "fern.svg"];

const files = new Map([
  ["/", { name: "shop.html", type: "text/html; charset=utf-8" }],
  ["/shop.css", { name: "shop.css", type: "text/css; charset=utf-8" }],
  ...pictures.map((name) => [`/${name}`, { name, type: "image/svg+xml" }] as const),
]);

/** Returns the handler of the demo page. */
export function demoPage(): Mountable {
  return { api: { handle: respond } };
}

async function respond(request: ApiRequest): Promise<ApiResponse> {
  const { method, path } = request;
  if (method === "POST" && path === receivers.working) return empty(204);
  if (method === "POST" && path === receivers.failing) return plain(503, "The till is closed.");
  const file = files.get(path);
  if (file === undefined) return plain(404, `There is no page ${path} here. The shop is at /.`);
  if (method !== "GET" && method !== "HEAD") return plain(405, "Only GET is possible here.");
  const body = readFileSync(new URL(`./demo/${file.name}`, import.meta.url));
  return { status: 200, headers: { ...security, "Content-Type": file.type }, body };
}

const empty = (status: number): ApiResponse => ({ status, headers: {}, body: null });

const plain = (status: number, text: string): ApiResponse => ({
  status,
  headers: { ...security, "Content-Type": "text/plain; charset=utf-8" },
  body: `${text}\n`,
});
