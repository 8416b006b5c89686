/** A shop's website with the chat widget, in a real browser. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { expressHandler } from "../../adapters/http/express.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { widgetHandler } from "../../adapters/web/widget/server/index.ts";
import { keyScopes } from "../../src/operations/caller.ts";
import { silent } from "../../src/ports/logger.ts";
import { eventually } from "../support/eventually.ts";

/** As strict as a page can be that calls its own server. */
const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Shop</title>
<header>Shoes</header>
<main><h1>Shop</h1><p>Shoes and more.</p></main>
<script src="/chat/widget.js" data-session-url="/chat/session" data-text-human="Support" async></script>
`;

/** The person who answers. */
export const anna = { id: "anna", name: "Anna Berg" };

/** The chat in one tab. */
export interface Tab {
  readonly page: Page;
  readonly launcher: Locator;
  readonly panel: Locator;
  readonly field: Locator;
  /** What the browser reported: errors of scripts and violations of the policy. */
  readonly complaints: readonly string[];
  /** Opens the panel, writes and sends. */
  write(text: string): Promise<void>;
  /**
   * The bubbles in the order on the screen. Those of the visitor have `>` before them, or `...>`
   * until the server has confirmed them.
   */
  bubbles(): Promise<readonly string[]>;
  /** Waits for these bubbles. */
  shows(expected: readonly string[]): Promise<void>;
}

export interface WidgetSite {
  readonly engine: MessagingEngine;
  openTab(): Promise<Tab>;
  /** Opens the inbox, with an operator signed in. */
  openInbox(): Promise<Page>;
  /** Sends a message to the visitor, as the host application does. */
  say(body: string): Promise<void>;
  /** Sends a reply as a person does. */
  reply(body: string): Promise<void>;
  /** Ends all connections, and refuses new ones until `plugIn`. */
  unplug(): void;
  plugIn(): void;
  /** The texts of all messages from the visitor, as the engine has them, the oldest first. */
  received(): Promise<readonly (string | null)[]>;
}

export async function widgetSite(context: BrowserContext): Promise<WidgetSite> {
  const engine = new MessagingEngine({
    storage: memory(),
    transports: [sandbox()],
    logger: silent,
  });
  await engine.start();
  const app = express();
  app.use("/chat", expressHandler(widgetHandler(engine)));
  const { account_id, mode } = engine.account().scope;
  const authorize = () => ({ account_id, mode, operator: anna, may: [...keyScopes] });
  app.use("/desk", expressHandler(inboxHandler(engine, { authorize })));
  app.get("/", (_, response) => {
    response.type("html").set("Content-Security-Policy", policy).send(html);
  });
  let isUnplugged = false;
  const server = createServer((request, response) => {
    if (isUnplugged) request.socket.destroy();
    else app(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await engine.stop({ deadlineMs: 1_000 });
  });
  const contact = async (): Promise<string> => {
    const [found] = (await engine.contacts.list()).data;
    return found?.id ?? "";
  };
  return {
    engine,
    openTab: async () => {
      const page = await context.newPage();
      await page.setViewportSize({ width: 1_000, height: 720 });
      return tabOf(page, `http://localhost:${(server.address() as AddressInfo).port}/`);
    },
    async openInbox() {
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/desk/`);
      return page;
    },
    async say(body) {
      await engine.messages.send({ to: await contact(), channel: "webchat", body });
    },
    async reply(body) {
      const [conversation] = (await engine.conversations.list()).data;
      await engine.conversations.reply(conversation?.id ?? "", { body, author_id: "anna" });
    },
    unplug() {
      isUnplugged = true;
      server.closeAllConnections();
    },
    plugIn() {
      isUnplugged = false;
    },
    async received() {
      const { data } = await engine.messages.list({ direction: "inbound", limit: 100 });
      return data.map(({ body }) => body).toReversed();
    },
  };
}

/** Lets a tab hear nothing of the others while it is frozen, as a browser may do. */
export const freezable = `{
  const { addEventListener } = BroadcastChannel.prototype;
  BroadcastChannel.prototype.addEventListener = function (type, listener) {
    addEventListener.call(this, type, (event) => {
      if (window.isFrozen) (window.missed ??= []).push(event.data.kind);
      else listener(event);
    });
  };
}`;

/**
 * Scrolls the thread to its beginning, where earlier messages are loaded. Only scrolling loads them,
 * so a thread that is there already is scrolled away.
 */
export const toBeginning = `{
  const list = document.querySelector("tidings-chat").shadowRoot.querySelector(".list");
  list.scrollTop = list.scrollTop === 0 ? 200 : 0;
}`;

/** Ends the freeze of a tab, which a visitor sees again. */
export const thaw =
  "window.isFrozen = false; document.dispatchEvent(new Event('visibilitychange'))";

const readBubbles = `[...document.querySelector("tidings-chat").shadowRoot.querySelectorAll("li .bubble")]
  .map((each) => (each.closest(".pending") ? "..." : "") + (each.closest(".mine") ? "> " : "") + each.textContent)`;

async function tabOf(page: Page, url: string): Promise<Tab> {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    // A lost connection is no fault of the page.
    if (message.type() === "error" && !text.includes("net::ERR_")) complaints.push(text);
  });
  await page.addInitScript(
    `document.addEventListener("securitypolicyviolation", (violation) =>
      console.error("policy: " + violation.violatedDirective + " " + violation.blockedURI))`,
  );
  await page.goto(url);
  const launcher = page.locator(".launcher");
  await launcher.waitFor();
  const panel = page.getByRole("dialog", { name: "Chat with us" });
  const field = panel.getByRole("textbox", { name: "Write a message" });
  const bubbles = async (): Promise<readonly string[]> => page.evaluate(readBubbles);
  return {
    page,
    launcher,
    panel,
    field,
    complaints,
    bubbles,
    async write(text) {
      if (!(await panel.isVisible())) await launcher.click();
      await field.fill(text);
      await field.press("Enter");
    },
    shows: (expected) =>
      eventually(async () => {
        const shown = await bubbles();
        if (JSON.stringify(shown) !== JSON.stringify(expected)) {
          throw new Error(
            `Shown: ${JSON.stringify(shown)}. Expected: ${JSON.stringify(expected)}.`,
          );
        }
      }),
  };
}
