/** The conformance suites name what the test of an adapter has set up in a wrong way. */
import { memory } from "tidings/memory";
import {
  modelConformance,
  mountConformance,
  storageConformance,
  transportConformance,
  type TestRunner,
} from "tidings/testing";
import { expect, test } from "vitest";

/** Defines a suite, and returns the error of the first of its checks with these words. */
async function errorOf(
  words: string,
  define: (runner: TestRunner) => void,
): Promise<string | undefined> {
  const checks: { readonly name: string; readonly run: () => Promise<void> }[] = [];
  define({
    describe: (_name, defineGroup) => defineGroup(),
    it: (name, run) => void checks.push({ name, run }),
  });
  const found = checks.find(({ name }) => name.includes(words));
  if (found === undefined) throw new Error(`No check has "${words}" in its name.`);
  return found.run().then(
    () => undefined,
    (error: unknown) => String(error),
  );
}

/** What JavaScript can pass, and what TypeScript refuses. */
const untyped = <T>(value: unknown): T => value as T;

const transport = {
  name: "pigeon",
  capabilities: {
    channels: ["sms"],
    modes: ["live"],
    receipts: "none",
    confirms_opt_outs: false,
  },
  send: async () => ({ outcome: "accepted" }),
};

test("a suite for storages names a storage in the place of its connections", async () => {
  const error = await errorOf("no update is lost", (runner) =>
    storageConformance(runner, "mine", async () => untyped(memory())),
  );
  expect(error).toContain("storageConformance: create() has to return { connect }");
});

test("a suite for storages names a storage without a method that every storage needs", async () => {
  const storage = memory();
  const { get, range } = storage.reader;
  const error = await errorOf("a search finds", (runner) =>
    storageConformance(runner, "mine", async () => ({
      connect: () => untyped({ ...storage, reader: { get, range } }),
    })),
  );
  expect(error).toContain("connect() has to return a `StoragePort` with all methods");
});

test("a suite for transports names a missing transport and a missing id of a message", async () => {
  const answer = "include the provider's id";
  const missing = await errorOf(answer, (runner) =>
    transportConformance(runner, "pigeon", { create: async () => untyped({}) }),
  );
  expect(missing).toContain("transportConformance: create() has to return { transport, message }");
  const nameless = await errorOf(answer, (runner) =>
    transportConformance(runner, "pigeon", {
      create: async () => untyped({ transport, message: () => ({}) }),
    }),
  );
  expect(nameless).toContain("expected a `provider_message_id` of 1 to 255 characters, got");
});

test("a suite for models takes a function, and names what is no model", async () => {
  const respond = async () => ({ text: "At nine." });
  const reply = (model: unknown) =>
    errorOf("reply to the contact", (runner) =>
      modelConformance(runner, "mine", {
        create: async () => ({ model: untyped(model), text: () => "Hello" }),
      }),
    );
  expect(await reply(respond)).toBe(undefined);
  expect(await reply({ answer: respond })).toContain(
    "modelConformance: create() has to return { model, text }",
  );
});

test("a suite for mounts names a server without a URL", async () => {
  const error = await errorOf("have the bytes of the engine", (runner) =>
    mountConformance(runner, "mine", { serve: async () => untyped({ port: 80 }) }),
  );
  expect(error).toContain("mountConformance: serve() has to return { url, close }");
});
