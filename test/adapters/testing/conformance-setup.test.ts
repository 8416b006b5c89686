/** The conformance suites name what the test of an adapter has set up in a wrong way. */
import { memory } from "tidings/memory";
import {
  modelConformance,
  mountConformance,
  storageConformance,
  transportConformance,
} from "tidings/testing";
import { expect, test } from "vitest";
import { errorOfCheck } from "../../support/conformance-checks.ts";

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
  const error = await errorOfCheck("no update is lost", (runner) =>
    storageConformance(runner, "mine", async () => untyped(memory())),
  );
  expect(error).toContain("storageConformance: create() has to return { connect }");
});

test("a suite for storages names a storage without a method that every storage needs", async () => {
  const storage = memory();
  const { get, range } = storage.reader;
  const error = await errorOfCheck("a search finds", (runner) =>
    storageConformance(runner, "mine", async () => ({
      connect: () => untyped({ ...storage, reader: { get, range } }),
    })),
  );
  expect(error).toContain("connect() has to return a `StoragePort` with all methods");
});

test("a suite for transports names a missing transport and a missing id of a message", async () => {
  const answer = "include the provider's id";
  const missing = await errorOfCheck(answer, (runner) =>
    transportConformance(runner, "pigeon", { create: async () => untyped({}) }),
  );
  expect(missing).toContain("transportConformance: create() has to return { transport, message }");
  const nameless = await errorOfCheck(answer, (runner) =>
    transportConformance(runner, "pigeon", {
      create: async () => untyped({ transport, message: () => ({}) }),
    }),
  );
  expect(nameless).toContain("expected a `provider_message_id` of 1 to 255 characters, got");
});

test("a suite for models takes a function, and names what is no model", async () => {
  const respond = async () => ({ text: "At nine." });
  const reply = (model: unknown) =>
    errorOfCheck("reply to the contact", (runner) =>
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
  const error = await errorOfCheck("have the bytes of the engine", (runner) =>
    mountConformance(runner, "mine", { serve: async () => untyped({ port: 80 }) }),
  );
  expect(error).toContain("mountConformance: serve() has to return { url, close }");
});
