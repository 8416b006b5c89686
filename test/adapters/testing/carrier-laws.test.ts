/** The laws about carriers find what was handed over, reported or received wrongly. */
import { expect, test } from "vitest";
import { MessagingEngine } from "../../../adapters/entry.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import {
  invariants,
  scriptedCarrier,
  world,
  type CarrierCall,
  type ScriptedCarrier,
  type World,
} from "../../../adapters/testing/index.ts";
import { messages } from "../../../src/messages/rows.ts";
import type { Verdict } from "../../../src/ports/policy.ts";
import type { StoragePort, Write } from "../../../src/ports/storage.ts";
import { over } from "../../support/over.ts";
import { isInsert, planted, to } from "./planted.ts";

const sender = "+15005559999";
const media = [{ url: "https://shop.example/a.png", content_type: "image/png" }];

interface Sent {
  readonly w: World;
  readonly carrier: ScriptedCarrier;
  readonly call: CarrierCall;
}

/** A world in which a message went out. */
async function sentOne(storage: StoragePort<undefined> = memory()): Promise<Sent> {
  const carrier = scriptedCarrier();
  const w = world({ storage, transports: [carrier] });
  await w.run((engine) => engine.messages.send({ to, body: "Hello", media }));
  await w.settle();
  await w.check(...Object.values(invariants));
  const [call] = carrier.calls;
  if (call === undefined) throw new Error("nothing was sent");
  return { w, carrier, call };
}

/** The world as if its carrier had got other calls. */
const withCalls = ({ w }: Sent, calls: readonly CarrierCall[]): World => over(w, { calls });

test("the laws hold for a carrier with two transports", async () => {
  const carrier = scriptedCarrier();
  const w = world({ storage: memory(), transports: [carrier, carrier.as("spare")] });
  for (const body of ["Hello", "Good bye"]) {
    await w.run((engine) => engine.messages.send({ to, body }));
    carrier.text({ from: to, to: sender, body: `${body} to you` });
  }
  await w.settle();
  await w.check(...Object.values(invariants));
});

test.each([
  ["channel", { channel: "sms" }],
  ["from", { from: "+15005550000" }],
  ["to", { to: "+15005550102" }],
  ["body", { body: "Bye" }],
  ["media", { media: [] }],
] as const)("a message that is handed over with another %s is found", async (field, changes) => {
  const made = await sentOne();
  const { call } = made;
  const forged = withCalls(made, [{ ...call, message: { ...call.message, ...changes } }]);
  expect((await invariants.handedOverAsWritten(forged))?.description).toMatch(
    new RegExp(`^the carrier got the ${field} .* for msg_\\w+ instead of `),
  );
});

test("a message that was edited after the carrier refused it for now is handed over as written", async () => {
  const carrier = scriptedCarrier({ script: [{ attempts: ["throttled", "accepted"] }] });
  const verdicts: Verdict[] = [{ verdict: "allow" }, { verdict: "allow" }];
  const w = world({
    storage: memory(),
    transports: [carrier],
    engine: (ports) =>
      new MessagingEngine({
        ...ports,
        policies: [{ name: "lunch", evaluate: () => verdicts.shift() ?? { verdict: "allow" } }],
      }),
  });
  const { id } = await w.run((engine) => engine.messages.send({ to, body: "Hello" }));
  verdicts.push({ verdict: "defer", until: w.clock.now() + 60_000, reason: "lunch" });
  await w.advance(20_000);
  await w.run((engine) => engine.messages.edit(id, { body: "Good bye" }));
  await w.settle();
  expect(carrier.calls.map(({ message }) => message.body)).toEqual(["Hello", "Good bye"]);
  await w.check(...Object.values(invariants));
});

test("a message that is handed over after it was redacted is found", async () => {
  // The redaction is told, and the text stays.
  const keepingTexts = planted((writes) =>
    writes.filter(
      (write) => write.collection !== messages || !("row" in write) || write.row["body"] !== null,
    ),
  );
  const w = world({ storage: keepingTexts, transports: [scriptedCarrier()] });
  w.inject("sendFailsBefore");
  const { id } = await w.run((engine) => engine.messages.send({ to, body: "Card 4111" }));
  await w.advance(1_000);
  await w.check(invariants.handedOverAsWritten);
  await w.run((engine) => engine.messages.redact(id));
  await w.settle();
  expect((await invariants.handedOverAsWritten(w))?.description).toBe(
    `${id} was handed over after it was redacted`,
  );
});

test("a message that is handed over for another account is found", async () => {
  const made = await sentOne();
  const { w, call } = made;
  const { account } = await w.run((engine) => engine.accounts.create({ name: "Bakery" }));
  const message = { ...call.message, account_id: account.id };
  const forged = withCalls(made, [{ ...call, message }]);
  expect((await invariants.handedOverAsWritten(forged))?.description).toBe(
    `the carrier got ${message.message_id} as one of ${account.id}, sandbox`,
  );
});

test("a message that is lost after it was handed over is found", async () => {
  const storage = memory();
  const { w, call } = await sentOne(storage);
  const { account_id, mode, message_id } = call.message;
  const key = [account_id, mode, message_id];
  const [[row] = []] = await storage.reader.get([{ index: messages.primary, key, limit: 1 }]);
  const version = Number(row?.["version"]);
  await storage.begin().commit([{ kind: "remove", collection: messages, key, version }]);
  expect((await invariants.handedOverAsWritten(w))?.description).toMatch(
    /^the carrier got msg_\w+, which is not stored, though ct_\w+ is not erased$/,
  );
});

test("a message in the very millisecond after an opt-out is found", async () => {
  const withoutConsent = planted((writes) =>
    writes.filter(
      ({ collection, kind }) => collection.name !== "contact_identities" || kind !== "update",
    ),
  );
  const { w, carrier } = await sentOne(withoutConsent);
  carrier.text({ from: to, to: sender, body: "STOP" });
  await w.clock.settle();
  await w.check(invariants.nothingAfterAnOptOut);
  await w.run((engine) => engine.messages.send({ to, body: "Are you there?" }));
  expect((await invariants.nothingAfterAnOptOut(w))?.description).toMatch(
    /^msg_\w+ went out after an opt-out$/,
  );
});

test("a status that no carrier reported is found", async () => {
  const made = await sentOne();
  for (const calls of [[], [{ ...made.call, receipts: [] }]]) {
    const forged = withCalls(made, calls);
    expect((await invariants.statusFollowsTheEvidence(forged))?.description).toMatch(
      /^msg_\w+ is delivered, though no carrier reported that$/,
    );
  }
});

test("the statuses of a carrier without receipts hold", async () => {
  const carrier = scriptedCarrier({ receipts: "none" });
  const w = world({ storage: memory(), transports: [carrier] });
  await w.run((engine) => engine.messages.send({ to, body: "Hello" }));
  await w.settle();
  await w.check(...Object.values(invariants));
});

/** A world in which a message went out, and its phone has answered. */
async function answered(
  storage: StoragePort<undefined> = memory(),
  prepare: (w: World) => void = () => {},
): Promise<Sent> {
  const made = await sentOne(storage);
  prepare(made.w);
  made.carrier.text({ from: to, to: sender, body: "Hello", media });
  await made.w.settle();
  return made;
}

const isInbound = (write: Write): boolean =>
  isInsert("messages", write) && "row" in write && write.row["direction"] === "inbound";

test.each<[string, (writes: readonly Write[]) => readonly Write[], RegExp]>([
  ["not stored", (writes) => (writes.some(isInbound) ? [] : writes), /is not stored$/],
  [
    "stored twice",
    (writes) => writes.filter((write) => write.collection.name !== "inbound_ids"),
    /is stored 2 times$/,
  ],
  [
    "cut off",
    (writes) =>
      writes.map((write) =>
        isInbound(write) && "row" in write ? { ...write, row: { ...write.row, body: "H" } } : write,
      ),
    /is stored as "H" from \+15005550101 to \+15005559999 with 1 files: msg_\w+$/,
  ],
])("a text from a phone that is %s is found", async (_, change, finding) => {
  const { w } = await answered(planted(change), (sent) => sent.inject("reportTwice"));
  expect((await invariants.everyTextOnce(w))?.description).toMatch(finding);
});

test("the text of an erased contact is not missed", async () => {
  const { w } = await answered();
  await w.check(...Object.values(invariants));
  const { data } = await w.engine().contacts.list();
  await w.run((engine) => engine.contacts.erase(data[0]?.id ?? ""));
  await w.settle();
  await w.check(...Object.values(invariants));
});

test("a text to nobody is not missed", async () => {
  const { w, carrier } = await answered();
  carrier.text({ from: "+15005550102", to: sender, body: "Nobody has texted me" });
  carrier.text({ from: to, to: "+15005550000", body: "This is no sender" });
  await w.settle();
  await w.check(...Object.values(invariants));
});
