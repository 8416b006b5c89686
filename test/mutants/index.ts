import { adapter } from "./areas/adapter.ts";
import { boundary } from "./areas/boundary.ts";
import { consent } from "./areas/consent.ts";
import { evidence } from "./areas/evidence.ts";
import { guard } from "./areas/guard.ts";
import { lease } from "./areas/lease.ts";
import { mergeAndErasure } from "./areas/merge-and-erasure.ts";
import { order } from "./areas/order.ts";
import { pace } from "./areas/pace.ts";
import { pagination } from "./areas/pagination.ts";
import { race } from "./areas/race.ts";
import { retry } from "./areas/retry.ts";
import { scope } from "./areas/scope.ts";
import { signature } from "./areas/signature.ts";
import type { Mutant } from "./mutant.ts";

export const mutants: readonly Mutant[] = [
  ...boundary,
  ...race,
  ...order,
  ...scope,
  ...guard,
  ...lease,
  ...evidence,
  ...retry,
  ...mergeAndErasure,
  ...pagination,
  ...signature,
  ...consent,
  ...pace,
  ...adapter,
];
