import fc from "fast-check";
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { AccountHandle } from "../../src/index.ts";
import type { Channel } from "../../src/kernel/channels.ts";
import { world } from "../support/engines/world.ts";
import { runsOn } from "../support/runs.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { storages } from "../support/storage/storages.ts";

const channels = ["sms", "mms"] as const;

interface Known {
  readonly id: string;
  readonly address: string;
  channels: readonly Channel[];
}

/** The senders of an account from the oldest to the newest, and the default of each channel. */
class Model {
  readonly senders: Known[] = [];
  readonly defaults = new Map<Channel, string>();

  set({ id }: Known, channel: Channel, isMember: boolean, standard: boolean | undefined): void {
    const current = this.defaults.get(channel);
    const oldest = this.senders.find((each) => each.id !== id && each.channels.includes(channel));
    if (isMember && (standard === true || oldest === undefined)) this.defaults.set(channel, id);
    else if (oldest === undefined) this.defaults.delete(channel);
    else if (current === id && (!isMember || standard === false)) {
      this.defaults.set(channel, oldest.id);
    }
  }

  of(id: string): Channel[] {
    return channels.filter((channel) => this.defaults.get(channel) === id);
  }
}

const nth = fc.nat(20);
const some = fc.subarray([...channels], { minLength: 1 });
const standard = fc.option(fc.boolean(), { nil: undefined });
const step = fc.oneof(
  fc.record({ do: fc.constant("create" as const), on: some, standard }),
  fc.record({
    do: fc.constant("update" as const),
    nth,
    on: fc.option(some, { nil: undefined }),
    standard,
  }),
  fc.record({ do: fc.constant("remove" as const), nth }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const newAddress = (n: number): string => `+1555123${1_000 + n}`;

async function applyStep(
  account: AccountHandle,
  model: Model,
  each: Step,
  n: number,
): Promise<void> {
  if (each.do === "create") {
    const { on, standard: isDefault } = each;
    const address = newAddress(n);
    const change = isDefault === undefined ? {} : { default: isDefault };
    const made = await account.senders.create({
      address,
      channels: on,
      transport: "sandbox",
      ...change,
    });
    const known = { id: made.id, address, channels: on };
    for (const channel of on) model.set(known, channel, true, isDefault);
    model.senders.push(known);
    expect(made.default_channels.toSorted()).toEqual(model.of(made.id).toSorted());
    return;
  }
  const known = model.senders[each.nth % Math.max(1, model.senders.length)];
  if (known === undefined) return;
  if (each.do === "remove") {
    await account.senders.remove(known.id);
    for (const channel of known.channels) model.set(known, channel, false, undefined);
    model.senders.splice(model.senders.indexOf(known), 1);
    return;
  }
  const { on = known.channels, standard: isDefault } = each;
  const updated = await account.senders.update(known.id, {
    ...(each.on === undefined ? {} : { channels: [...each.on] }),
    ...(isDefault === undefined ? {} : { default: isDefault }),
  });
  for (const channel of channels) model.set(known, channel, on.includes(channel), isDefault);
  known.channels = on;
  expect(updated.default_channels.toSorted()).toEqual(model.of(known.id).toSorted());
}

/** Returns the address that a message on each channel would come from. */
async function fromOn(account: AccountHandle): Promise<(string | null)[]> {
  const previews = channels.map(async (channel) => {
    const media = channel === "mms" ? [{ url: "https://example.com/a.png" }] : [];
    return (await account.messages.preview({ to: "+15005550001", body: "Hi", channel, media }))
      .from;
  });
  return Promise.all(previews);
}

it.each(storages)(
  "each channel with a sender has exactly one default, whatever is created, changed and removed, on $name",
  async ({ name, open }) => {
    const { engine } = world();
    const one = engine(open().connect());
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 14, size: "max" }),
        async (steps) => {
          const { account: made } = await one.accounts.create({ name: "test" });
          const account = one.account(made.id);
          const model = new Model();
          for (const sender of (await account.senders.list()).data) {
            if (!sender.channels.includes("webchat")) await account.senders.remove(sender.id);
          }
          for (const [n, each] of steps.entries()) {
            await applyStep(account, model, each, n);
            const listed = (await account.senders.list({ limit: 100 })).data.filter(({ address }) =>
              address.startsWith("+"),
            );
            const found = listed.map((sender) => [
              sender.id,
              sender.default,
              sender.default_channels.toSorted(),
            ]);
            expect(
              found.toReversed(),
              "Each sender shows the channels for which it is the default.",
            ).toEqual(
              model.senders.map(({ id }) => [id, model.of(id).length > 0, model.of(id).toSorted()]),
            );
            expect(await fromOn(account)).toEqual(
              channels.map(
                (channel) =>
                  model.senders.find(({ id }) => id === model.defaults.get(channel))?.address ??
                  null,
              ),
            );
          }
        },
      ),
      { numRuns: runsOn(name, { memory: 60, SQLite: 20, PostgreSQL: 6 }) },
    );
  },
);

async function applyTo(account: AccountHandle, ids: readonly string[], each: Step, n: number) {
  const { senders } = account;
  if (each.do === "create") {
    await senders.create({
      address: newAddress(n),
      channels: [...each.on],
      transport: "sandbox",
      ...(each.standard === undefined ? {} : { default: each.standard }),
    });
    return;
  }
  const id = ids[each.nth % ids.length] ?? "";
  if (each.do === "remove") {
    await senders.remove(id);
    return;
  }
  await senders.update(id, {
    ...(each.on === undefined ? {} : { channels: [...each.on] }),
    ...(each.standard === undefined ? {} : { default: each.standard }),
  });
}

it.each(storages)(
  "a change that another one overtakes leaves no channel without its default, on $name",
  async ({ name, open }) => {
    const { engine } = world();
    const ground = open();
    let overtake = async (): Promise<void> => {};
    const one = engine(beforeCommits(ground.connect(), () => overtake()));
    const two = engine(ground.connect());
    await fc.assert(
      fc.asyncProperty(fc.subarray([0, 1, 2]), step, step, async (existing, slow, quick) => {
        const { account: made } = await two.accounts.create({ name: "test" });
        const account = two.account(made.id);
        for (const { id, address } of (await account.senders.list()).data) {
          if (address.startsWith("+")) await account.senders.remove(id);
        }
        const ids: string[] = [];
        for (const n of existing) {
          const sender = { address: newAddress(n), channels: [...channels], transport: "sandbox" };
          ids.push((await account.senders.create(sender)).id);
        }
        overtake = async () => {
          overtake = async () => {};
          await applyTo(account, ids, quick, 3).catch(() => {});
        };
        await applyTo(one.account(made.id), ids, slow, 4).catch(() => {});
        const { data } = await account.senders.list({ limit: 100 });
        for (const channel of channels) {
          const members = data.filter((sender) => sender.channels.includes(channel));
          const standards = data.filter(({ default_channels }) =>
            default_channels.includes(channel),
          );
          expect([channel, standards.length]).toEqual([channel, Math.min(1, members.length)]);
        }
        expect((await fromOn(account)).map((address) => address !== null)).toEqual(
          channels.map((channel) => data.some((sender) => sender.channels.includes(channel))),
        );
      }),
      { numRuns: runsOn(name, { memory: 150, SQLite: 60, PostgreSQL: 15 }) },
    );
  },
);

it("a default sender stays the default when something else of it changes", async () => {
  const { engine } = world();
  const one = engine(memory());
  const sender = { channels: ["sms" as const], transport: "sandbox" };
  await one.senders.create({ ...sender, address: newAddress(1) });
  const { id } = await one.senders.create({ ...sender, address: newAddress(2), default: true });
  const { default_channels } = await one.senders.update(id, { daily_cap: 100 });
  expect(default_channels).toEqual(["sms"]);
});
