import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { VirtualClock } from "../../adapters/testing/index.ts";
import {
  addScore,
  sentimentOf,
  type SentimentState,
} from "../../src/contacts/sentiment/sentiment-rules.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { SentimentAnalyzer } from "../../src/ports/sentiment.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { messageScores } from "../../src/sentiment/rows.ts";
import type { Event } from "../../src/webhooks/event-catalog.ts";
import { held } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { isLong } from "../support/runs.ts";
import { beforeReads } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { storages } from "../support/storage/storages.ts";

const phone = "+15005550101";

/** Scores a text as the number that it contains. */
const numbers: SentimentAnalyzer = { score: (text) => Number(text) };

async function states(storage: StoragePort): Promise<string[]> {
  const rows = await rowsOf(storage, messageScores);
  return rows.map(({ state }) => state);
}

async function settled(storage: StoragePort, clock: VirtualClock): Promise<void> {
  await clock.advanceUntil(async () => !(await states(storage)).includes("pending"));
}

async function say(engine: MessagingEngine, body: string, from = phone): Promise<string> {
  return (await engine.sandbox.inbound({ from, body })).contact_id;
}

const fold = (list: readonly number[]): SentimentState | null =>
  list.reduce<SentimentState | null>(addScore, null);

describe.each(storages)("sentiment on $name", ({ name, open }) => {
  /** What does not depend on the storage. See `lightStorages`. */
  const isTried = isLong || name === "SQLite";

  it("is scored after a message, has an event when its label changes, and lists its messages", async () => {
    const { engine, clock } = world();
    const storage = open().connect();
    const one = engine(storage, { sentiment: numbers });
    const heard: Event[] = [];
    one.on("sentiment.changed", (event) => void heard.push(event));
    const id = await say(one, "-0.5");
    expect(await one.contacts.sentiment(id)).toEqual({
      current: null,
      trend: "steady",
      messages: [],
    });
    await one.start();
    await settled(storage, clock);
    expect((await one.contacts.sentiment(id)).current).toEqual({ label: "neutral", score: -0.5 });
    expect(heard).toEqual([]);

    await clock.advance(1_000);
    await say(one, "-0.9");
    await settled(storage, clock);
    const mood = fold([-0.5, -0.9]) ?? expect.fail();
    const { current, trend, messages } = await one.contacts.sentiment(id);
    expect(current).toEqual({ label: "negative", score: sentimentOf(mood).score });
    expect(trend).toBe("falling");
    expect(messages.map(({ score }) => score)).toEqual([-0.9, -0.5]);
    expect(heard.map(({ data }) => data)).toEqual([
      {
        contact: { id, name: phone, phone },
        from: { label: "neutral", score: -0.5 },
        to: current,
        message_id: messages[0]?.message_id,
      },
    ]);
  });

  it.runIf(isTried)(
    "scores only inbound messages with text that is neither redacted nor a keyword",
    async () => {
      const { engine, clock } = world();
      const storage = open().connect();
      const heard: string[] = [];
      const one = engine(storage, { sentiment: { score: (text) => (heard.push(text), 0.5) } });
      await one.messages.send({ to: phone, body: "outbound" });
      await one.sandbox.inbound({
        from: phone,
        body: "",
        media: [{ url: "https://example.com/a.png" }],
      });
      const secret = await one.sandbox.inbound({ from: phone, body: "secret" });
      await one.messages.redact(secret.id);
      await say(one, "HELP");
      await say(one, "hello");
      await one.start();
      await settled(storage, clock);
      expect(heard).toEqual(["hello"]);
      expect((await states(storage)).map(String).toSorted()).toEqual(["none", "none", "scored"]);
    },
  );

  it.runIf(isTried)("ignores slow, failed and invalid scores and continues", async () => {
    const { engine, clock, log } = world();
    const storage = open().connect();
    const late = held<number>();
    const answers: Record<string, () => number | Promise<number>> = {
      late: () => late.promise,
      throws: () => {
        throw new Error("broken");
      },
      nonsense: () => Number.NaN,
      "0.4": () => 0.4,
    };
    const one = engine(storage, { sentiment: { score: (text) => answers[text]?.() ?? null } });
    let id = "";
    for (const text of Object.keys(answers)) {
      id = await say(one, text);
      await clock.advance(1);
    }
    const begun = clock.now();
    await one.start();
    await settled(storage, clock);
    expect(clock.now() - begun).toBeGreaterThanOrEqual(2_000);
    expect(clock.now() - begun).toBeLessThan(3_000);
    late.answer(-1);
    await clock.settle();
    expect((await states(storage)).map(String).toSorted()).toEqual([
      "none",
      "none",
      "none",
      "scored",
    ]);
    expect((await one.contacts.sentiment(id)).current).toEqual({ label: "neutral", score: 0.4 });
    expect(log.map(({ message }) => message)).toContain("a message could not be scored");
  });

  it.runIf(isTried)(
    "stores nothing without an analyzer; such an engine drops unscored messages of others",
    async () => {
      const { engine, clock } = world();
      const ground = open();
      const storage = ground.connect();
      const without = engine(storage);
      await say(without, "1");
      await without.start();
      expect(await states(storage)).toEqual([]);
      const withOne = engine(ground.connect(), { sentiment: numbers });
      await say(withOne, "1");
      expect(await states(storage)).toEqual(["pending"]);
      await clock.advance(4_000);
      expect(await states(storage)).toEqual(["pending"]);
      await settled(storage, clock);
      expect(await states(storage)).toEqual(["none"]);
    },
  );
});

it("a process that stalls during scoring while another finishes the work counts no score twice", async () => {
  const { started, clock } = world();
  const storage = memory();
  let isStalled = false;
  const stalling = beforeReads(storage, async () => {
    if (isStalled) await clock.sleep(100_000);
  });
  const stalls: SentimentAnalyzer = {
    score: (text) => {
      isStalled = true;
      return Number(text);
    },
  };
  const one = await started(stalling, { sentiment: stalls });
  const id = await say(one, "0.5");
  await clock.advanceUntil(() => isStalled);
  const other = await started(storage, { sentiment: numbers });
  await clock.advance(90_000);
  expect((await other.contacts.sentiment(id)).current).toEqual({ label: "neutral", score: 0.5 });
  isStalled = false;
  await clock.advance(60_000);
  expect((await other.contacts.sentiment(id)).current).toEqual({ label: "neutral", score: 0.5 });
});
