import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import {
  consentEvidence,
  consentEvidenceById,
  type ConsentEvidenceRow,
} from "../../src/contacts/consent/rows.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { Row } from "../../src/ports/storage.ts";
import { mail } from "../../src/webchat/rows.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { longTest } from "../support/runs.ts";
import { rowsOf } from "../support/storage/rows.ts";

/** Merges contacts until one has `count` addresses. */
async function merged(
  { contacts }: MessagingEngine,
  survivor: string,
  others: readonly string[],
): Promise<void> {
  for (const other of others) await contacts.merge(survivor, other);
}

describe("a contact with many addresses", () => {
  it("can open a webchat session with up to 99 other addresses, and not with 100", async () => {
    const one = world().engine(memory());
    const phones = Array.from({ length: 101 }, (_, i) => `+1500555${String(i).padStart(4, "0")}`);
    const made = await Promise.all(phones.map((phone) => one.contacts.create({ phone })));
    const [survivor = "", ...others] = made.map(({ id }) => id);
    const last = others.pop() ?? "";
    await merged(one, survivor, others);
    expect((await one.contacts.get(survivor)).identities).toHaveLength(100);
    await expect(one.webchat.open({ contact_id: survivor })).rejects.toMatchObject({
      code: "conflict",
      message: "A contact can have at most 100 addresses.",
    });
    expect((await one.contacts.get(survivor)).identities).toHaveLength(100);
    const refused = { code: "conflict" };
    await expect(one.contacts.merge(survivor, last)).rejects.toMatchObject(refused);
    await expect(one.contacts.previewMerge(survivor, last)).rejects.toMatchObject(refused);
    // Without its phone number, it has room again.
    await one.contacts.update(survivor, { phone: null });
    expect((await one.webchat.open({ contact_id: survivor })).contact_id).toBe(survivor);
    expect((await one.contacts.get(survivor)).identities).toHaveLength(100);
  });

  it("can take a phone number with up to 99 other addresses, and not with 100", async () => {
    const one = world().engine(memory());
    const sessions = await Promise.all(Array.from({ length: 100 }, () => one.webchat.open()));
    const [survivor = "", ...others] = sessions.map(({ contact_id }) => contact_id);
    const last = others.pop() ?? "";
    await merged(one, survivor, others);
    await one.contacts.update(survivor, { phone: "+15005550101" });
    await one.contacts.update(survivor, { phone: "+15005550102" });
    const { identities } = await one.contacts.get(survivor);
    expect([identities.length, identities[0]?.address]).toEqual([100, "+15005550102"]);
    await one.contacts.update(survivor, { phone: null });
    await merged(one, survivor, [last]);
    await expect(one.contacts.update(survivor, { phone: "+15005550103" })).rejects.toMatchObject({
      code: "conflict",
      message: "A contact can have at most 100 addresses.",
    });
    const { phone, identities: own } = await one.contacts.get(survivor);
    expect([phone, own.length]).toEqual([null, 100]);
  });

  it("gets each message in all of its browsers", async () => {
    const { clock, started } = world();
    const storage = memory();
    const one = await started(storage);
    const sessions = await Promise.all(Array.from({ length: 30 }, () => one.webchat.open()));
    const [survivor = "", ...others] = sessions.map(({ contact_id }) => contact_id);
    await merged(one, survivor, others);
    const { id } = await one.messages.send({ to: survivor, channel: "webchat", body: "Hello" });
    await clock.settle();
    const { identities } = await one.contacts.get(survivor);
    const rows = await rowsOf(storage, mail);
    expect(rows.map(({ message_id }) => message_id)).toEqual(identities.map(() => id));
    expect(new Set(rows.map(({ address }) => address))).toEqual(
      new Set(identities.map(({ address }) => address)),
    );
    expect(identities).toHaveLength(30);
  });
});

describe("a consent with a long history", () => {
  longTest("returns its newest entries, and is erased completely", async () => {
    const storage = memory();
    let most = 0;
    const heard = <R extends readonly Row[]>(rows: R): R => {
      most = Math.max(most, rows.length);
      return rows;
    };
    const reader = over(storage.reader, {
      range: async (range) => heard(await storage.reader.range(range)),
      get: async (lookups) => (await storage.reader.get(lookups)).map(heard),
    });
    const one = world().engine(over(storage, { reader }));
    const { id } = await one.contacts.create({ phone: "+15005550101" });
    await one.contacts.setConsent(id, "text", { status: "opted_out", detail: "the first" });
    const evidence = async () => {
      const all = {
        index: consentEvidenceById,
        prefix: [],
        order: "ascending",
        limit: 100_000,
      } as const;
      return (await storage.reader.range(all)) as unknown as ConsentEvidenceRow[];
    };
    const [first] = await evidence();
    if (first === undefined) throw new Error("nothing was said");
    const rows = Array.from({ length: 10_100 }, (_, i) => {
      const number = String(i).padStart(5, "0");
      return {
        ...first,
        id: `ent_7${"0".repeat(20)}${number}`,
        detail: `word ${number}`,
        version: 1,
      };
    });
    await storage
      .begin()
      .commit(rows.map((row) => ({ kind: "insert", collection: consentEvidence, row })));

    most = 0;
    const { data } = await one.contacts.consents(id);
    expect(data.map((each) => each.evidence.map(({ detail }) => detail))).toEqual([
      rows
        .slice(-50)
        .map(({ detail }) => detail)
        .toReversed(),
    ]);
    expect(most).toBeLessThanOrEqual(50);
    await one.contacts.erase(id);
    const left = await evidence();
    expect([left.length, left.filter(({ detail }) => detail !== null)]).toEqual([10_101, []]);
  });
});
