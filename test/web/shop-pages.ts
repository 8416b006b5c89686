/** The built pages in a real browser, over a real engine and the mounts that applications use. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { expect, onTestFinished, type TestContext } from "vitest";
import { z } from "zod";
import {
  action,
  MessagingEngine,
  type AccountHandle,
  type Action,
  type EngineOptions,
} from "../../adapters/entry.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { standard } from "../../adapters/standard.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import {
  inboxHandler,
  type Authorize,
  type PageMount,
} from "../../adapters/web/inbox/server/index.ts";
import { keyScopes, type KeyScope } from "../../src/operations/caller.ts";
import { newContext } from "../support/browser/chromium.ts";

/** The people of the tests. Lee works in another browser, so in another origin. */
export const kim = {
  id: "kim",
  name: "Kim Larsen",
  avatar_url: "https://cdn.shop.example/kim.png",
};
export const lee = {
  id: "lee",
  name: "Lee Okafor",
  avatar_url: "https://elsewhere.example/lee.png",
};

/** Starts an engine, on a storage of its own unless the options have one. */
export async function startEngine(options: Partial<EngineOptions> = {}) {
  const engine = new MessagingEngine({
    ...standard(),
    storage: memory(),
    transports: [sandbox()],
    ...options,
  });
  await engine.start();
  onTestFinished(() => engine.stop({ deadlineMs: 0 }));
  return engine;
}

/** An account whose people may do everything but what the scopes of `without` allow. */
export async function newShop(
  options: Partial<EngineOptions> = {},
  without: readonly KeyScope[] = [],
) {
  const engine = await startEngine(options);
  const { account } = await engine.accounts.create({ name: "Shop" });
  /** Everybody is signed in: as Lee at `localhost`, and as Kim at the number. */
  const authorize: Authorize = ({ headers }) => ({
    account_id: account.id,
    mode: "sandbox",
    operator: headers["host"]?.startsWith("localhost") === true ? lee : kim,
    may: keyScopes.filter((scope) => !without.includes(scope)),
  });
  const shop = engine.account(account.id);
  for (const { id, ...profile } of [kim, lee]) await shop.operators.save(id, profile);
  return { engine, shop, authorize };
}

/** A page at `/desk`, behind a server whose faults a test decides. */
export async function servePage(mounted: PageMount) {
  let handle = nodeHandler(mounted, { basePath: "/desk" });
  let refused: RegExp | undefined;
  let broken: RegExp | undefined;
  let isStopped = false;
  let streams = 0;
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/[?].*/, "");
    // Compressing the files takes long, and few tests are about it.
    delete request.headers["accept-encoding"];
    if (request.method !== "GET" && refused?.test(path) === true) {
      response.writeHead(503, { "Content-Type": "application/problem+json" });
      response.end(JSON.stringify({ status: 503, detail: "The engine is stopping." }));
      return;
    }
    if (broken?.test(path) === true) {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.write('{"data":', () => response.destroy());
      return;
    }
    if (path.endsWith("/events/stream")) {
      streams += 1;
      response.once("close", () => void (streams -= 1));
    }
    handle(request, response);
  });
  server.on("connection", (socket) => {
    if (isStopped) socket.resetAndDestroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  return {
    url: `http://127.0.0.1:${port}/desk/`,
    /** The address at which Lee is signed in. */
    other: `http://localhost:${port}/desk/`,
    token: mounted.token,
    /** How many event streams are open now. */
    streams: () => streams,
    /** Answers writes to these paths with 503, as a server that is about to stop. */
    refuse: (path: RegExp | undefined) => void (refused = path),
    /** Closes the connection within the responses to requests of these paths. */
    breakOff: (path: RegExp | undefined) => void (broken = path),
    /**
     * Ends all connections, and resets new ones. The port stays taken: another program could get it
     * before the restart.
     */
    stop: () => {
      isStopped = true;
      server.closeAllConnections();
    },
    /** Accepts connections again, for the same page or another one. */
    restart: (page = mounted) => {
      handle = nodeHandler(page, { basePath: "/desk" });
      isStopped = false;
    },
  };
}

/** Opens a tab. `faults` collects everything that the browser complains about. */
export async function newTab(
  context: BrowserContext,
  viewport = { width: 1440, height: 900 },
): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const page = await context.newPage();
  await page.setViewportSize(viewport);
  await page.emulateMedia({ reducedMotion: "reduce" });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error" || /Content Security Policy|Trusted/.test(message.text())) {
      faults.push(message.text());
    }
  });
  return { page, faults };
}

export interface Opening {
  readonly options?: Partial<EngineOptions>;
  /** The scopes that the people lack. */
  readonly without?: readonly KeyScope[];
  /** The size of the tab. */
  readonly size?: { readonly width: number; readonly height: number };
}

/** The console of a new account, and an empty tab for it in a context of its own. */
export function openConsole(skip: TestContext["skip"], opening: Opening = {}) {
  return openPage(consoleHandler, skip, opening);
}

/** The inbox of a new account, and an empty tab for it in a context of its own. */
export function openInbox(skip: TestContext["skip"], opening: Opening = {}) {
  return openPage(inboxHandler, skip, opening);
}

const from = "+14155550100";

/** A contact texts to the shop. */
export function inboundText(shop: Pick<AccountHandle, "sandbox">, body = "Hello?") {
  return shop.sandbox.inbound({ from, body });
}

/** The inbox at a conversation, which a contact has begun with this text. */
export async function openConversation(skip: TestContext["skip"], body?: string) {
  const there = await openInbox(skip);
  const { conversation_id: id, contact_id } = await inboundText(there.shop, body);
  await there.page.goto(`${there.url}#/all/${id}`);
  return { ...there, from, id, contact_id };
}

async function openPage(
  handler: typeof consoleHandler | typeof inboxHandler,
  skip: TestContext["skip"],
  { options, without, size }: Opening,
) {
  const { engine, shop, authorize } = await newShop(options, without);
  const server = await servePage(handler(engine, { authorize }));
  const context = await newContext(skip);
  return { engine, shop, ...server, context, ...(await newTab(context, size)) };
}

/**
 * Waits until the person at a page may send 40 of the 50 requests of a second. A page that opens
 * sends some 20, and a test acts faster than people.
 */
export async function waitForQuota(page: Page, url: string): Promise<void> {
  const remaining = async (): Promise<number> => {
    const headers = { "Tidings-Page": "1" };
    const response = await page.request.get(`${url}v1/conversations?limit=1`, { headers });
    return Number(/r=(\d+)/.exec(response.headers()["ratelimit"] ?? "")?.[1]);
  };
  // The question counts as a request, too.
  await expect.poll(remaining, { interval: 200 }).toBeGreaterThanOrEqual(40);
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules that axe finds broken on the page, or in the parts that match, with the elements. */
export async function accessibilityFaults(page: Page, part = "html"): Promise<unknown> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  return page.evaluate(
    `axe.run(${JSON.stringify(part)}, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, nodes }) =>
       id + ": " + nodes.map(({ html }) => html.slice(0, 160)).join(" | ")))`,
  );
}

/** An action that is not done without a person's approval. */
export function refundAction(refund: (order: string) => void): Action {
  return action({
    name: "refund",
    description: "Refunds an order.",
    input: z.object({ order: z.string() }),
    risk: "approval",
    idempotent: true,
    execute: ({ order }) => refund(order),
  });
}
