/** The pages in a real browser: their sizes, and how smooth the inbox is. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { z } from "zod";
import type { MessagingEngine } from "../adapters/entry.ts";
import { nodeHandler } from "../adapters/http/node.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import { consoleHandler } from "../adapters/web/console/server/index.ts";
import { inboxHandler } from "../adapters/web/inbox/server/index.ts";
import { keyScopes } from "../src/operations/caller.ts";
import { launchChromium, unpackChromium } from "../test/support/browser/launch-chromium.ts";
import { fillSqlite } from "./search.ts";
import { person } from "./support/contact-rows.ts";
import { withEngineOn, withTempFile } from "./support/engines.ts";
import { count, median, scaled, table } from "./support/measure.ts";

/** The limits of compressed JavaScript, in KB. */
const budgets = { inbox: 80, console: 80, widget: 15 } as const;

const closed = scaled(100_000);
/** One conversation in ten is open. */
const contacts = Math.ceil((closed * 10) / 9);
const loads = 5;
const eventsPerSecond = 50;
const seconds = scaled(30);

/** A conversation in the inbox, and a phone in the console. */
const content = ".row, .handset";

/** Runs in the page before its own code. Keeps what is measured in `window.measured`. */
const meter = `
const measured = (window.measured = { content: 0, task: 0, frame: 0 });
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) measured.task = Math.max(measured.task, duration);
}).observe({ type: "longtask" });
new MutationObserver((_, observer) => {
  if (document.querySelector("${content}") === null) return;
  measured.content = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
let last = performance.now();
requestAnimationFrame(function next(now) {
  measured.frame = Math.max(measured.frame, now - last);
  last = now;
  requestAnimationFrame(next);
});
`;

interface Measured {
  /** When the page first had content, in ms. */
  readonly content: number;
  /** The longest task, in ms. Tasks under 50 ms count as 0. */
  readonly task: number;
  /** The longest time between two frames, in ms. */
  readonly frame: number;
}

interface Traced extends Measured {
  /**
   * The most processor time that one task of the page took, in ms. Other than the duration of a
   * task, it does not contain the time in which other processes had the processor.
   */
  readonly processor: number;
}

export async function browser(): Promise<string> {
  await import("../build-pages.ts");
  const sizes = Object.entries(budgets).flatMap(([name, budget]) => {
    const built = compressedSizes(name);
    if (built === undefined) return [];
    return [[name, built.first.toFixed(1), String(budget), built.later.toFixed(1)]];
  });
  console.log("\nJavaScript of the pages, gzip\n");
  console.log(table(["", "KB at start", "budget", "KB later"], sizes));
  return withTempFile((file) =>
    withEngineOn(sqlite({ file }), async (engine) => {
      await fillSqlite(engine, file, contacts);
      await engine.start();
      const url = await serve(engine);
      const chromium = await launchChromium(await unpackChromium());
      try {
        const page = await chromium.newPage({ viewport: { width: 1440, height: 900 } });
        await page.addInitScript(meter);
        const first = await firstContent(page, url);
        const firstOfConsole = await firstContent(page, `${url}console/`);
        const live = await traced(chromium, page, () => events(page, url, engine));
        const scrolled = await traced(chromium, page, () => scroll(page, url));
        console.log("\nThe pages in a browser, milliseconds\n");
        const scrolling = `${count(closed)} conversations scrolled`;
        const writing = `${eventsPerSecond} messages a second for ${seconds} s`;
        const rows = [
          [`inbox: first content, median of ${loads} loads`, count(first), "1,000"],
          [`console: first content, median of ${loads} loads`, count(firstOfConsole), "1,000"],
          ...[
            { what: scrolling, of: scrolled },
            { what: writing, of: live },
          ].flatMap(({ what, of }) => [
            [`${what}: longest task`, count(of.task), "100"],
            ["  the same, its processor time", count(of.processor), "100"],
            ["  longest time between two frames", count(of.frame), ""],
          ]),
        ];
        console.log(table(["", "ms", "budget"], rows));
        return (
          `browser: the inbox shows its first conversation after ${count(first)} ms, and its ` +
          `longest task in ${count(closed)} conversations is ${count(scrolled.task)} ms, ` +
          `${count(scrolled.processor)} ms of them on a processor`
        );
      } finally {
        await chromium.close();
        server.closeAllConnections();
        server.close();
      }
    }),
  );
}

interface Sizes {
  /** The scripts that the page loads before it shows anything, in KB. */
  readonly first: number;
  /** The scripts that its parts load when they are opened, in KB. */
  readonly later: number;
}

/** The sizes of a page's scripts. Undefined if the page is not built. */
function compressedSizes(page: string): Sizes | undefined {
  const folder = new URL(`../dist/web/${page}/`, import.meta.url);
  if (!existsSync(folder)) return undefined;
  const manifest = JSON.parse(readFileSync(new URL("manifest.json", folder), "utf8")) as Readonly<
    Record<string, { readonly file: string; readonly imports?: readonly string[] }>
  >;
  const loaded = new Set(["main.tsx"]);
  // The loop also visits the files that it adds.
  for (const name of loaded) for (const each of manifest[name]?.imports ?? []) loaded.add(each);
  const sizeOf = (names: readonly string[]): number => {
    const files = names.flatMap((name) => manifest[name]?.file ?? []);
    const sizes = files.map((file) => gzipSync(readFileSync(new URL(file, folder))).length);
    return sizes.reduce((sum, size) => sum + size, 0) / 1_000;
  };
  const later = Object.keys(manifest).filter((name) => !loaded.has(name));
  return { first: sizeOf([...loaded]), later: sizeOf(later) };
}

const server = createServer();

/** Serves the console under `/console`, and the inbox elsewhere. Returns the inbox's address. */
async function serve(engine: MessagingEngine): Promise<string> {
  const { account_id, mode } = engine.account().scope;
  const operator = { id: "kim", name: "Kim Larsen" };
  const authorize = () => ({ account_id, mode, operator, may: [...keyScopes] });
  const inbox = nodeHandler(inboxHandler(engine, { authorize }));
  const consolePage = nodeHandler(consoleHandler(engine, { authorize }), { basePath: "/console" });
  server.on("request", (request, response) => {
    const isConsole = request.url?.startsWith("/console/") === true;
    (isConsole ? consolePage : inbox)(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function open(page: Page, url: string): Promise<void> {
  // Another fragment alone would not load the page again.
  await page.goto("about:blank");
  await page.goto(url);
  await page.locator(content).first().waitFor();
}

async function firstContent(page: Page, url: string): Promise<number> {
  await open(page, url);
  const times: number[] = [];
  for (let i = 0; i < loads; i++) {
    await open(page, url);
    times.push((await measuredBy(page)).content);
  }
  return median(times);
}

const measuredBy = (page: Page): Promise<Measured> => page.evaluate<Measured>("measured");

/** What happens while a page starts is not counted. */
const restart = (page: Page): Promise<unknown> =>
  page.evaluate(`(async () => {
    for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
    Object.assign(measured, { task: 0, frame: 0 });
  })()`);

const reachedEnd = `(async () => {
  const box = document.querySelector(".virtual-list");
  for (;;) {
    box.scrollTop = box.scrollHeight;
    await new Promise(requestAnimationFrame);
    if (document.querySelector(".list-footer") === null) break;
  }
  for (let top = box.scrollHeight; top > 0; top -= 50_000) {
    box.scrollTop = top;
    await new Promise(requestAnimationFrame);
  }
  return Number(document.querySelector(".virtual-row").getAttribute("aria-setsize"));
})()`;

/** Scrolls to the end of the list, as fast as it loads, and back. */
async function scroll(page: Page, url: string): Promise<Measured> {
  await open(page, `${url}#/closed`);
  await restart(page);
  const rows = await page.evaluate<number>(reachedEnd);
  if (Math.abs(rows - closed) > 1) throw new Error(`The list ended after ${rows} conversations.`);
  return measuredBy(page);
}

/** Adds what Chromium's own record of tasks says. */
async function traced(
  chromium: Browser,
  page: Page,
  work: () => Promise<Measured>,
): Promise<Traced> {
  await chromium.startTracing(page, { categories: ["toplevel"] });
  const measured = await work();
  const trace = z.object({ traceEvents: z.array(traceEvent) });
  const { traceEvents } = trace.parse(JSON.parse(String(await chromium.stopTracing())));
  const isMain = new Set(
    traceEvents.flatMap(({ pid, tid, args }) =>
      args?.name === "CrRendererMain" ? [`${pid} ${tid}`] : [],
    ),
  );
  let processor = 0;
  for (const { name, pid, tid, dur = 0, tdur = 0 } of traceEvents) {
    if (name !== "ThreadControllerImpl::RunTask" || !isMain.has(`${pid} ${tid}`)) continue;
    // The processor's clock sometimes jumps.
    processor = Math.max(processor, Math.min(dur, tdur) / 1_000);
  }
  return { ...measured, processor };
}

const traceEvent = z.object({
  name: z.string(),
  pid: z.number(),
  tid: z.number(),
  /** The duration and the processor time, in microseconds. */
  dur: z.number().optional(),
  tdur: z.number().optional(),
  args: z.object({ name: z.unknown().optional() }).optional(),
});

/** Contacts write while one of the conversations is open. */
async function events(page: Page, url: string, engine: MessagingEngine): Promise<Measured> {
  await open(page, url);
  await page.locator(".row").first().click();
  await page.locator(".conversation-header").waitFor();
  // While someone points at the list, it does not move.
  await page.locator(".conversation-header").hover();
  await restart(page);
  const began = performance.now();
  for (let i = 0; i < eventsPerSecond * seconds; i++) {
    await setTimeout(Math.max(0, began + (i * 1_000) / eventsPerSecond - performance.now()));
    const from = person((i * 7_919) % contacts, contacts).phone;
    await engine.sandbox.inbound({ from, body: `Question ${i}: are you open today?` });
  }
  return measuredBy(page);
}
