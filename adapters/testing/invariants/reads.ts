/** What the laws read through the public API of a world. */
import { modeSchema } from "../../../src/kernel/index.ts";
import { TidingsError, type AccountHandle, type Event, type Message } from "../../entry.ts";
import type { CarrierCall } from "../carrier/script.ts";
import type { World } from "../world/types.ts";

/** How many items of a list a law reads. A longer list is an error: use a smaller world. */
const maxItems = 10_000;
/** The largest pages, so that a list takes few reads. */
export const fullPages = { limit: 100 };

/** An account in one mode, with the calls to carriers that were made for it. */
export interface WorldScope {
  readonly account_id: string;
  readonly mode: CarrierCall["message"]["mode"];
  readonly calls: readonly CarrierCall[];
}

/** Whether the carrier accepted the message of a call. It then sends it. */
export function isAccepted({ provider_message_id }: CarrierCall): boolean {
  return provider_message_id !== null;
}

/** Every account in each mode. */
export async function scopesOf(world: World): Promise<readonly WorldScope[]> {
  const accounts = await allItems(world.engine().accounts.list(fullPages));
  const calls = Map.groupBy(world.calls, ({ message }) => nameOf(message));
  return accounts
    .flatMap(({ id: account_id }) => modeSchema.options.map((mode) => ({ account_id, mode })))
    .map((scope) => ({ ...scope, calls: calls.get(nameOf(scope)) ?? [] }));
}

const nameOf = ({ account_id, mode }: Omit<WorldScope, "calls">): string => `${account_id} ${mode}`;

/** The engine's methods for an account and mode. */
export function handleOf(
  world: World,
  { account_id, mode }: Omit<WorldScope, "calls">,
): AccountHandle {
  return world.engine().account(account_id, { mode });
}

/** Undefined if the message no longer exists: its contact was erased. */
export function messageOf(world: World, { message }: CarrierCall): Promise<Message | undefined> {
  return orGone(handleOf(world, message).messages.get(message.message_id));
}

/** The messages of an account in one mode, newest first. */
export function messagesIn(world: World, scope: WorldScope): Promise<readonly Message[]> {
  const { messages } = handleOf(world, scope);
  return allItems(messages.list(fullPages));
}

/** The result. Undefined if the request is refused, because the resource does not exist. */
export async function orGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof TidingsError && error.status < 500) return undefined;
    throw error;
  }
}

/** The log of events, oldest first. */
export async function eventsIn(world: World, scope: WorldScope): Promise<readonly Event[]> {
  const { events } = handleOf(world, scope);
  return (await allItems(events.list(fullPages))).toReversed();
}

/** All items of a list, in its order. */
export async function allItems<T>(list: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of list) {
    if (all.length === maxItems) {
      throw new Error(`A law reads at most ${maxItems} items of a list. Use a smaller world.`);
    }
    all.push(item);
  }
  return all;
}
