/** The pages that `tidings dev` serves beside the API. */
import type { Mountable } from "../../../src/api/index.ts";
import type { MessagingEngine } from "../../entry.ts";
import { consoleHandler } from "../../web/console/server/index.ts";
import { inboxHandler } from "../../web/inbox/server/index.ts";
import { widgetHandler } from "../../web/widget/server/index.ts";
import { demoPage } from "./demo.ts";

/** A handler, and where it is mounted. */
export interface Mount {
  /** The path that the handler is mounted under. Empty for the root. */
  readonly path: string;
  /** Handles the requests below the path. */
  readonly handler: Mountable;
}

/** A page that people open. */
export interface Page extends Mount {
  /** What people call the page. */
  readonly name: string;
  /** What the page is for, in a few words. */
  readonly purpose: string;
}

/** What is mounted beside the API. */
export interface Pages {
  /** The pages in the order in which they are shown. */
  readonly pages: readonly Page[];
  /** A request goes to the first of these whose path it begins with. */
  readonly mounts: readonly Mount[];
  /** Opens the pages for operators. */
  readonly token: string;
}

/** Returns the pages, and the chat widget that the demo page shows. */
export function pagesOf(engine: MessagingEngine): Pages {
  const inbox = inboxHandler(engine);
  const pages = [
    {
      name: "Console",
      path: "/console",
      purpose: "phones, messages, events, webhooks, agents",
      handler: consoleHandler(engine),
    },
    { name: "Inbox", path: "/inbox", purpose: "for people who answer", handler: inbox },
    { name: "Shop", path: "", purpose: "a demo page with the chat widget", handler: demoPage() },
  ];
  const widget = { path: "/chat", handler: widgetHandler(engine) };
  return { pages, mounts: [widget, ...pages], token: inbox.token ?? "" };
}
