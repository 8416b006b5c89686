import type { Finding, World } from "../world/types.ts";
import { allItems, fullPages, handleOf, scopesOf, type WorldScope } from "./reads.ts";

/**
 * Nothing is left to do. Without a job, nothing changes a message, a delivery or an agent's run
 * that is not finished any more.
 */
export async function nothingLeftToDo(world: World): Promise<Finding | undefined> {
  const pending = await world.pending();
  if (pending.length > 0) return { description: pending.join("; ") };
  for (const scope of await scopesOf(world)) {
    const found =
      (await findMessage(world, scope)) ??
      (await findDelivery(world, scope)) ??
      (await findRun(world, scope));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function findMessage(world: World, scope: WorldScope): Promise<Finding | undefined> {
  const { messages } = handleOf(world, scope);
  for (const status of ["scheduled", "queued", "sending"] as const) {
    const [stuck] = (await messages.list({ status, limit: 1 })).data;
    if (stuck !== undefined) return withoutJob(stuck.id, `${stuck.id} stays ${status}`);
  }
  return undefined;
}

async function findDelivery(world: World, scope: WorldScope): Promise<Finding | undefined> {
  const { webhooks } = handleOf(world, scope);
  const all = await allItems(webhooks.list(fullPages));
  for (const { id } of all.filter(({ status }) => status === "enabled")) {
    const [stuck] = (await webhooks.deliveries(id, { status: "pending", limit: 1 })).data;
    if (stuck === undefined) continue;
    const { event_id } = stuck;
    return withoutJob(event_id, `the delivery of ${event_id} to ${id} stays pending`);
  }
  return undefined;
}

async function findRun(world: World, scope: WorldScope): Promise<Finding | undefined> {
  const { runs } = handleOf(world, scope);
  const [stuck] = (await runs.list({ status: "running", limit: 1 })).data;
  return stuck && withoutJob(stuck.id, `${stuck.id} stays running`);
}

function withoutJob(id: string, what: string): Finding {
  return { description: `${what}, and no job will change that`, about: [id] };
}
