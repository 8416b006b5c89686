import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AccountHandle } from "../../src/account-handle.ts";
import type { VirtualClock } from "../../src/testing/index.ts";
import { type Carrier, carrier } from "../support/carrier.ts";
import { storages } from "../support/storages.ts";
import { world } from "../support/world.ts";

const phones = ["+15005550101", "+15005550102"] as const;
type Phone = (typeof phones)[number];
const confirmation = "You are out.";

interface Model {
  readonly out: Set<Phone>;
  /** Opt-outs by a keyword from somebody who had not opted out: each is confirmed once. */
  confirmations: number;
}

interface Real {
  readonly account: AccountHandle;
  readonly clock: VirtualClock;
  readonly line: Carrier;
}

type Command = fc.AsyncCommand<Model, Real>;

const code = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : String(error)),
  );

async function agree({ out, confirmations }: Model, { account, clock, line }: Real): Promise<void> {
  await clock.settle();
  for (const to of phones) {
    const { consent } = await account.messages.preview({ to, body: "Hello" });
    expect([to, consent]).toEqual([to, out.has(to) ? "opted_out" : "allowed"]);
  }
  expect(line.calls.filter(({ message }) => message.body === confirmation)).toHaveLength(confirmations);
}

function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    async run(model, real) {
      await run(model, real);
      await agree(model, real);
    },
    toString: () => name,
  };
}

/** What a word does to the model. */
function hear(model: Model, phone: Phone, word: string): void {
  if (word === "Stop.") {
    if (!model.out.has(phone)) model.confirmations++;
    model.out.add(phone);
  } else if (word === "start" || word === "YES") {
    model.out.delete(phone);
  }
}

const says = (phone: Phone, word: string): Command =>
  command(`${phone} says ${word}`, async (model, { account }) => {
    await account.sandbox.inbound({ from: phone, body: word });
    hear(model, phone, word);
  });

const send = (to: Phone, delay: number): Command =>
  command(`send to ${to} in ${delay} ms`, async ({ out }, { account, clock }) => {
    const send_at = new Date(clock.now() + delay).toISOString();
    expect(await code(account.messages.send({ to, body: "Hello", send_at }))).toBe(
      out.has(to) ? "recipient_opted_out" : "done",
    );
  });

/** Who opts out while messages are on their way to their hand-over: the event log shows what committed first. */
const race = (phone: Phone, word: string): Command =>
  command(`${phone} says ${word} while messages go out`, async (model, { account }) => {
    const messages = Array.from({ length: 4 }, () => code(account.messages.send({ to: phone, body: "Hello" })));
    const words = Array.from({ length: 2 }, () => account.sandbox.inbound({ from: phone, body: word }));
    await Promise.all([...messages, ...words]);
    hear(model, phone, word);
  });

async function contactOf(account: AccountHandle, phone: Phone) {
  const { data } = await account.messages.list({ limit: 1, to: phone, direction: "outbound" });
  const { data: heard } = await account.contacts.list({ phone });
  return heard[0]?.id ?? data[0]?.contact_id;
}

const set = (phone: Phone, status: "opted_in" | "opted_out"): Command =>
  command(`${phone} is ${status}`, async (model, { account }) => {
    const id = await contactOf(account, phone);
    if (id === undefined || (await code(account.contacts.setConsent(id, "text", { status }))) !== "done") return;
    // Of a contact that took in the other one, both addresses.
    const { data } = await account.contacts.consents(id);
    for (const { address } of data) {
      const each = phones.find((known) => known === address);
      if (each === undefined) continue;
      if (status === "opted_out") model.out.add(each);
      else model.out.delete(each);
    }
  });

/** What is done to contacts changes nothing of what their addresses allow. */
const treat = (what: "erase" | "merge" | "edit", phone: Phone): Command =>
  command(`${what} ${phone}`, async (_, { account }) => {
    const id = await contactOf(account, phone);
    const other = await contactOf(account, phones.find((each) => each !== phone) ?? phone);
    if (id === undefined) return;
    if (what === "erase") await code(account.contacts.erase(id));
    if (what === "merge" && other !== undefined && other !== id) await code(account.contacts.merge(other, id));
    if (what === "edit") await code(account.contacts.update(id, { name: "Ann", phone: null }));
  });

const phone = fc.constantFrom(...phones);
const word = fc.constantFrom("Stop.", "start", "YES", "help", "Hi", "please stop texting me");

describe.each(storages)("consent on $name", ({ name, open }) => {
  const numRuns = { memory: 60, SQLite: 20, PostgreSQL: 6 }[name];

  it("holds whatever is said, sent and done to contacts; no hand-over commits after an opt-out, which is confirmed once", async () => {
    const { clock, engine, log } = world();
    const line = carrier({ receipts: "none" });
    const one = engine(open().connect(), { transports: [line], consent: { optOutText: confirmation } });
    await one.start();
    /** In the order of commits: opt-outs, opt-ins, and hand-overs but for those of confirmations. */
    const out = new Set<string>();
    const broken: string[] = [];
    const bodies = new Map<string, string>();
    one.on("contact.opted_out", ({ data }, { account_id }) => void out.add(`${account_id} ${data.address}`));
    one.on("contact.opted_in", ({ data }, { account_id }) => void out.delete(`${account_id} ${data.address}`));
    one.on("message.updated", ({ data: { status, to, message_id } }, { account_id }) => {
      if (status === "sending" && out.has(`${account_id} ${to}`)) broken.push(message_id);
    });
    const step = fc.commands(
      [
        fc.tuple(phone, word).map(([from, said]) => says(from, said)),
        fc.tuple(phone, fc.constantFrom(0, 5_000)).map(([to, delay]) => send(to, delay)),
        fc.tuple(phone, word).map(([from, said]) => race(from, said)),
        fc.tuple(phone, fc.constantFrom("opted_in" as const, "opted_out" as const)).map(([to, how]) => set(to, how)),
        fc
          .tuple(fc.constantFrom("erase" as const, "merge" as const, "edit" as const), phone)
          .map(([what, to]) => treat(what, to)),
        fc.constant(command("5 seconds pass", (_, real) => real.clock.advance(5_000))),
      ],
      { maxCommands: 15 },
    );
    await fc.assert(
      fc.asyncProperty(step, async (commands) => {
        line.calls.splice(0);
        broken.splice(0);
        const { account } = await one.accounts.create({ name: "model" });
        const handle = one.account(account.id, { mode: "sandbox" });
        await fc.asyncModelRun(
          () => ({ model: { out: new Set<Phone>(), confirmations: 0 }, real: { account: handle, clock, line } }),
          commands,
        );
        await clock.advance(6_000);
        for (const { message } of line.calls) bodies.set(message.message_id, message.body);
        expect(broken.filter((id) => bodies.get(id) !== confirmation)).toEqual([]);
      }),
      { numRuns },
    );
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });
});
