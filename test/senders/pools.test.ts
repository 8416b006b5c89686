/** The sender of a contact's first message. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { AccountHandle } from "../../src/index.ts";
import { rankSenders } from "../../src/senders/choose-sender.ts";
import { world } from "../support/engines/world.ts";
import { storages } from "../support/storage/storages.ts";

const numbers = Array.from({ length: 1_000 }, (_, n) => `+1500444${1_000 + n}`);

describe("the order of a pool for an address", () => {
  const ids = ["snd_1", "snd_2", "snd_3", "snd_4", "snd_5"] as const;
  const firstOf = (pool: readonly `snd_${string}`[]): (string | undefined)[] =>
    numbers.map((number) => rankSenders(number, pool)[0]);

  it("gives each sender its share of the addresses", () => {
    const first = firstOf(ids);
    for (const id of ids) {
      const share = first.filter((each) => each === id).length;
      expect(share).toBeGreaterThan(150);
      expect(share).toBeLessThan(250);
    }
  });

  it("does not depend on the pool's order, and a change moves as few addresses as possible", () => {
    const first = firstOf(ids);
    expect(firstOf(ids.toReversed())).toEqual(first);
    for (const gone of ids) {
      const left = firstOf(ids.filter((each) => each !== gone));
      for (const [i, now] of left.entries()) if (first[i] !== gone) expect(now).toBe(first[i]);
      expect(new Set(left.filter((_, i) => first[i] === gone)).size).toBe(4);
    }
  });
});

const pooled = (address: string) => ({
  address,
  channels: ["sms" as const],
  transport: "sandbox",
  pool: true,
});
const from = async ({ messages }: AccountHandle, to: string): Promise<string | null> =>
  (await messages.preview({ to, body: "Hi" })).from;

describe("a message without a sender", () => {
  it("uses the contact's last sender, else the pool, else the default", async () => {
    const { engine } = world();
    const one = engine(memory());
    const account = one.account();
    const standard = await from(account, "+15005550001");
    expect(standard).toBe("+15005559999");
    await account.messages.send({ to: "+15005550001", body: "before there was a pool" });

    const a = await account.senders.create(pooled("+15550000001"));
    const b = await account.senders.create(pooled("+15550000002"));
    expect([a.pool, a.default, b.default]).toEqual([true, false, false]);
    expect(await from(account, "+15005550001")).toBe(standard);
    const before = new Map<string, string | null>();
    for (const to of numbers.slice(0, 30)) {
      before.set(to, (await account.messages.send({ to, body: "Hi" })).from);
    }
    expect(new Set(before.values())).toEqual(new Set([a.address, b.address]));

    const c = await account.senders.create(pooled("+15550000003"));
    for (const [to, address] of before) expect(await from(account, to)).toBe(address);
    const fresh = await Promise.all(numbers.slice(30, 90).map((to) => from(account, to)));
    expect(new Set(fresh)).toEqual(new Set([a.address, b.address, c.address]));
    const asked = await account.messages.send({ to: "+15005550033", body: "Hi", from: b.address });
    expect(asked.from).toBe(b.address);

    await account.senders.remove(b.id);
    await account.senders.update(c.id, { pool: false });
    for (const [to, address] of before) {
      expect(await from(account, to)).toBe(address === b.address ? a.address : address);
    }
    await account.senders.update(a.id, { pool: false });
    for (const to of numbers.slice(30, 40)) expect(await from(account, to)).toBe(standard);
  });

  it("uses only the pool of its channel, which needs no default", async () => {
    const { engine } = world();
    const one = engine(memory());
    const { account: made } = await one.accounts.create({ name: "Pools" });
    const account = one.account(made.id);
    const { data } = await account.senders.list();
    for (const { id, channels } of data) {
      if (channels.includes("sms")) await account.senders.remove(id);
    }
    expect(await from(account, "+15005550001")).toBeNull();
    const sender = { ...pooled("+15550000001"), default: false };
    const { id } = await account.senders.create(sender);
    expect(await from(account, "+15005550001")).toBe(sender.address);
    const media = [{ url: "https://shop.example/a.png" }];
    expect(
      (await account.messages.preview({ to: "+15005550001", body: "", media })).from,
    ).toBeNull();
    await account.senders.update(id, { channels: ["mms"] });
    expect(await from(account, "+15005550001")).toBeNull();
    expect((await account.messages.preview({ to: "+15005550001", body: "", media })).from).toBe(
      sender.address,
    );
  });

  it("cannot join a full pool; the error names the limit", async () => {
    const { engine } = world();
    const account = engine(memory()).account();
    for (let n = 0; n < 100; n++) await account.senders.create(pooled(`+15550000${100 + n}`));
    const last = await account.senders.create({ ...pooled("+15550000999"), pool: false });
    const full = { code: "validation_failed", errors: [{ pointer: "/pool", code: "pool_full" }] };
    await expect(account.senders.create(pooled("+15550000998"))).rejects.toMatchObject(full);
    await expect(account.senders.update(last.id, { pool: true })).rejects.toMatchObject(full);
    // A sender that leaves the pool frees a place.
    const [a, b, c] = (await account.senders.list({ limit: 10 })).data.filter(({ pool }) => pool);
    await account.senders.update(a?.id ?? "", { channels: ["mms"] });
    await account.senders.update(last.id, { pool: true });
    await account.senders.remove(b?.id ?? "");
    await account.senders.create(pooled("+15550000997"));
    await account.senders.update(c?.id ?? "", { pool: false });
    await account.senders.create(pooled("+15550000996"));
    await expect(account.senders.create(pooled("+15550000995"))).rejects.toMatchObject(full);
  });

  it.each(storages)(
    "gets the same sender as concurrent messages to the contact, on $name",
    async ({ open }) => {
      const { engine } = world();
      const ground = open();
      const [one, two] = [engine(ground.connect()), engine(ground.connect())];
      for (let n = 1; n <= 4; n++) await one.senders.create(pooled(`+1555000000${n}`));
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...numbers), async (to) => {
          const sent = await Promise.all(
            [one, two, one, two].map((each) => each.messages.send({ to, body: "Hi" })),
          );
          expect(
            new Set(sent.map((message) => message.from)).size,
            "All messages to one contact have one sender.",
          ).toBe(1);
        }),
        { numRuns: 5 },
      );
    },
  );
});
