/** The pages that `tidings dev` serves beside the API. */
import type { MessagingEngine } from "../../entry.ts";
import type { Mountable } from "../../../src/api/index.ts";
import { inboxHandler } from "../../web/inbox/server/index.ts";
import { demoPage } from "./demo.ts";

/** A page, and where it is mounted. */
export interface Page {
  /** What people call the page. */
  readonly name: string;
  /** The path that the page is mounted under. Empty for the root. */
  readonly path: string;
  /** What the page is for, in a few words. */
  readonly purpose: string;
  /** Handles the requests below the path. */
  readonly handler: Mountable;
}

/** The pages, and the token that opens those for operators. */
export interface Pages {
  /** The pages in the order in which they are shown. */
  readonly pages: readonly Page[];
  readonly token: string;
}

/**
 * Returns the pages. A request goes to the first one whose path it begins with, so the page at the
 * root comes last.
 */
export function pagesOf(engine: MessagingEngine): Pages {
  const inbox = inboxHandler(engine);
  return {
    pages: [
      { name: "Inbox", path: "/inbox", purpose: "for people who answer", handler: inbox },
      { name: "Shop", path: "", purpose: "a demo page for visitors", handler: demoPage() },
    ],
    token: inbox.token ?? "",
  };
}
