/** Whatever was thrown, the log shows it, however the logger prints it. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { errorLogger, silent, withoutMessage } from "../../src/ports/logger.ts";
import { call } from "../api/call.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";

/** The ways in which loggers print the fact `err`. */
const printers: readonly (readonly [name: string, print: (err: unknown) => string])[] = [
  ["String", String],
  ["JSON", (err) => JSON.stringify(err)],
  ["util.inspect", (err) => inspect(err)],
];

class CarrierError extends TypeError {
  override readonly name = "CarrierError";
  readonly code = "E42";
  readonly request = { headers: { authorization: "Bearer secret" }, body: "secret" };
}

const thrown: readonly (readonly [name: string, value: unknown, shown: RegExp])[] = [
  ["an error", new RangeError("off by one"), /RangeError.*off by one/s],
  ["an error with a request", new CarrierError("refused"), /CarrierError.*refused/s],
  ["an error of the engine", new TidingsError("overloaded", "too much"), /TidingsError.*too much/s],
  ["text", "no connection", /no connection/],
  ["nothing", undefined, /undefined was thrown/],
  ["an object that describes an error", { name: "Odd", message: "half an error" }, /half an error/],
  ["another object", { status: 500, body: "secret" }, /object with the fields status, body/],
  [
    "an object that cannot be read",
    new Proxy({}, { get: thrower, ownKeys: thrower }),
    /object was thrown/,
  ],
];

function thrower(): never {
  throw new Error("not readable");
}

function logged(err: unknown): unknown {
  let seen: object = {};
  const logger = errorLogger({ ...silent, warn: (facts) => void (seen = facts) });
  logger.warn({ err, transport: "sms" }, "a transport threw");
  expect(seen).toMatchObject({ transport: "sms" });
  return "err" in seen ? seen.err : undefined;
}

describe.each(thrown)("a transport that throws %s", (_, value, shown) => {
  it.each(printers)("is logged readably by %s", async (_, print) => {
    const { clock, started, log } = world();
    const line = carrier({ send: () => Promise.reject(value) });
    const one = await started(memory(), { transports: [line] });
    await one.messages.send({ to: "+15005550101", body: "Hi", from: "+15005559999" });
    await clock.advance(1_000);
    const facts = log.find(({ message }) => message.startsWith("a transport failed"))?.facts;
    expect(facts).toBeDefined();
    const err: unknown = facts !== undefined && "err" in facts ? facts.err : undefined;
    expect(err).toBeInstanceOf(Error);
    expect(print(err)).toMatch(shown);
    expect(print(err)).not.toContain("[object Object]");
    expect(print(err)).not.toContain("secret");
  });
});

describe("a logger of the host application that throws", () => {
  it("fails no request and no call of the engine", async () => {
    const { engine } = world();
    const logger = { debug: thrower, info: thrower, warn: thrower, error: thrower };
    const line = over(carrier(), { parseCallback: thrower });
    const one = engine(memory(), { transports: [line], logger });
    const path = `/v1/transports/${line.name}/callbacks`;
    expect((await call(one.api, { method: "POST", path, raw: "x" })).status).toBe(500);
    await one.start();
    await one.stop();
  });

  it("does not end the process if it is async", async () => {
    const unhandled: unknown[] = [];
    const remember = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", remember);
    onTestFinished(() => void process.off("unhandledRejection", remember));
    const failing = { ...silent, error: () => Promise.reject(new Error("the log is full")) };
    errorLogger(failing).error({}, "a job failed");
    await nextTurn();
    expect(unhandled).toEqual([]);
  });
});

describe("a logged error", () => {
  it("has the name, the message, the stack, the code and the causes of what was thrown", () => {
    const cause = Object.assign(new Error("ECONNREFUSED"), {
      code: "ECONNREFUSED",
      body: "secret",
    });
    const error = Object.assign(new CarrierError("refused"), { cause });
    const err = logged(error);
    expect(err).toMatchObject({
      name: "CarrierError",
      message: "refused",
      code: "E42",
      stack: error.stack,
      cause: { message: "ECONNREFUSED", code: "ECONNREFUSED", stack: cause.stack },
    });
    expect(JSON.stringify(err)).toContain("ECONNREFUSED");
    expect(inspect(err)).not.toContain("secret");
  });

  it("shows no stack of the engine for a value that has none", () => {
    const thrownWithCause = new Error("no connection", { cause: "refused" });
    expect(logged("no connection")).toMatchObject({ stack: "Error: no connection" });
    expect(logged(thrownWithCause)).toMatchObject({
      stack: thrownWithCause.stack,
      cause: { stack: "Error: refused" },
    });
  });

  it("stays an error of the engine", () => {
    const cause = new Error("disk full");
    for (const retryable of [true, false]) {
      const facts = { cause, retryable };
      const err = logged(new TidingsError("storage_unavailable", "No space.", facts));
      expect(err).toBeInstanceOf(TidingsError);
      expect(err).toMatchObject({
        code: "storage_unavailable",
        retryable,
        cause: { message: "disk full" },
      });
    }
  });

  it("ends when an error causes itself", () => {
    const error = new Error("round");
    error.cause = error;
    expect(JSON.stringify(logged(error))).toContain("round");
  });

  it("shows where an error was thrown without a message that may quote a contact", () => {
    const error = Object.assign(new TypeError("I live at\n    at 5 Elm Street"), { code: "E1" });
    const err = logged(withoutMessage(error));
    expect(err).toMatchObject({ name: "TypeError", code: "E1" });
    expect(inspect(err)).toContain("error-logger.test.ts");
    error.message = "changed";
    for (const shown of [err, logged(withoutMessage(error)), logged(withoutMessage("Elm"))]) {
      for (const [, print] of printers) expect(print(shown)).not.toContain("Elm");
    }
    const shortened = new Error("My address:\n5 Elm Street");
    shortened.message = "My address:";
    expect(inspect(logged(withoutMessage(shortened)))).not.toContain("Elm");
  });
});
