/** Fills a new file with a small shop. The engine plays its history on a clock that jumps. */
import type { HttpClient } from "../../../../src/ports/index.ts";
import { MessagingEngine, TidingsError, type EngineOptions } from "../../../entry.ts";
import { virtualClock } from "../../../testing/simulated/virtual-clock.ts";
import { receivers } from "../demo.ts";
import { addCustomer, first } from "./people.ts";
import { Shop } from "./shop.ts";
import { storyOf } from "./story.ts";

/** How long before now the history begins, in milliseconds. */
const historyMs = 5 * 24 * 60 * 60 * 1_000;

/**
 * Plays the history of the shop into an empty file. Returns false, and adds nothing, if the file
 * has contacts already. `url` is the address of this server.
 */
export async function seed(
  options: Pick<EngineOptions, "storage" | "transports" | "sentiment" | "agents" | "logger">,
  url: string,
  stopped: AbortSignal,
): Promise<boolean> {
  const now = Date.now();
  const clock = virtualClock(now - historyMs);
  const engine = new MessagingEngine({
    ...options,
    clock,
    http: { client: pretendedReceivers(), allow: ["localhost"] },
  });
  try {
    const { data } = await engine.contacts.list({ limit: 1 });
    if (data.length > 0 || !(await claimFile(engine))) return false;
    await engine.start();
    const shop = new Shop({ engine, clock, url });
    for (const { at, play } of storyOf(now)) {
      if (stopped.aborted) break;
      await shop.goTo(at);
      await play(shop);
    }
    await shop.goTo(now);
    return true;
  } finally {
    // The clock stands still, so the engine must not wait for it.
    await engine.stop({ deadlineMs: 0 });
  }
}

/**
 * Adds the first customer. Returns false if another process that fills the same file has done so:
 * a phone number belongs to one contact.
 */
async function claimFile(engine: MessagingEngine): Promise<boolean> {
  try {
    await addCustomer(engine, first);
    return true;
  } catch (error) {
    if (error instanceof TidingsError && error.code === "conflict") return false;
    throw error;
  }
}

/** Answers the webhooks of the history as the receivers of this server do. */
function pretendedReceivers(): HttpClient {
  return {
    async send({ url }) {
      const works = !url.endsWith(receivers.failing);
      const body = Buffer.from(works ? "" : "The till is closed.");
      const response = { status: works ? 204 : 503, headers: {}, body, truncated: false };
      return { outcome: "answered", address: "127.0.0.1", ...response };
    },
    close() {},
  };
}

/** Lets the webhooks of the history post to this server, which may have another port now. */
export async function moveWebhooks(engine: MessagingEngine, url: string): Promise<void> {
  const { data } = await engine.webhooks.list({ limit: 100 });
  for (const { id, url: known } of data) {
    const { pathname, hostname } = new URL(known);
    const isOurs = hostname === "localhost" && Object.values<string>(receivers).includes(pathname);
    const current = `${url}${pathname}`;
    if (isOurs && known !== current) await engine.webhooks.update(id, { url: current });
  }
}
