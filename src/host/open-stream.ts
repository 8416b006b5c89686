import type { StreamEvent, StreamItem, TransientItem } from "../operations/index.ts";

/**
 * Returns the items of a stream as `show` shows them, without those that it leaves out. Calls
 * `leave` as soon as the reader leaves: a generator that was never read would not run its `finally`
 * blocks, and one that waits for an item would run them only after the wait.
 */
export function openStream<Item, Shown>(
  events: AsyncIterable<StreamEvent<Item>>,
  show: (item: StreamItem<Item> | TransientItem) => Shown | undefined,
  leave: () => void,
): AsyncGenerator<Shown, void> {
  const stream = shownItems(events, show);
  const end = stream.return.bind(stream);
  const fail = stream.throw.bind(stream);
  stream.return = (value) => {
    leave();
    return end(value);
  };
  stream.throw = (error) => {
    leave();
    return fail(error);
  };
  return stream;
}

/** Leaves out the notices for a stream's connection, too. */
async function* shownItems<Item, Shown>(
  events: AsyncIterable<StreamEvent<Item>>,
  show: (item: StreamItem<Item> | TransientItem) => Shown | undefined,
): AsyncGenerator<Shown, void> {
  for await (const event of events) {
    const shown = "value" in event || "transient" in event ? show(event) : undefined;
    if (shown !== undefined) yield shown;
  }
}
