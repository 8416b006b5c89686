import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { english } from "../../adapters/language/index.ts";
import { seededRandom, simulated } from "../../adapters/testing/index.ts";
import { identities } from "../../src/contacts/rows.ts";
import { MessagingEngine } from "../../src/engine.ts";
import { events } from "../../src/events/rows.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import { messages } from "../../src/messages/rows.ts";
import { silent } from "../../src/ports/logger.ts";
import { accepted, carrier } from "../support/engines/carrier.ts";
import { stopped } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { runsOn } from "../support/runs.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { storages } from "../support/storage/storages.ts";
import { imported } from "./helpers.ts";
import { checkContacts } from "./invariants.ts";

const numbers = ["+4915112345671", "+4915112345672", "+4915112345673"] as const;

const who = fc.nat(numbers.length - 1);
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant("merge" as const), one: who, other: who }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("erase" as const), one: who }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant("inbound" as const), one: who }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant("send" as const), one: who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("stop" as const), one: who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("notice" as const), one: who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("move" as const), one: who, other: who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("close" as const), one: who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("note" as const), one: who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("visit" as const), one: who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("import" as const), one: who }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Few rows, so that a short history takes several transactions. */
const historyChunks = { moved: 10, rows: 5, parts: 20, deliveries: 20, responses: 20 };

/** The outcomes that a concurrent call may have. */
const expected = [
  "done",
  "conflict",
  "not_found",
  "validation_failed",
  "recipient_opted_out",
  "erased",
];

describe.each(storages)("contacts on $name", ({ name, open }) => {
  const numRuns = runsOn(name, { memory: 60, SQLite: 20, PostgreSQL: 8 });

  it("keep all invariants under concurrent merges, erasures, sends and inbound messages", async () => {
    const { clock } = simulated();
    const ground = open();
    const storage = ground.connect();
    const line = carrier({ send: (_, attempt) => accepted(attempt) });
    const wired = { transports: [line], sentiment: { score: () => 0.5 } };
    const engines = [storage, ground.connect()].map((port, seed) => {
      const random = seededRandom(seed);
      const given = { clock, random, logger: silent, language: english(), historyChunks };
      const engine = new MessagingEngine({ storage: port, ...wired }, given);
      onTestFinished(() => stopped(engine, clock));
      return engine;
    });
    const [first] = engines;
    if (first === undefined) throw new Error("two were made");
    for (const each of engines) await each.start();
    let said = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 2, maxLength: 14 }),
        fc.boolean(),
        async (actions, isLong) => {
          const { account } = await first.accounts.create({ name: "races" });
          const handles = engines.map((each) => each.account(account.id));
          const [handle] = handles;
          if (handle === undefined) throw new Error("two were made");
          const known = await Promise.all(
            numbers.map((from) => handle.sandbox.inbound({ from, body: `w${++said}w` })),
          );
          // More rows than one transaction moves or removes.
          const history = Array.from({ length: isLong ? 13 : 0 }, () => ({
            from: numbers[0],
            body: `w${++said}w`,
          }));
          await Promise.all(history.map((each) => handle.sandbox.inbound(each)));
          const optedOut = new Set<string>();
          const act = (
            step: Action,
            { contacts, messages: sending, sandbox, conversations, webchat }: AccountHandle,
          ) => {
            const number = numbers[step.one] ?? "";
            const { contact_id = "", conversation_id = "" } = known[step.one] ?? {};
            const body = `w${++said}w`;
            switch (step.does) {
              case "merge":
                return contacts.merge(contact_id, known[step.other]?.contact_id ?? "");
              case "erase":
                return contacts.erase(contact_id);
              case "inbound":
                return sandbox.inbound({ from: number, body });
              case "send":
                return sending.send({ to: number, body });
              case "stop":
                optedOut.add(number);
                return sandbox.inbound({ from: number, body: "STOP" });
              case "notice":
                return contacts.addObservation(contact_id, { content: body, kind: "note" });
              case "move":
                return contacts.update(contact_id, { phone: numbers[step.other] ?? null });
              case "close":
                return conversations.update(conversation_id, { status: "closed" });
              case "note":
                return conversations.addNote(conversation_id, { body });
              case "visit":
                return webchat.open({ contact_id });
              case "import":
                return imported(contacts, [{ phone: number, labels: ["imported"] }]);
            }
          };
          const ends = await Promise.all(
            actions.map((step, i) =>
              outcome(act(step, handles[i % 2] ?? handle) as Promise<unknown>),
            ),
          );
          for (const end of ends) {
            expect(
              expected,
              "Each command is done, or ends with an error that a race explains.",
            ).toContain(end);
          }
          await clock.advance(1_000);

          await checkContacts(storage, account.id);
          for (const { address, consent } of await rowsOf(storage, identities, account.id)) {
            if (optedOut.has(address)) {
              expect(
                consent,
                `The address ${address} opted out, and no other command undoes that.`,
              ).toBe("opted_out");
            }
          }
          // A word occurs only while its message or observation exists.
          const kept = new Set(
            JSON.stringify(await rowsOf(storage, messages, account.id)).match(/w\d+w/g),
          );
          const told =
            JSON.stringify(await rowsOf(storage, events, account.id)).match(/w\d+w/g) ?? [];
          expect(told.filter((word) => !kept.has(word))).toEqual([]);
        },
      ),
      { numRuns },
    );
  });
});
