import { allOf } from "../rows.ts";
import { messages } from "../../../src/messages/rows.ts";
import type { Edit, Order } from "../clients.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

/** One of the orders that were acknowledged, rather a late one. */
function some(
  world: World,
  fits: (order: Order) => boolean,
): { order: Order; id: string } | undefined {
  const order = world.dice.pick(
    world.clients.orders.filter((each) => each.message !== undefined && fits(each)).slice(-12),
  );
  return order?.message === undefined ? undefined : { order, id: order.message.id };
}

const canceler: Actor = {
  name: "canceler",
  part: "changes",
  weight: 5,
  async act(world) {
    const { clients, dice } = world;
    const chosen = some(world, ({ cancel }) => cancel === "none");
    if (chosen === undefined) return;
    const { order, id } = chosen;
    order.cancel = "asked";
    world.trace.note([id], `client: cancels order ${order.number}`);
    const answer = dice.chance(0.6)
      ? await clients.persist(cancelUnder(clients.drawKey(), id))
      : await clients.ask((engine) => engine.messages.cancel(id));
    order.cancel = answer.kind === "done" ? "acknowledged" : answer.kind;
    world.trace.note([id], `client: order ${order.number}, cancel ${order.cancel}`);
  },
};

const cancelUnder =
  (idempotencyKey: string, id: string) =>
  (engine: Parameters<Parameters<World["clients"]["ask"]>[0]>[0]) =>
    engine.messages.cancel(id, { idempotencyKey });

const editor: Actor = {
  name: "editor",
  part: "changes",
  weight: 3,
  async act(world) {
    const { clients, dice, clock } = world;
    const chosen = some(
      world,
      ({ input, edits }) =>
        input.send_at !== undefined && edits.every(({ state }) => state !== "asked"),
    );
    if (chosen === undefined) return;
    const { order, id } = chosen;
    const changes = dice.chance(0.5)
      ? { body: `other words of order ${order.number}, ${world.words.draw()}` }
      : { send_at: new Date(clock.now() + dice.between(-5_000, 120_000)).toISOString() };
    const edit: Edit = { ...changes, state: "asked" };
    order.edits.push(edit);
    world.trace.note([id], `client: edits order ${order.number}: ${JSON.stringify(changes)}`);
    const idempotencyKey = clients.drawKey();
    const answer = await clients.persist((engine) =>
      engine.messages.edit(id, changes, { idempotencyKey }),
    );
    edit.state = answer.kind === "done" ? "acknowledged" : "refused";
    world.trace.note([id], `client: order ${order.number}, edit ${edit.state}`);
  },
};

const redactor: Actor = {
  name: "redactor",
  part: "changes",
  weight: 3,
  async act(world) {
    const { clients, dice } = world;
    if (dice.chance(0.3)) return redactInbound(world);
    const chosen = some(world, ({ redaction }) => redaction === "none" || redaction === "refused");
    if (chosen === undefined) return;
    const { order, id } = chosen;
    order.redaction = "asked";
    world.trace.note([id], `client: redacts order ${order.number}`);
    const idempotencyKey = clients.drawKey();
    const answer = await clients.persist((engine) =>
      engine.messages.redact(id, { idempotencyKey }),
    );
    order.redaction = answer.kind === "done" ? "acknowledged" : "refused";
    world.trace.note([id], `client: order ${order.number}, redaction ${order.redaction}`);
  },
};

async function redactInbound({ clients, dice, ground }: World): Promise<void> {
  const inbound = dice.pick(
    allOf(ground, messages).filter(({ direction }) => direction === "inbound"),
  );
  if (inbound === undefined) return;
  let asked = 0;
  const answer = await clients.persist((engine) => {
    asked++;
    return engine.messages.redact(inbound.id);
  });
  if (answer.kind === "done") clients.redactedInbound.add(inbound.id);
  else if (asked > 1) clients.perhapsRedacted.add(inbound.id);
}

export const changers: readonly Actor[] = [canceler, editor, redactor];
