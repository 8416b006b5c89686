/** Commands on messages. Each runs on the model and on the engine. */
import fc from "fast-check";
import { expect } from "vitest";
import type { VirtualClock } from "../../adapters/testing/index.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { Carrier } from "../support/engines/carrier.ts";
import { modelCommands } from "../support/model-commands.ts";
import { outcome } from "../support/outcome.ts";
import { ModelMessage, type Evidence, type Plan } from "./message-model.ts";

export interface Model {
  readonly messages: ModelMessage[];
}

export interface Real {
  readonly account: AccountHandle;
  readonly clock: VirtualClock;
  readonly carrier: Carrier;
  readonly ids: string[];
}

type Command = fc.AsyncCommand<Model, Real>;

const iso = (ms: number): string => new Date(ms).toISOString();

/** Checks that all visible state of the messages equals the model. */
async function checkAgreement(
  { messages }: Model,
  { account, carrier, clock, ids }: Real,
): Promise<void> {
  await clock.settle();
  for (const each of messages) each.pass(clock.now());
  const shown = await Promise.all(ids.map((id) => account.messages.get(id)));
  const seen = shown.map(({ status, body, sent_at, delivered_at, read_at }) => ({
    status,
    body,
    sent_at,
    delivered_at,
    read_at,
  }));
  expect(seen, "Each message shows the status, text and times that the model expects.").toEqual(
    messages.map((each) => each.shown),
  );
  const calls = ids.map(
    (id) => carrier.calls.filter(({ message }) => message.message_id === id).length,
  );
  expect(calls, "Each message is handed to the carrier as often as the model expects.").toEqual(
    messages.map((each) => each.calls),
  );
}

const command = modelCommands(checkAgreement);

/** A command on an existing message. */
function onMessage(
  name: string,
  nth: number,
  run: (message: ModelMessage, id: string, real: Real) => Promise<void>,
): Command {
  return command(
    `${name} ${nth}`,
    async ({ messages }, real) => {
      const at = nth % messages.length;
      const [message, id] = [messages[at], real.ids[at]];
      if (message === undefined || id === undefined) throw new Error("no such message");
      await run(message, id, real);
    },
    ({ messages }) => messages.length > 0,
  );
}

const send = (plan: Plan, delay: number | null): Command =>
  command(`send(${plan}, ${String(delay)})`, async ({ messages }, { account, clock, ids }) => {
    const now = clock.now();
    const body = `${plan} ${messages.length}`;
    const sendAt = delay === null ? null : now + delay;
    const when = sendAt === null ? {} : { send_at: iso(sendAt) };
    const { id } = await account.messages.send({
      to: `+1500555${1_000 + messages.length}`,
      body,
      ...when,
    });
    ids.push(id);
    messages.push(new ModelMessage(plan, body, now, sendAt));
  });

const cancel = (nth: number): Command =>
  onMessage("cancel", nth, async (message, id, { account }) => {
    const canceled = message.isWaiting;
    if (canceled) message.end = "canceled";
    expect(
      await outcome(account.messages.cancel(id)),
      "Only a waiting message can be canceled.",
    ).toBe(canceled ? "done" : "not_cancelable");
  });

const edit = (nth: number, delay: number): Command =>
  onMessage(`edit(${delay})`, nth, async (message, id, { account, clock }) => {
    const { status, plan } = message;
    const send_at = clock.now() + delay;
    const edited = status === "scheduled";
    const body = `${plan} edited`;
    if (edited) Object.assign(message, { body, due: Math.max(send_at, clock.now()) });
    expect(
      await outcome(account.messages.edit(id, { body, send_at: iso(send_at) })),
      `Only a scheduled message can be edited: it is ${status}.`,
    ).toBe(edited ? "done" : "not_editable");
  });

const redact = (nth: number): Command =>
  onMessage("redact", nth, async (message, id, { account }) => {
    const redacted = !message.isWaiting;
    if (redacted) message.body = null;
    expect(
      await outcome(account.messages.redact(id)),
      "Only a message that no longer waits can be redacted.",
    ).toBe(redacted ? "done" : "conflict");
  });

const receipts = (
  nth: number,
  list: readonly { status: "sent" | "delivered" | "undelivered" | "read"; ago: number }[],
): Command =>
  onMessage(
    `receipts(${list.map(({ status }) => status).join()})`,
    nth,
    async (message, id, { account, clock }) => {
      const evidence: Evidence[] = list.map(({ status, ago }) => ({
        // Only a carrier that accepted a message sends "sending" receipts.
        status: status === "sent" && message.acceptedAt === null ? "delivered" : status,
        at: clock.now() - ago,
      }));
      const known = message.calls > 0;
      if (known) message.evidence.push(...evidence);
      const told = evidence.map(({ status, at }) => ({ status, at: iso(at) })) as Parameters<
        typeof account.sandbox.receipts
      >[1];
      expect(
        await outcome(account.sandbox.receipts(id, told)),
        "Only a message that was handed over can have receipts.",
      ).toBe(known ? "done" : "conflict");
    },
  );

const advance = (ms: number): Command =>
  command(`advance(${ms})`, async (_, { clock }) => clock.advance(ms));

const nth = fc.nat(20);
const wait = fc.constantFrom(1, 999, 1_000, 5_000, 29_000, 60_000, 100_000);
const receipt = fc.record({
  status: fc.constantFrom("sent", "delivered", "undelivered", "read"),
  ago: fc.nat(5_000),
});

const sends = fc
  .tuple(
    fc.constantFrom<Plan>("accept", "accept", "refuse", "busy", "lose"),
    fc.option(fc.integer({ min: -1_000, max: 100_000 })),
  )
  .map(([plan, delay]) => send(plan, delay));

export const messageCommands = fc.commands<Model, Real, false>(
  [
    sends,
    sends,
    nth.map(cancel),
    fc.tuple(nth, fc.integer({ min: -1_000, max: 100_000 })).map(([at, delay]) => edit(at, delay)),
    nth.map(redact),
    fc
      .tuple(nth, fc.array(receipt, { minLength: 1, maxLength: 3 }))
      .map(([at, list]) => receipts(at, list)),
    wait.map(advance),
  ],
  { size: "large", maxCommands: 40 },
);
