/** Consent that changes while a message or an erasure is committed. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { SharedStorage } from "../../adapters/testing/world/ports/shared-storage.ts";
import { consentByAddress } from "../../src/contacts/consent/rows.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import { messages } from "../../src/messages/rows.ts";
import type { Policy } from "../../src/ports/policy.ts";
import type { Write } from "../../src/ports/storage.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { beforeCommits, overtaken, writesTo } from "../support/storage/groups.ts";
import { storages } from "../support/storage/storages.ts";

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

  it("waits if its account gets quiet hours", async () => {
    const { one, two, comes, sent } = waiting();
    const { id } = await two.messages.send({ to: phone, body: "Buy!", category: "marketing" });
    const { account_id } = two.account().scope;
    const quiet_hours = { from: "00:00", to: "23:59" };
    await comes(() => two.accounts.update(account_id, { quiet_hours }));
    expect(sent()).toEqual([]);
    expect((await one.messages.get(id)).status).toBe("scheduled");
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

describe.each(storages)("an opt-out that commits before a text, on $name", ({ open }) => {
  it.each([
    { body: "START", status: "opted_in", answers: 1 },
    { body: "HELP", status: "opted_out", answers: 0 },
  ])("decides what $body means", async ({ body, status, answers }) => {
    const { engine } = world();
    const ground = open();
    const other = engine(ground.connect());
    const { contact_id } = await other.sandbox.inbound({ from: phone, body: "Hello" });
    const slow = overtaken(ground.connect(), writesTo(messages, "insert"), () =>
      other.contacts.setConsent(contact_id, "text", { status: "opted_out" }),
    );
    const one = engine(slow, { consent: { helpText: "Call us." } });
    await one.sandbox.inbound({ from: phone, body });
    const [consent] = (await other.contacts.consents(contact_id)).data;
    expect(consent?.status).toBe(status);
    const { data } = await other.contacts.messages(contact_id);
    expect(data.filter(({ direction }) => direction === "outbound")).toHaveLength(answers);
  });
});

describe.each(storages)("a message to a new number, on $name", ({ open }) => {
  it("is refused if somebody with that number opts out and is erased before the commit", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const other = engine(ground.connect());
    const slow = overtaken(ground.connect(), writesTo(messages, "insert"), async () => {
      const { contact_id } = await other.sandbox.inbound({ from: phone, body: "STOP" });
      await other.contacts.erase(contact_id);
    });
    const line = carrier();
    const one = await started(slow, { transports: [line] });
    await clock.advance(7_777);
    const sent = one.messages.send({ to: phone, body: "Hi" });
    await expect(sent).rejects.toMatchObject({ code: "recipient_opted_out" });
    await clock.advance(60_000);
    expect(line.calls.map(({ message }) => message.body)).not.toContain("Hi");
  });

  it("leaves no consent behind if its contact is erased without having decided", async () => {
    const { engine } = world();
    const ground = open();
    const storage = ground.connect();
    const one = engine(storage);
    const { contact_id } = await one.messages.send({ to: phone, body: "Hi" });
    expect((await one.contacts.consents(contact_id)).data).toMatchObject([
      { address: phone, status: "unknown", updated_at: null },
    ]);
    await one.contacts.erase(contact_id);
    const left = await storage.reader.range({
      index: consentByAddress,
      prefix: [],
      order: "ascending",
      limit: 10,
    });
    expect(left).toEqual([]);
  });
});
