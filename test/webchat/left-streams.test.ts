/** Streams in process whose reader leaves. */
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { world } from "../support/engines/world.ts";

/** Opens a visitor's session. Returns a function that opens a stream of it. */
async function visitor(): Promise<() => Promise<AsyncIterator<unknown>>> {
  const { webchat } = world().engine(memory());
  const { id } = await webchat.open();
  return async () => (await webchat.stream(id))[Symbol.asyncIterator]();
}

test.for<readonly [string, (stream: AsyncIterator<unknown>) => unknown]>([
  ["returned", (stream) => stream.return?.()],
  ["given an error", (stream) => stream.throw?.(new RangeError("enough")).catch(() => {})],
  [
    "passed to a Readable that is destroyed",
    (stream) => Readable.from({ [Symbol.asyncIterator]: () => stream }).destroy(),
  ],
])("a stream that is %s before it is read does not count any more", async ([, leave]) => {
  const open = await visitor();
  for (let i = 0; i < 11; i++) {
    await leave(await open());
    await setImmediate();
  }
});

test("a stream that waits ends as soon as it is returned", async () => {
  const stream = await (await visitor())();
  const next = stream.next();
  await stream.return?.();
  expect(await next).toEqual({ done: true, value: undefined });
});
