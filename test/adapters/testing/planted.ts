/** Storages that plant bugs: they lose or change writes of the engine. */
import { memory } from "../../../adapters/storage/memory/index.ts";
import {
  scriptedCarrier,
  world,
  type World,
  type WorldOptions,
} from "../../../adapters/testing/index.ts";
import type { Group, StoragePort, Write } from "../../../src/ports/storage.ts";
import { over } from "../../support/over.ts";

export const to = "+15005550101";
export const url = "https://shop.example/hooks";

/** A storage that commits what `change` returns. */
export function planted(
  change: (writes: readonly Write[]) => readonly Write[],
): StoragePort<undefined> {
  const storage = memory();
  const group = (inner: Group): Group =>
    over(inner, { commit: (writes: readonly Write[]) => inner.commit(change(writes)) });
  return over(storage, { begin: (how) => group(storage.begin(how)) });
}

export const isInsert = (name: string, { collection, kind }: Write): boolean =>
  collection.name === name && kind === "insert";

export const isEvent = (type: string, write: Write): boolean =>
  isInsert("events", write) && "row" in write && write.row["type"] === type;

/** A storage that loses the events of a type. */
export const without = (type: string): StoragePort<undefined> =>
  planted((writes) => writes.filter((write) => !isEvent(type, write)));

/** A world with a webhook, in which two messages went out. */
export async function sent(
  storage: StoragePort<undefined> = memory(),
  options: Partial<WorldOptions<undefined>> = {},
): Promise<World> {
  const w = world({ storage, transports: [scriptedCarrier()], ...options });
  w.receiver.trust(await w.run((engine) => engine.webhooks.create({ url, events: ["*"] })));
  await w.advance(1_000);
  for (const body of ["Hello", "Good bye"]) {
    await w.run((engine) => engine.messages.send({ to, body }));
  }
  await w.settle();
  return w;
}
