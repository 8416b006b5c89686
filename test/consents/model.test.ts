import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { VirtualClock } from "../../adapters/testing/index.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import { carrier, type Carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { modelCommands } from "../support/model-commands.ts";
import { outcome } from "../support/outcome.ts";
import { cases, runsOn } from "../support/runs.ts";
import { storages } from "../support/storage/storages.ts";

const phones = ["+15005550101", "+15005550102"] as const;
type Phone = (typeof phones)[number];
/** The sandbox's sender and a second one. */
const senders = ["+15005559999", "+15550001111"] as const;
type Sender = (typeof senders)[number];
const confirmation = "You are out.";

interface Model {
  readonly scope: "account" | "sender";
  /** The latest consent per sender, by `phone sender`. */
  readonly last: Map<string, "opted_in" | "opted_out">;
  /** Opt-outs by keyword of contacts that were opted in. Each is confirmed once. */
  confirmations: number;
}

const isOut = ({ last }: Model, phone: Phone, sender: Sender): boolean =>
  last.get(`${phone} ${sender}`) === "opted_out";

function say(
  { last }: Model,
  phone: Phone,
  status: "opted_in" | "opted_out",
  about: readonly Sender[],
): void {
  for (const sender of about) last.set(`${phone} ${sender}`, status);
}

interface Real {
  readonly account: AccountHandle;
  readonly clock: VirtualClock;
  readonly line: Carrier;
}

type Command = fc.AsyncCommand<Model, Real>;

async function checkAgreement(model: Model, { account, clock, line }: Real): Promise<void> {
  await clock.settle();
  for (const to of phones) {
    for (const from of senders) {
      const { consent } = await account.messages.preview({ to, from, body: "Hello" });
      expect([to, from, consent]).toEqual([
        to,
        from,
        isOut(model, to, from) ? "opted_out" : "allowed",
      ]);
    }
    const { data: known } = await account.contacts.list({ phone: to });
    const { data = [] } =
      known[0] === undefined ? {} : await account.contacts.consents(known[0].id);
    for (const { status, opted_out_of, opted_in_to } of data.filter(
      ({ address }) => address === to,
    )) {
      const told = senders.map((sender) => {
        if (opted_out_of.includes(sender)) return "opted_out";
        return opted_in_to.includes(sender) ? "opted_in" : status;
      });
      expect([to, ...told]).toEqual([
        to,
        ...senders.map((sender) => model.last.get(`${to} ${sender}`) ?? "unknown"),
      ]);
    }
  }
  expect(
    line.calls.filter(({ message }) => message.body === confirmation),
    "Each opt-out that changed something is confirmed once, and nothing else is.",
  ).toHaveLength(model.confirmations);
}

const command = modelCommands(checkAgreement);

/** Applies a keyword to the model. */
function applyKeyword(model: Model, phone: Phone, to: Sender, word: string): void {
  const about = model.scope === "sender" ? [to] : senders;
  if (word === "Stop.") {
    if (!isOut(model, phone, to)) model.confirmations++;
    say(model, phone, "opted_out", about);
  } else if ((word === "start" || word === "YES") && isOut(model, phone, to)) {
    say(model, phone, "opted_in", about);
  }
}

const says = (phone: Phone, to: Sender, word: string): Command =>
  command(`${phone} says ${word} to ${to}`, async (model, { account }) => {
    await account.sandbox.inbound({ from: phone, to, body: word });
    applyKeyword(model, phone, to, word);
  });

const send = (to: Phone, from: Sender, delay: number): Command =>
  command(`send from ${from} to ${to} in ${delay} ms`, async (model, { account, clock }) => {
    const send_at = new Date(clock.now() + delay).toISOString();
    expect(
      await outcome(account.messages.send({ to, from, body: "Hello", send_at })),
      `A message to ${to} from ${from} is refused exactly after an opt-out.`,
    ).toBe(isOut(model, to, from) ? "recipient_opted_out" : "done");
  });

/** An opt-out concurrent with hand-overs. The event log shows which committed first. */
const race = (phone: Phone, sender: Sender, word: string): Command =>
  command(
    `${phone} says ${word} to ${sender} while messages go out`,
    async (model, { account }) => {
      const from = (i: number): Sender => senders[i % 2] ?? sender;
      const messages = Array.from({ length: 4 }, (_, i) =>
        outcome(account.messages.send({ to: phone, from: from(i), body: "Hello" })),
      );
      const words = Array.from({ length: 2 }, () =>
        account.sandbox.inbound({ from: phone, to: sender, body: word }),
      );
      await Promise.all([...messages, ...words]);
      applyKeyword(model, phone, sender, word);
    },
  );

async function contactOf(account: AccountHandle, phone: Phone) {
  const { data } = await account.messages.list({ limit: 1, to: phone, direction: "outbound" });
  const { data: heard } = await account.contacts.list({ phone });
  return heard[0]?.id ?? data[0]?.contact_id;
}

const set = (phone: Phone, status: "opted_in" | "opted_out"): Command =>
  command(`${phone} is ${status}`, async (model, { account }) => {
    const id = await contactOf(account, phone);
    if (
      id === undefined ||
      (await outcome(account.contacts.setConsent(id, "text", { status }))) !== "done"
    ) {
      return;
    }
    // Both addresses of a merged contact.
    const { data } = await account.contacts.consents(id);
    for (const { address } of data) {
      const each = phones.find((known) => known === address);
      if (each === undefined) continue;
      say(model, each, status, senders);
    }
  });

/** Changes of contacts do not change the consent of their addresses. */
const treat = (what: "erase" | "merge" | "edit", phone: Phone): Command =>
  command(`${what} ${phone}`, async (_, { account }) => {
    const id = await contactOf(account, phone);
    const other = await contactOf(account, phones.find((each) => each !== phone) ?? phone);
    if (id === undefined) return;
    if (what === "erase") await outcome(account.contacts.erase(id));
    if (what === "merge" && other !== undefined && other !== id) {
      await outcome(account.contacts.merge(other, id));
    }
    if (what === "edit") await outcome(account.contacts.update(id, { name: "Ann", phone: null }));
  });

const phone = fc.constantFrom(...phones);
const sender = fc.constantFrom(...senders);
const word = fc.constantFrom("Stop.", "start", "YES", "help", "Hi", "please stop texting me");
const kept = storages.flatMap((storage) =>
  (["account", "sender"] as const).map((scope) => ({ ...storage, scope })),
);
const keptHere = cases(kept, ({ name, scope }) => name !== "PostgreSQL" || scope === "account");

describe.each(keptHere)("consent by $scope on $name", ({ name, open, scope }) => {
  const numRuns = runsOn(name, { memory: 40, SQLite: 12, PostgreSQL: 3 });

  it("matches a model: no hand-over commits after an opt-out, and each opt-out is confirmed once", async () => {
    const { clock, started, log } = world();
    const line = carrier({ receipts: "none" });
    const one = await started(open().connect(), {
      transports: [line],
      consent: { scope, ...(scope === "account" ? {} : { optOutText: confirmation }) },
    });
    /** In commit order: opt-outs, opt-ins, and hand-overs to addresses with opt-outs. */
    const out = new Set<string>();
    const handedOver = new Map<string, readonly string[]>();
    const sent = new Map<string, { readonly from: string; readonly body: string }>();
    const named = (account_id: string, address: string, from: string): string =>
      `${account_id} ${address} ${from}`;
    one.on("contact.opted_out", ({ data: { address, sender: of } }, { account_id }) => {
      for (const each of of === null ? senders : [of]) out.add(named(account_id, address, each));
    });
    one.on("contact.opted_in", ({ data: { address, sender: of } }, { account_id }) => {
      for (const each of of === null ? senders : [of]) out.delete(named(account_id, address, each));
    });
    one.on("message.updated", ({ data: { status, to, message_id } }, { account_id }) => {
      if (status !== "sending") return;
      const of = senders.filter((each) => out.has(named(account_id, to, each)));
      handedOver.set(message_id, of);
    });
    const step = fc.commands(
      [
        fc.tuple(phone, sender, word).map(([from, to, said]) => says(from, to, said)),
        fc
          .tuple(phone, sender, fc.constantFrom(0, 5_000))
          .map(([to, from, delay]) => send(to, from, delay)),
        fc.tuple(phone, sender, word).map(([from, to, said]) => race(from, to, said)),
        fc
          .tuple(phone, fc.constantFrom("opted_in" as const, "opted_out" as const))
          .map(([to, how]) => set(to, how)),
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
        handedOver.clear();
        const { account } = await one.accounts.create({
          name: "model",
          opt_out_text: scope === "account" ? confirmation : null,
        });
        const handle = one.account(account.id, { mode: "sandbox" });
        await handle.senders.create({
          address: senders[1],
          channels: ["sms"],
          transport: "sandbox",
        });
        await fc.asyncModelRun(
          () => ({
            model: { scope, last: new Map(), confirmations: 0 },
            real: { account: handle, clock, line },
          }),
          commands,
        );
        await clock.advance(6_000);
        for (const { message } of line.calls) sent.set(message.message_id, message);
        const broken = [...handedOver].filter(([id, of]) => {
          const { from = "", body = "" } = sent.get(id) ?? {};
          return of.includes(from) && body !== confirmation;
        });
        expect(broken).toEqual([]);
      }),
      { numRuns },
    );
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });
});
