/** What the chat shows of the visitor's messages, when answers and messages overtake each other. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { History } from "../../adapters/web/widget/browser/chat/history.ts";
import { Thread } from "../../adapters/web/widget/browser/chat/thread.ts";
import type { WebchatMessage, WebchatMessagePage } from "../../src/index.ts";
import { runs } from "../support/runs.ts";

const pageSize = 30;

/** The message at a place of the history, which begins with 0. */
const message = (place: number): WebchatMessage => ({
  id: `msg_${place.toString().padStart(26, "0")}`,
  direction: "outbound",
  body: String(place),
  media: [],
  author: "human",
  author_name: null,
  created_at: new Date(place * 1_000).toISOString(),
  placed_at: new Date(place * 1_000).toISOString(),
});

const messages = (from: number, to: number): WebchatMessage[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => message(from + i));

/** The newest messages at the time when the history had `length`. */
function page(length: number): WebchatMessagePage {
  const first = Math.max(0, length - pageSize);
  return {
    data: messages(first, length).toReversed(),
    has_more: first > 0,
    next_cursor: first > 0 ? String(first) : null,
    last_event_id: String(length),
    state: { read_at: null, assignee: null, queued: false },
  };
}

it("shows no gap, and loses no message that arrives before an older page", () => {
  const some = fc.nat({ max: 40 });
  fc.assert(
    fc.property(some, some, some, some, (first, missed, known, later) => {
      const thread = new Thread();
      thread.showNewest(page(first), thread.shown);
      // The messages from here on arrive, after some that did not.
      const begin = first + missed;
      const end = begin + known + later;
      const { shown: asked } = thread;
      thread.add(messages(begin, end));
      // The page is older than the last of them.
      thread.showNewest(page(begin + known), asked);

      const shown = thread.messages.map(({ body }) => Number(body));
      const oldest = shown[0] ?? 0;
      expect(shown).toEqual(Array.from({ length: end - oldest }, (_, i) => oldest + i));
      expect(thread.older, "Older messages are asked for from the oldest that is shown.").toBe(
        oldest === 0 ? null : String(oldest),
      );
    }),
    { numRuns: runs(1_000) },
  );
});

/** The messages before a place, as the chat requests them. */
const before = (place: number): Pick<WebchatMessagePage, "data" | "next_cursor"> => {
  const first = Math.max(0, place - pageSize);
  return {
    data: messages(first, place).toReversed(),
    next_cursor: first > 0 ? String(first) : null,
  };
};

it("leaves out an older page if messages were dropped while it was read", () => {
  const thread = new Thread();
  thread.showNewest(page(100), thread.shown);
  const requested = thread.cuts;
  // After an outage in which many messages came, the earlier ones are dropped.
  thread.showNewest(page(200), thread.shown);
  thread.addOlder(before(70), requested);
  expect(thread.messages).toEqual(messages(170, 200));
  expect(thread.older).toBe("170");
  thread.addOlder(before(170), thread.cuts);
  expect(thread.messages).toEqual(messages(140, 200));

  // The page is now that of another visitor.
  const { cuts } = thread;
  thread.clear();
  thread.showNewest(page(3), thread.shown);
  thread.addOlder(before(140), cuts);
  expect(thread.messages).toEqual(messages(0, 3));
  expect(thread.older).toBeNull();
});

it("keeps the text of a redacted message away, also from pages and answers that were on their way", () => {
  const withoutText = { ...message(7), body: null, media: [] };
  const thread = new Thread();
  thread.redact(withoutText);
  expect(thread.messages, "A message that is not shown does not appear.").toEqual([]);
  thread.showNewest(page(10), thread.shown);
  expect(thread.messages[7]).toEqual(withoutText);
  thread.add([message(7)]);
  expect(thread.messages).toEqual([...messages(0, 7), withoutText, ...messages(8, 10)]);
});

it("drops messages that a newer page no longer has, and earlier ones, which may be redacted", () => {
  const thread = new Thread();
  thread.showNewest(page(100), thread.shown);
  thread.addOlder(before(70), thread.cuts);
  const { data, ...rest } = page(102);
  const withoutOne = data.filter(({ id }) => id !== message(90).id);
  thread.showNewest({ ...rest, data: withoutOne }, thread.shown);
  expect(thread.messages).toEqual([...messages(72, 90), ...messages(91, 102)]);
  expect(thread.older).toBe("72");
});

it("leaves out a page that was read before the one that is shown", () => {
  const thread = new Thread();
  thread.showNewest(page(10), thread.shown);
  const { shown } = thread;
  const { data, ...rest } = page(11);
  const redacted = data.map((each) => (each.id === message(7).id ? { ...each, body: null } : each));
  thread.showNewest({ ...rest, data: redacted }, shown);
  // It was requested before the other page, and comes after it.
  thread.showNewest(page(10), shown);
  expect(thread.messages).toEqual(redacted.toReversed());
});

const session = { id: "wcs_1", token: "wct_1", contact_id: "ct_1", api: "/", visitor: "" };

/** The place before which a request asks for messages. Null if it asks for the newest ones. */
const placeIn = (path: string): string | null =>
  new URLSearchParams(path.split("?")[1]).get("cursor");

it("loads earlier messages once more if the newest ones replaced the thread meanwhile", async () => {
  const thread = new Thread();
  const history = new History(
    {
      inSession: (work) => work(session),
      async request(_, path) {
        const place = placeIn(path);
        if (place === null) return Response.json(page(101));
        // The newest messages come before the first page of earlier ones.
        if (place === "70") await history.loadNewest(session);
        return Response.json(before(Number(place)));
      },
    },
    thread,
  );
  thread.showNewest(page(100), thread.shown);
  await history.loadOlder();
  expect(thread.messages).toEqual(messages(41, 101));
});

it("has earlier messages while it loads them, and asks for them once", async () => {
  const thread = new Thread();
  const asked: (string | null)[] = [];
  const older: (string | null)[] = [];
  const history = new History(
    {
      inSession: (work) => work(session),
      async request(_, path) {
        asked.push(placeIn(path));
        // The visitor scrolls on, and the thread is drawn anew.
        await history.loadOlder();
        older.push(thread.older);
        return Response.json(before(Number(placeIn(path))));
      },
    },
    thread,
  );
  thread.showNewest(page(100), thread.shown);
  await history.loadOlder();
  await history.loadOlder();
  expect(asked).toEqual(["70", "40"]);
  expect(older).toEqual(asked);
  expect(thread.messages).toEqual(messages(10, 100));
});
