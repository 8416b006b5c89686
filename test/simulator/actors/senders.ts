import type { Message, SendMessage } from "../../../src/index.ts";
import type { Order } from "../clients.ts";
import type { Errand } from "../desk.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

export const senderAddresses = ["+15550001000", "+15550002000"] as const;

function draft(world: World, to: string): SendMessage {
  const { dice, clients, words } = world;
  const body = `words of order ${clients.orders.length + 1}, ${words.draw()}`;
  return {
    to,
    body,
    ...(dice.chance(0.2) ? { from: dice.pick(senderAddresses) } : {}),
    ...(dice.chance(0.15) ? { ttl_seconds: dice.between(1, 120) } : {}),
    ...(dice.chance(0.2) ? { category: "marketing" } : {}),
    ...(dice.chance(0.1) ? { metadata: { about: words.draw() } } : {}),
  };
}

/** A number, or the contact that was made of it. */
function recipient(world: World): string {
  const { dice, clients, people } = world;
  const phone = people.some(dice);
  const known = clients.orders.find(({ message }) => message?.to === phone)?.message?.contact_id;
  return known !== undefined && dice.chance(0.3) ? known : phone;
}

/** How an order is put to an engine. */
type Put = Errand<Message>;

async function orderKeyed(
  world: World,
  order: Order,
  put: Put,
  idempotencyKey: string,
): Promise<void> {
  const { clients } = world;
  const answer = await clients.persist((engine) => put(engine, { idempotencyKey }));
  if (answer.kind === "done") clients.answered(order, answer.value);
  else clients.refused(order, answer.code);
}

async function orderOnce(world: World, order: Order, put: Put): Promise<void> {
  const { clients } = world;
  const answer = await clients.ask((engine) => put(engine, {}));
  if (answer.kind === "done") clients.answered(order, answer.value);
  else if (answer.kind === "refused") clients.refused(order, answer.code);
  else order.unknown = true;
}

export async function placeOrder(
  world: World,
  input: SendMessage,
  put: Put = (engine, options) => engine.messages.send(input, options),
): Promise<Order> {
  const { dice, clients } = world;
  const key = dice.chance(0.3) ? null : clients.drawKey();
  const order = clients.order(input, key);
  if (key === null) {
    await orderOnce(world, order, put);
    return order;
  }
  // Some ask twice at once, some again much later.
  const twice = dice.chance(0.15) ? [orderKeyed(world, order, put, key)] : [];
  await Promise.all([orderKeyed(world, order, put, key), ...twice]);
  if (dice.chance(0.2)) await orderKeyed(world, order, put, key);
  return order;
}

const sender: Actor = {
  name: "sender",
  part: "sending",
  weight: 8,
  async act(world) {
    await placeOrder(world, draft(world, recipient(world)));
  },
};

const scheduler: Actor = {
  name: "scheduler",
  part: "sending",
  weight: 5,
  async act(world) {
    const { dice, clock } = world;
    const ahead = dice.chance(0.15) ? -dice.between(0, 60_000) : dice.between(500, 240_000);
    await placeOrder(world, {
      ...draft(world, recipient(world)),
      send_at: new Date(clock.now() + ahead).toISOString(),
    });
  },
};

/** Several at once to one person; where it waits for each answer, their order is a promise. */
const burst: Actor = {
  name: "burst",
  part: "sending",
  weight: 3,
  async act(world) {
    const { dice } = world;
    const to = recipient(world);
    const count = dice.between(2, 4);
    const waits = dice.chance(0.5);
    const all: Promise<Order>[] = [];
    for (let i = 0; i < count; i++) {
      const sent = placeOrder(world, draft(world, to));
      if (waits) await sent;
      else all.push(sent);
    }
    await Promise.all(all);
  },
};

const batcher: Actor = {
  name: "batcher",
  part: "sending",
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
      const answer = await clients.persist((engine) =>
        engine.messages.batch({ messages }, { idempotencyKey: key }),
      );
      if (answer.kind === "refused") {
        return orders.forEach((order) => clients.refused(order, answer.code));
      }
      for (const result of answer.value.data) {
        const order = orders[result.index];
        if (order === undefined) {
          world.accuse(
            "one key, one answer",
            [],
            `a batch of ${orders.length} answered item ${result.index}`,
          );
        } else if (result.ok) clients.answered(order, result.message);
        else clients.refused(order, result.code);
      }
    }
  },
};

export const senders: readonly Actor[] = [sender, scheduler, burst, batcher];
