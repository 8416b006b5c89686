import type { Actor } from "./actor.ts";
import { changers } from "./changers.ts";
import { clerks } from "./clerks.ts";
import { operators } from "./operators.ts";
import { outside } from "./outside.ts";
import { pollers } from "./pollers.ts";
import { senders } from "./senders.ts";
import { texters } from "./texters.ts";
import { visitors } from "./visitors.ts";
import { webhookKeepers } from "./webhook-keepers.ts";

/** A later capability adds its actors here. */
export const actors: readonly Actor[] = [
  ...senders,
  ...changers,
  ...pollers,
  ...texters,
  ...operators,
  ...clerks,
  ...visitors,
  ...webhookKeepers,
  ...outside,
];
