/** A user's properties with fast-check. */
import type { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { MessagingEngine } from "../../../adapters/entry.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import {
  arbitraries,
  command,
  commands,
  invariants,
  report,
  scriptedCarrier,
  world,
  type Arbitrary,
  type ScriptedCarrier,
  type WithCarrier,
  type World,
  type WorldCommand,
  type WorldOptions,
} from "../../../adapters/testing/index.ts";
import { segmentsOf } from "../../../src/messages/segments.ts";
import { over } from "../../support/over.ts";
import { runs } from "../../support/runs.ts";

const to = "+15005550101";

function shop(options: Partial<WorldOptions<undefined>> = {}): {
  carrier: ScriptedCarrier;
  world: World;
} {
  const carrier = scriptedCarrier();
  return { carrier, world: world({ storage: memory(), transports: [carrier], ...options }) };
}

describe("arbitraries", () => {
  const { gsmText, ucsText, edgeText, message, contact, receipts, faults } = arbitraries(fc);

  test("texts have the alphabet that their name says, and edges lie around a segment", () => {
    fc.assert(
      fc.property(gsmText, ucsText, (gsm, ucs) => {
        expect(segmentsOf(gsm).encoding, "A text of the GSM alphabet has its encoding.").toBe(
          "GSM-7",
        );
        expect(
          segmentsOf(ucs).encoding,
          "A text outside the GSM alphabet has the encoding UCS-2.",
        ).toBe("UCS-2");
      }),
    );
    const counts = fc.sample(edgeText, 300).map((text) => segmentsOf(text));
    for (const encoding of ["GSM-7", "UCS-2"]) {
      const own = counts.filter((each) => each.encoding === encoding).map(({ count }) => count);
      expect(new Set(own)).toEqual(new Set([1, 2, 3, 4]));
    }
  });

  test("inputs are accepted by the engine, and receipts and faults by a world", async () => {
    await fc.assert(
      fc.asyncProperty(message, contact, receipts, faults, async (input, person, issued, rates) => {
        const carrier = scriptedCarrier({
          script: () => ({ outcome: "accepted", receipts: issued }),
        });
        const w = world({ storage: memory(), transports: [carrier] });
        await w.run((engine) => engine.contacts.create(person));
        await w.run((engine) => engine.messages.send(input));
        await w.settle();
        expect(carrier.handedOver.map((call) => call.message.body)).toEqual([input.body]);
        world({ storage: memory(), transports: [scriptedCarrier()], faults: rates });
      }),
      { numRuns: runs(30) },
    );
  });
});

describe("commands", () => {
  test("the engine's laws hold whatever they do, with every fault", async () => {
    const seen = new Set<string>();
    const plans = fc.commands(
      Object.values(commands(fc)).map((each: Arbitrary<WorldCommand<WithCarrier>>) =>
        each.map((made) => {
          seen.add(made.toString().split(" ")[0] ?? "");
          return made;
        }),
      ),
      { maxCommands: 25 },
    );
    const parameters = { numRuns: runs(60), reporter: report };
    await fc.assert(
      fc.asyncProperty(fc.noShrink(fc.nat()), plans, async (seed, plan) => {
        const real = shop({ seed, engines: 2, faults: "any" });
        await fc.asyncModelRun(() => ({ model: {}, real }), plan);
        await real.world.settle();
        await real.world.check(...Object.values(invariants));
      }),
      parameters,
    );
    // Few cases need not have all kinds of commands. So many have.
    fc.sample(plans, 100);
    expect(seen.size).toBeGreaterThan(10);
  });

  test("a phone that nobody has texted texts to the default sender", async () => {
    const real = shop();
    const [say] = fc.sample(commands(fc).keyword, 1);
    await say?.run({}, real);
    await real.world.settle();
    const { data } = await real.world.engine().messages.list({ direction: "inbound" });
    expect(data.map(({ to }) => to)).toEqual(["+15005559999"]);
    await real.world.check(...Object.values(invariants));
  });

  test("the code of a command gets an engine with the transactions of its world's storage", () => {
    command("note", async (_shop: { readonly world: World<DatabaseSync> }, engine) => {
      expectTypeOf(engine).toEqualTypeOf<MessagingEngine<DatabaseSync>>();
    });
    command("send", async (_shop, engine) => {
      expectTypeOf(engine).toEqualTypeOf<MessagingEngine>();
    });
  });

  test("a failing run tells the smallest case, its story, and the lines that replay it", async () => {
    const texts = fc.constantFrom("Hello", "Sale!");
    const send = texts.map((body) =>
      command(`send ${body}`, (_shop, engine) => engine.messages.send({ to, body })),
    );
    const run = (
      parameters: { seed: number; path?: string; endOnFailure?: boolean },
      replayPath?: string,
    ): Promise<void> => {
      const plans = fc.commands([send], replayPath === undefined ? {} : { replayPath });
      const property = fc.asyncProperty(plans, async (plan) => {
        const real = shop();
        await fc.asyncModelRun(() => ({ model: {}, real }), plan);
        await real.world.settle();
        await real.world.check(function nobodyGetsASale() {
          const sale = real.carrier.handedOver.find(({ message }) => message.body === "Sale!");
          return sale && { description: "a sale", about: [sale.message.message_id] };
        });
      });
      const told = { ...parameters, reporter: report };
      return fc.assert(property, told);
    };
    const failure = await run({ seed: 3 }).then(
      () => "",
      (error: unknown) => (error instanceof Error ? error.message : ""),
    );
    expect(failure).toMatch(
      /^The property failed in case \d+\. It was made smaller \d+ times:\n {2}send Sale!\nnobodyGetsASale: a sale\nWhat happened:\n(.*\n)*.* {2}send Sale!, on engine 1\n/,
    );
    const [, replayPath, path] =
      /replayPath: "(.*)" \}\)\n {2}fc\.assert\(…, \{ seed: 3, path: "(.*)", endOnFailure: true \}\)$/.exec(
        failure,
      ) ?? [];
    expect(replayPath).toBeDefined();
    const again = run({ seed: 3, path: path ?? "", endOnFailure: true }, replayPath);
    await expect(again).rejects.toThrow("nobodyGetsASale: a sale");
  });
});

describe("a mistake in the code of a command", () => {
  const wrongNumber = command("send to nobody", (_shop, engine) =>
    engine.messages.send({ to: "nobody", body: "Hello" }),
  );

  test("fails the property with the smallest case, and says what is wrong", async () => {
    const send = command("send", (_shop, engine) => engine.messages.send({ to, body: "Hello" }));
    const property = fc.asyncProperty(
      fc.commands([fc.constantFrom(send, wrongNumber)]),
      async (plan) => {
        const real = shop();
        await fc.asyncModelRun(() => ({ model: {}, real }), plan);
        await real.world.settle();
      },
    );
    const parameters = { seed: 1, reporter: report };
    await expect(fc.assert(property, parameters)).rejects.toThrow(
      /^The property failed in .*\n {2}send to nobody\nThe command "send to nobody" made a wrong call: 422 validation_failed: to: .*\nIf the command expects that, give it the option \{ expects: \["validation_failed"\] \}\.\nWhat happened:\n(.*\n)*.* send to nobody: refused, 422 validation_failed\n/,
    );
  });

  test.each<[method: string, call: (w: World) => Promise<unknown>]>([
    ["advance", (w) => w.advance(1)],
    ["run", (w) => w.run((engine) => engine.messages.list())],
    ["settle", (w) => w.settle()],
    ["check", async (w) => w.clock.settle().then(() => w.check())],
  ])("is thrown by %s of its world, and of no other", async (_method, call) => {
    const [real, other] = [shop(), shop()];
    await wrongNumber.run({}, real);
    await expect(call(real.world)).rejects.toThrow("validation_failed");
    await expect(call(other.world)).resolves.not.toThrow();
  });

  test("can be an error that it throws by itself, such as that of an assertion", async () => {
    const real = shop();
    const failing = command("count the messages", async (_shop, engine) => {
      expect((await engine.messages.list()).data).toHaveLength(1);
    });
    await failing.run({}, real);
    await expect(real.world.settle()).rejects.toThrow(
      /^The command "count the messages" threw an error: AssertionError: expected \[\] to have a length of 1/,
    );
  });

  test("is none if the command expects it, or if it is a refusal that a race can cause", async () => {
    const real = shop();
    const send = (number: string) => async (_shop: object, engine: MessagingEngine) =>
      engine.messages.send({ to: number, body: "Hello" });
    const race = command("change what is gone", (_shop, engine) =>
      engine.messages.cancel("msg_01JZ0000000000000000000000"),
    );
    await race.run({}, real);
    await command("send", send("nobody"), { expects: ["validation_failed"] }).run({}, real);
    await real.world.advance(1);
    await command("send during a crash", send(to)).run({}, real);
    real.world.crash("engine 1");
    await real.world.settle();
    const outcomes = real.world.story.entries.map(({ text }) => text);
    expect(outcomes.filter((text) => /: (refused|unknown)/.test(text))).toEqual([
      "send: refused, 422 validation_failed",
      "change what is gone: refused, 404 not_found",
      "send during a crash: unknown, engine 1 ended before it answered",
    ]);
    const expects = ["invalid"] as unknown as ["conflict"];
    expect(() => command("send", send(to), { expects })).toThrow(
      'options.expects.0: expected the code of an error of the engine, got "invalid"',
    );
  });
});

describe("invariants", () => {
  /** A world with one message that was delivered, of which a test then changes what it reports. */
  async function settled(): Promise<{ world: World; carrier: ScriptedCarrier }> {
    const made = shop();
    await made.world.run((engine) => engine.messages.send({ to, body: "Hello" }));
    await made.world.settle();
    await made.world.check(...Object.values(invariants));
    return made;
  }

  test("report a message that a route may send twice", async () => {
    const carrier = scriptedCarrier({
      script: ({ number }) => (number === 1 ? "answer_lost" : "accepted"),
    });
    const routes = [{ transports: ["sandbox", "spare"], fallBackAfter: ["ambiguous" as const] }];
    const w = world({
      storage: memory(),
      transports: [carrier, carrier.as("spare")],
      engine: (ports) => new MessagingEngine({ ...ports, routes }),
    });
    await w.run((engine) => engine.messages.send({ to, body: "Hello" }));
    await w.settle();
    await expect(w.check(invariants.nothingHandedOverTwice)).rejects.toThrow(
      /^nothingHandedOverTwice: the carrier accepted msg_\w+ more than once\n/,
    );
  });

  test("report a status that contradicts a receipt", async () => {
    const carrier = scriptedCarrier({
      script: () => ({ outcome: "accepted", receipts: [{ status: "undelivered" }] }),
    });
    const w = world({ storage: memory(), transports: [carrier] });
    await w.run((engine) => engine.messages.send({ to, body: "Hello" }));
    await w.settle();
    await w.check(...Object.values(invariants));
    const [call] = carrier.calls;
    const [issued] = call?.receipts ?? [];
    if (call === undefined || issued === undefined) throw new Error("nothing was sent");
    const receipts = [{ ...issued, receipt: { status: "delivered" as const, at: 0 } }];
    const forged = over(w, { calls: [{ ...call, receipts }] });
    expect((await invariants.statusFollowsTheEvidence(forged))?.description).toMatch(
      /is undelivered, though a receipt says that it was delivered$/,
    );
  });

  test("report a second event about the delivery of one message", async () => {
    const { world: w } = await settled();
    const event = { type: "message.sent" } as const;
    await w.run((engine) => engine.sandbox.event(event));
    expect(await invariants.everyEventOnce(w)).toBeUndefined();
    await w.run((engine) => engine.sandbox.event(event));
    expect((await invariants.everyEventOnce(w))?.description).toMatch(
      /^the log has message\.sent of msg_\w+ twice$/,
    );
  });

  test("report errors that no fault explains, and what is left to do", async () => {
    const policies = [
      {
        name: "broken",
        evaluate: () => {
          throw new RangeError("no table");
        },
      },
    ];
    const { world: w } = shop({
      engine: (ports) => new MessagingEngine({ ...ports, policies }),
    });
    await w.begin((engine) => engine.messages.send({ to, body: "Hello" }));
    await expect(w.check(invariants.noUnexpectedErrors)).rejects.toThrow(
      /^noUnexpectedErrors: engine 1 logged "a policy failed"/,
    );
    w.crash("engine 1");
    await expect(w.check(invariants.nothingLeftToDo)).rejects.toThrow("engine 1 is down");
  });
});
