import { expect, it, vi } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { world } from "../support/world.ts";

it("a handle is a plain object that can be copied and whose methods can be replaced", async () => {
  const handle = world().engine(memory()).account();
  const copy = { ...handle };
  expect((await copy.messages.list()).data).toEqual([]);
  const usage = vi.spyOn(handle, "usage");
  await handle.usage();
  expect(usage).toHaveBeenCalledOnce();
});

it("a method that takes an id ignores what a caller of `map` adds", async () => {
  const engine = world().engine(memory());
  const { id } = await engine.contacts.create({ name: "Zoe" });
  const found = await Promise.all([id].map(engine.contacts.get));
  expect(found).toMatchObject([{ id, name: "Zoe" }]);
});

it("the handler of the API can be passed on as a function", async () => {
  const { handle } = world().engine(memory()).api;
  const { status } = await handle({
    method: "GET",
    url: "/v1/health",
    path: "/v1/health",
    query: "",
    headers: [],
    body: async () => ({ kind: "bytes", bytes: new Uint8Array() }),
    async *chunks() {},
    signal: new AbortController().signal,
  });
  expect(status).toBe(200);
});
