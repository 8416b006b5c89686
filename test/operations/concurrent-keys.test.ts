import { describe, expect, it } from "vitest";
import { storages } from "../support/storage/storages.ts";
import { world } from "../support/engines/world.ts";

const hello = { to: "+15005550001", body: "Hello" };

describe.each(storages)("idempotency keys on $name", ({ open }) => {
  it("turn 200 concurrent sends into one message and one response", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => one.messages.send(hello, { idempotencyKey: "k" })),
    );
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect((await one.messages.list()).data).toHaveLength(1);
  });

  it("turn concurrent sends of several engines into one message", async () => {
    const { engine } = world();
    const ground = open();
    const engines = [1, 2, 3].map(() => engine(ground.connect()));
    const answers = await Promise.all(
      engines.flatMap((each) =>
        Array.from({ length: 20 }, () => each.messages.send(hello, { idempotencyKey: "k" })),
      ),
    );
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect((await engines[0]?.messages.list())?.data).toHaveLength(1);
  });
});
