/** Playbooks that are changed at the same time. */
import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { CreatePlaybook } from "../../../src/agents/playbooks/input-types.ts";
import { maxFrames } from "../../../src/agents/playbooks/play/frames.ts";
import { playbooks } from "../../../src/agents/playbooks/rows.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import type { PlaybookId } from "../../../src/kernel/index.ts";
import type { Write } from "../../../src/ports/storage.ts";
import { world } from "../../support/engines/world.ts";
import { beforeCommits } from "../../support/storage/groups.ts";
import { storages, type StorageCase } from "../../support/storage/storages.ts";

const says: CreatePlaybook["steps"] = [{ id: "say", type: "send", text: "Hello" }];
const calling = (...ids: readonly PlaybookId[]): CreatePlaybook["steps"] =>
  ids.map((playbook_id, i) => ({ id: `call${i}`, type: "call", playbook_id }));

const create = async (
  engine: MessagingEngine,
  steps: CreatePlaybook["steps"],
): Promise<PlaybookId> =>
  (await engine.playbooks.create({ name: "Some", enabled: true, steps })).id;

/** Creates playbooks that call each other one after the other. Returns the first caller first. */
async function chain(engine: MessagingEngine, length: number): Promise<readonly PlaybookId[]> {
  const ids = [await create(engine, says)];
  while (ids.length < length) ids.unshift(await create(engine, calling(...ids.slice(0, 1))));
  return ids;
}

/** Lets the last playbook of a chain call the first one of another. */
const join = (
  engine: MessagingEngine,
  upper: readonly PlaybookId[],
  lower: readonly PlaybookId[],
): Promise<unknown> =>
  engine.playbooks.update(upper.at(-1) ?? "", { steps: calling(...lower.slice(0, 1)) });

const changesPlaybook = (write: Write): boolean =>
  write.kind === "update" && write.collection === playbooks && write.changed.length > 0;

describe.each<StorageCase>(storages)("playbooks, on $name", ({ open }) => {
  /** Two engines. `overtake` lets a change by the second one overtake the first one's commit. */
  function two() {
    const here = world();
    const ground = open();
    let meanwhile: (() => Promise<unknown>) | undefined;
    const slow = beforeCommits(ground.connect(), async (writes) => {
      if (!writes.some(changesPlaybook)) return;
      const change = meanwhile;
      meanwhile = undefined;
      await change?.();
    });
    const overtake = (change: () => Promise<unknown>): void => void (meanwhile = change);
    return { one: here.engine(slow), other: here.engine(ground.connect()), overtake };
  }

  it("cannot be made a circle by two changes at the same time", async () => {
    const { one, other, overtake } = two();
    const [b, d] = [await create(one, says), await create(one, says)];
    const [a, c] = [await create(one, calling(b)), await create(one, calling(d))];
    overtake(() => other.playbooks.update(d, { steps: calling(a) }));
    await expect(one.playbooks.update(b, { steps: calling(c) })).rejects.toMatchObject({
      code: "validation_failed",
      errors: [{ pointer: "/steps/0/playbook_id", code: "endless_loop" }],
    });
  });

  it("cannot be nested too deep, whichever of the calls is added last", async () => {
    const engine = world().engine(open().connect());
    const [upper, lower] = [await chain(engine, maxFrames - 3), await chain(engine, 4)];
    await expect(join(engine, upper, lower)).rejects.toMatchObject({
      errors: [
        {
          pointer: "/steps/0/playbook_id",
          code: "too_deep",
          message:
            `Calls may nest at most ${maxFrames} playbooks, including the first. ` +
            `Enabled playbooks already form a chain of ${maxFrames - 4} above this one.`,
        },
      ],
    });
    // A caller that is disabled does not count.
    await engine.playbooks.update(upper[0] ?? "", { enabled: false });
    await join(engine, upper, lower);
    await expect(engine.playbooks.update(upper[0] ?? "", { enabled: true })).rejects.toMatchObject({
      errors: [{ pointer: "/steps/0/playbook_id", code: "too_deep" }],
    });
  });

  it("cannot be nested too deep by two changes at the same time", async () => {
    const { one, other, overtake } = two();
    const [top, middle, bottom] = [await chain(one, 3), await chain(one, 3), await chain(one, 3)];
    overtake(() => join(other, top, middle));
    await expect(join(one, middle, bottom)).rejects.toMatchObject({
      errors: [{ pointer: "/steps/0/playbook_id", code: "too_deep" }],
    });
  });

  it("cannot be made a circle by a change while a playbook further on is enabled", async () => {
    const { one, other, overtake } = two();
    const first = await create(one, says);
    const before = await create(one, calling(first));
    const last = await create(one, says);
    const middle = await create(one, calling(last));
    await one.playbooks.update(last, { enabled: false, steps: calling(before) });
    overtake(() => other.playbooks.update(last, { enabled: true }));
    await expect(one.playbooks.update(first, { steps: calling(middle) })).rejects.toMatchObject({
      code: "validation_failed",
      errors: [{ pointer: "/steps/0/playbook_id", code: "endless_loop" }],
    });
  });
});

it("a playbook cannot be made a circle through any of more than a hundred that it reaches", async () => {
  const engine = world().engine(memory());
  const first = await create(engine, says);
  const last = await create(engine, calling(first));
  const called = await Promise.all(
    Array.from({ length: 100 }, (_, i) => create(engine, i === 99 ? calling(last) : says)),
  );
  const steps = calling(...called);
  await expect(engine.playbooks.update(first, { steps })).rejects.toMatchObject({
    errors: [{ pointer: "/steps/99/playbook_id", code: "endless_loop" }],
  });
});
