import type { Actor } from "./actor.ts";
import { changers } from "./changers.ts";
import { outside } from "./outside.ts";
import { pollers } from "./pollers.ts";
import { senders } from "./senders.ts";

/** A later capability adds its actors here. */
export const actors: readonly Actor[] = [...senders, ...changers, ...pollers, ...outside];
