import type { Actor } from "./actor.ts";
import { askers } from "./askers.ts";
import { changers } from "./changers.ts";
import { clerks } from "./clerks.ts";
import { employers } from "./employers.ts";
import { operators } from "./operators.ts";
import { outside } from "./outside.ts";
import { pollers } from "./pollers.ts";
import { searchers } from "./searchers.ts";
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
  ...searchers,
  ...visitors,
  ...webhookKeepers,
  ...employers,
  ...askers,
  ...outside,
];
