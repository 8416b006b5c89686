import { afterEach, expect, test, vi } from "vitest";
import { stderrLogger } from "../../../adapters/system/stderr-logger.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

function linesOf(log: () => void): string[] {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    lines.push(String(chunk));
    return true;
  });
  log();
  return lines;
}

test("warnings and errors are written as one line each: time, level, message and facts", () => {
  const lines = linesOf(() => {
    stderrLogger().warn({ run_id: "run_1", count: 2n }, "a model failed");
    stderrLogger().error({}, "a job failed");
  });
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
  expect(lines).toEqual([
    expect.stringMatching(`^${time} WARN a model failed {"run_id":"run_1","count":"2"}\n$`),
    expect.stringMatching(`^${time} ERROR a job failed {}\n$`),
  ]);
});

test("an error is written with its code, its stack and its cause, still in one line", () => {
  const err = Object.assign(new Error("no way\nout", { cause: new TypeError("first") }), {
    code: "E1",
  });
  const [line = ""] = linesOf(() => stderrLogger().error({ err }, "a job failed"));
  const [, facts = ""] = / a job failed (.*)\n$/.exec(line) ?? [];
  expect(JSON.parse(facts)).toMatchObject({
    err: {
      name: "Error",
      code: "E1",
      message: "no way\nout",
      stack: expect.stringContaining("stderr-logger.test.ts") as string,
      cause: { name: "TypeError", message: "first" },
    },
  });
  expect(line.split("\n")).toHaveLength(2);
});

test("an error that holds others, as of a host with several addresses, is written with these", () => {
  const failures = ["::1", "127.0.0.1"].map((address) => new Error(`${address} refused`));
  const err = new AggregateError(failures, "no address responded");
  const [line = ""] = linesOf(() => stderrLogger().error({ err }, "a call failed"));
  const [, facts = ""] = / a call failed (.*)\n$/.exec(line) ?? [];
  expect(JSON.parse(facts)).toMatchObject({
    err: {
      name: "AggregateError",
      message: "no address responded",
      errors: [{ message: "::1 refused" }, { message: "127.0.0.1 refused" }],
    },
  });
});

test("a line says first what happened to what: the stack of an error comes last", () => {
  // The engine's errors have their stack as the first property.
  const err = Object.assign(new Error("no way"), { stack: "Error: no way\n    at send" });
  const [line = ""] = linesOf(() => stderrLogger().warn({ err, transport: "pigeon" }, "it failed"));
  expect(line).toContain(
    'it failed {"transport":"pigeon","err":{"name":"Error","message":"no way"',
  );
});

test("a fact that JSON cannot hold leaves the other facts of its line", () => {
  const err = new Error("no answer");
  Object.assign(err, { request: { failed: err }, cause: err });
  const refuses = {
    toJSON() {
      throw new Error("not as JSON");
    },
  };
  const shared = { id: 1 };
  const [line = ""] = linesOf(() =>
    stderrLogger().error({ err, refuses, first: shared, second: shared }, "a call failed"),
  );
  const [, facts = ""] = / a call failed (.*)\n$/.exec(line) ?? [];
  expect(JSON.parse(facts)).toEqual({
    err: {
      name: "Error",
      message: "no answer",
      stack: expect.stringContaining("stderr-logger.test.ts") as string,
      cause: "[circular]",
      request: { failed: "[circular]" },
    },
    first: { id: 1 },
    second: { id: 1 },
  });
});

test("other levels are dropped, and facts that are not JSON do not make it fail", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const lines = linesOf(() => {
    stderrLogger().debug({}, "quiet");
    stderrLogger().info({}, "quiet");
    stderrLogger().warn(circle, "loud");
  });
  expect(lines).toEqual([expect.stringMatching(/ WARN loud {"self":{"self":"\[circular\]"}}\n$/)]);
});
