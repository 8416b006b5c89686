import type { SendMessage } from "../../../src/index.ts";
import type { Order } from "../clients.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

/** Few people, so that much happens to each. */
export const people = ["+15551230001", "+15551230002", "+15551230003", "+15551230004"] as const;
export const senderAddresses = ["+15550001000", "+15550002000"] as const;

function draft(world: World, to: string): SendMessage {
  const { dice, clients } = world;
  const body = `words of order ${clients.orders.length + 1}`;
  return {
    to,
    body,
    ...(dice.chance(0.2) ? { from: dice.pick(senderAddresses) } : {}),
    ...(dice.chance(0.15) ? { ttl_seconds: dice.between(1, 120) } : {}),
  };
}

/** A number, or the contact that was made of it. */
function recipient(world: World): string {
  const { dice, clients } = world;
  const phone = dice.pick(people);
  const known = clients.orders.find(({ message }) => message?.to === phone)?.message?.contact_id;
  return known !== undefined && dice.chance(0.3) ? known : phone;
}

async function sendKeyed(world: World, order: Order, key: string): Promise<void> {
  const { clients } = world;
  const answer = await clients.persist((engine) => engine.messages.send(order.input, { idempotencyKey: key }));
  if (answer.kind === "done") clients.answered(order, answer.value);
  else clients.refused(order, answer.code);
}

async function sendOnce(world: World, order: Order): Promise<void> {
  const { clients } = world;
  const answer = await clients.ask((engine) => engine.messages.send(order.input));
  if (answer.kind === "done") clients.answered(order, answer.value);
  else if (answer.kind === "refused") clients.refused(order, answer.code);
  else order.unknown = true;
}

async function send(world: World, input: SendMessage): Promise<void> {
  const { dice, clients } = world;
  if (dice.chance(0.3)) {
    await sendOnce(world, clients.order(input, null));
    return;
  }
  const key = clients.drawKey();
  const order = clients.order(input, key);
  // Some ask twice at once, some again much later.
  const twice = dice.chance(0.15) ? [sendKeyed(world, order, key)] : [];
  await Promise.all([sendKeyed(world, order, key), ...twice]);
  if (dice.chance(0.2)) await sendKeyed(world, order, key);
}

const sender: Actor = {
  name: "sender",
  weight: 8,
  act: (world) => send(world, draft(world, recipient(world))),
};

const scheduler: Actor = {
  name: "scheduler",
  weight: 5,
  act(world) {
    const { dice, clock } = world;
    const ahead = dice.chance(0.15) ? -dice.between(0, 60_000) : dice.between(500, 240_000);
    return send(world, { ...draft(world, recipient(world)), send_at: new Date(clock.now() + ahead).toISOString() });
  },
};

/** Several at once to one person; where it waits for each answer, their order is a promise. */
const burst: Actor = {
  name: "burst",
  weight: 3,
  async act(world) {
    const { dice } = world;
    const to = recipient(world);
    const count = dice.between(2, 4);
    const waits = dice.chance(0.5);
    const all: Promise<void>[] = [];
    for (let i = 0; i < count; i++) {
      const sent = send(world, draft(world, to));
      if (waits) await sent;
      else all.push(sent);
    }
    await Promise.all(all);
  },
};

const batcher: Actor = {
  name: "batcher",
  weight: 1.5,
  async act(world) {
    const { dice, clients } = world;
    const key = clients.drawKey();
    const orders = Array.from({ length: dice.between(1, 3) }, () =>
      clients.order(draft(world, recipient(world)), null),
    );
    const again = dice.chance(0.3) ? 2 : 1;
    for (let i = 0; i < again; i++) {
      const messages = orders.map(({ input }) => input);
      const answer = await clients.persist((engine) => engine.messages.batch({ messages }, { idempotencyKey: key }));
      if (answer.kind === "refused") return orders.forEach((order) => clients.refused(order, answer.code));
      for (const result of answer.value.data) {
        const order = orders[result.index];
        if (order === undefined) {
          world.accuse("one key, one answer", [], `a batch of ${orders.length} answered item ${result.index}`);
        } else if (result.ok) clients.answered(order, result.message);
        else clients.refused(order, result.code);
      }
    }
  },
};

export const senders: readonly Actor[] = [sender, scheduler, burst, batcher];
