import { rankOf } from "../ranks.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

/** Messages that somebody looks at just now. */
const looking = new WeakMap<World, Set<string>>();

/** Looks at a message again and again: what was delivered never looks less so later. */
const poller: Actor = {
  name: "poller",
  part: "changes",
  weight: 6,
  async act(world) {
    const { dice, clients, clock } = world;
    const order = dice.pick(
      clients.orders.filter(({ message }) => message !== undefined).slice(-10),
    );
    const id = order?.message?.id;
    const busy = looking.get(world) ?? new Set();
    looking.set(world, busy);
    if (id === undefined || busy.has(id)) return;
    busy.add(id);
    let before = "queued";
    for (let looks = dice.between(1, 4); looks > 0; looks--) {
      const answer = await clients.ask((engine) => engine.messages.get(id));
      const isErased =
        order?.message !== undefined && world.registry.isErased(order.message.contact_id);
      if (answer.kind === "refused" && !isErased) {
        world.accuse(
          "what was acknowledged is there",
          [id],
          `message ${id} was acknowledged and can't be found: ${answer.code}`,
        );
      }
      if (answer.kind === "done") {
        const { status } = answer.value;
        if (rankOf(status) < rankOf(before)) {
          world.accuse(
            "status is the join of all evidence",
            [id],
            `message ${id} was seen ${before} and later ${status}`,
          );
        }
        before = status;
      }
      await clock.sleep(dice.between(100, 20_000));
    }
    busy.delete(id);
  },
};

export const pollers: readonly Actor[] = [poller];
