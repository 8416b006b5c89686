import { expect, it } from "vitest";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";

it.each([
  ["an outage of the storage", "storage_unavailable"],
  ["a locked table", "storage_contended"],
] as const)(
  "%s is logged at once and then every minute, however many requests fail",
  async (_, code) => {
    const { clock, engine, log } = world();
    const storage = memory();
    let isDown = false;
    const reader: typeof storage.reader = over(storage.reader, {
      get: async (lookups) => {
        if (isDown) throw new TidingsError(code, "The storage failed.");
        return storage.reader.get(lookups);
      },
    });
    const one = engine(over(storage, { reader }));
    const { secret } = await one.account().apiKeys.create({ name: "client" });
    isDown = true;
    const send = fetchHandler(one);
    for (let i = 0; i < 100; i++) {
      const response = await send(
        new Request("http://localhost/v1/messages/msg_01JZ0000000000000000000000", {
          headers: { authorization: `Bearer ${secret}` },
        }),
      );
      expect(response.status).toBe(503);
      await clock.advance(1_000);
    }
    const facts = {
      err: { message: "The storage failed." },
      request_id: expect.any(String) as string,
    };
    expect(log).toMatchObject([
      { level: "error", message: "a request failed", facts: { ...facts, requests: 1 } },
      { level: "error", message: "a request failed", facts: { ...facts, requests: 60 } },
    ]);
  },
);
