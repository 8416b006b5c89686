import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import type { Policy } from "../../src/ports/policy.ts";
import { call, jsonOf } from "../api/call.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { all } from "../support/pages.ts";
import { lightStorages } from "../support/storage/storages.ts";

const phoneOf = (i: number): string => `+1500555${String(6_000 + i)}`;
const messages = Array.from({ length: 300 }, (_, i) => ({ to: phoneOf(i), body: "Hello" }));
const contacts = messages.map(({ to }) => ({ phone: to }));

/** Counts the messages that were checked, each in a turn of the event loop of its own. */
function counting(): { readonly policy: Policy; readonly reached: (n: number) => Promise<void> } {
  let evaluations = 0;
  return {
    policy: {
      name: "counting",
      async evaluate() {
        evaluations++;
        await setImmediate();
        return { verdict: "allow" };
      },
    },
    async reached(n) {
      while (evaluations < n) await setImmediate();
    },
  };
}

async function recipients({ messages: { list } }: MessagingEngine): Promise<string[]> {
  return (await all((page) => list(page))).map(({ to }) => to).toSorted();
}

describe.each(lightStorages)("an engine on $name that stops during a batch", ({ open }) => {
  it("ends a batch with a key between two messages, and another engine sends the rest", async () => {
    const { engine, log } = world();
    const ground = open();
    const { policy, reached } = counting();
    const one = engine(ground.connect(), { policies: [policy] });
    const ended = outcome(one.messages.batch({ messages }, { idempotencyKey: "mailing" }));
    await reached(40);
    await one.stop();
    expect(await ended).toBe("shutting_down");

    const two = engine(ground.connect());
    const before = await recipients(two);
    expect(before.length).toBeGreaterThan(0);
    expect(before.length).toBeLessThan(messages.length);
    const { data } = await two.messages.batch({ messages }, { idempotencyKey: "mailing" });
    expect(data.filter(({ ok }) => ok)).toHaveLength(messages.length);
    expect(await recipients(two)).toEqual(messages.map(({ to }) => to));
    expect(log).toEqual([]);
  });

  it("tells which messages of a batch without a key it did not send", async () => {
    const { engine } = world();
    const ground = open();
    const { policy, reached } = counting();
    const one = engine(ground.connect(), { policies: [policy] });
    const batch = one.messages.batch({ messages });
    await reached(40);
    await one.stop();
    const { data } = await batch;
    const sent = data.filter(({ ok }) => ok).map(({ index }) => phoneOf(index));
    const codes = new Set(data.map((result) => (result.ok ? "sent" : result.code)));
    expect(codes).toEqual(new Set(["sent", "shutting_down"]));
    for (const result of data) {
      if (!result.ok) expect(result.detail).toContain(`Item ${result.index} was not processed.`);
    }
    expect(await recipients(engine(ground.connect()))).toEqual(sent);
  });

  it("ends an import over HTTP between two contacts", async () => {
    const { engine } = world();
    const ground = open();
    const one = engine(ground.connect());
    const { key } = await one.accounts.create({ name: "shop" });
    const path = "/v1/contacts/import";
    const body = { contacts };
    const importing = call(one.api, { method: "POST", path, key: key.secret, body });
    await setImmediate();
    await one.stop();
    const response = await importing;
    expect([response.status, jsonOf(response)]).toMatchObject([503, { code: "shutting_down" }]);
  });

  it("completes a batch that a handler of events runs", async () => {
    const { engine, log } = world();
    const { policy, reached } = counting();
    const one = engine(open().connect(), { policies: [policy] });
    let codes: string[] = [];
    one.on("contact.created", async ({ data }) => {
      if (data.contact.name !== "Ann") return;
      const results = await one.messages.batch({ messages });
      codes = results.data.map((result) => (result.ok ? "sent" : result.code));
    });
    await one.contacts.create({ name: "Ann" });
    await reached(40);
    await one.stop();
    expect([codes.length, new Set(codes)]).toEqual([messages.length, new Set(["sent"])]);
    expect(log).toEqual([]);
  });
});
