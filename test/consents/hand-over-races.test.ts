import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { messages } from "../../src/messages/rows.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { Policy } from "../../src/ports/policy.ts";
import type { Write } from "../../src/ports/storage.ts";
import { carrier } from "../support/engines/carrier.ts";
import { SharedStorage } from "../../adapters/testing/world/ports/shared-storage.ts";
import { world } from "../support/engines/world.ts";
import { beforeCommits } from "../support/storage/groups.ts";

const isHandOver = (write: Write): boolean =>
  write.kind === "update" && write.collection === messages && write.row["status"] === "sending";

const phone = "+15005550101";

/** Two engines on one storage. Hand-overs of the first wait between their reads and commit. */
function waiting(options: Partial<EngineOptions> = {}) {
  const { clock, engine } = world();
  const storage = new SharedStorage(memory());
  const slow = storage.connect();
  let arrive: () => void = () => {};
  const arrives = new Promise<void>((resolve) => (arrive = resolve));
  let handOvers = 0;
  const waiting = beforeCommits(slow, async (writes) => {
    if (!writes.some(isHandOver)) return;
    handOvers++;
    await arrives;
  });
  const line = carrier({ receipts: "none" });
  const one = engine(waiting, { transports: [line], ...options });
  const two = engine(storage.connect(), options);
  const comes = async (work: () => Promise<unknown>): Promise<void> => {
    await one.start();
    await clock.settle();
    expect([handOvers, line.calls.length]).toEqual([1, 0]);
    await work();
    arrive();
    await clock.advance(10_000);
  };
  const sent = (): string[] => line.calls.map(({ message }) => message.message_id);
  return { one, two, comes, sent };
}

describe("a hand-over between its reads and its commit", () => {
  it("fails if another engine commits an opt-out", async () => {
    const { one, two, comes, sent } = waiting();
    const { id, contact_id } = await two.messages.send({ to: phone, body: "Hello" });
    // Not by STOP, whose confirmation would write the hand-over's job. The two share no other row.
    await comes(() => two.contacts.setConsent(contact_id, "text", { status: "opted_out" }));
    expect(sent()).toEqual([]);
    expect((await one.messages.get(id)).error).toMatchObject({ code: "recipient_opted_out" });
  });

  it("fails if the number passes to another contact", async () => {
    const { one, two, comes, sent } = waiting();
    const { id, contact_id } = await two.messages.send({ to: phone, body: "Hello" });
    await comes(async () => {
      await two.contacts.update(contact_id, { phone: null });
      await two.contacts.create({ phone });
    });
    expect(sent()).toEqual([]);
    expect((await one.messages.get(id)).error).toMatchObject({
      code: "policy_denied",
      provider_code: "recipient_changed",
    });
  });

  it("fails if rows that a host policy has read change", async () => {
    const rule: Policy = {
      name: "rule",
      evaluate: ({ contact }) =>
        contact?.labels.includes("quiet") === true
          ? { verdict: "deny", code: "quiet", message: "Not now." }
          : { verdict: "allow" },
    };
    const { one, two, comes, sent } = waiting({ policies: [rule] });
    const { id, contact_id } = await two.messages.send({ to: phone, body: "Hello" });
    await comes(() => two.contacts.update(contact_id, { labels: ["quiet"] }));
    expect(sent()).toEqual([]);
    expect((await one.messages.get(id)).error).toMatchObject({
      code: "policy_denied",
      provider_code: "quiet",
    });
  });
});
