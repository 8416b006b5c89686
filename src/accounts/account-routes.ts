import { getAccount } from "./reads.ts";
import { accountSchema } from "./types.ts";
import { getUsage } from "./get-usage.ts";
import { usageSchema } from "./usage-types.ts";
import type { Route } from "../operations/index.ts";

const anyKey = { tag: "Account", scopes: [] } as const;

export const accountRoutes: readonly Route[] = [
  {
    ...anyKey,
    method: "GET",
    path: "/v1/account",
    operation: getAccount,
    summary: "Get the account",
    description: "Its plan and limits. Any key may.",
    response: accountSchema,
  },
  {
    ...anyKey,
    method: "GET",
    path: "/v1/usage",
    operation: getUsage,
    summary: "Get usage",
    description: "Counts by day, channel and status, in the key's mode. Any key may.",
    response: usageSchema,
  },
];
