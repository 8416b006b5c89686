import { pageSchema } from "../kernel/index.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  list,
  method,
  query,
  type ApiRoute,
  type Module,
} from "../operations/index.ts";
import { createKey, revokeKey, rotateKey } from "./keys/key-commands.ts";
import { apiKeySchema, apiKeyWithSecretSchema } from "./keys/key-types.ts";
import { listKeys } from "./keys/reads.ts";
import { keys } from "./keys/rows.ts";
import { getAccount } from "./reads.ts";
import { accounts, settings } from "./rows.ts";
import { accountSchema } from "./types.ts";
import { getErrorCounts, getHourlyUsage, getUsage } from "./usage/reads.ts";
import { deliveryTimes, errorCounts, hourlyUsage, usage } from "./usage/rows.ts";
import { errorCountsSchema, hourlyUsageSchema, usageSchema } from "./usage/usage-types.ts";

const anyKey = { tag: "Account", scopes: [] } as const;

const accountRoutes: readonly ApiRoute[] = [
  {
    ...anyKey,
    method: "GET",
    path: "/v1/account",
    operation: getAccount,
    summary: "Get the account",
    description: "Returns the plan, limits and settings of the account. Any key may call this.",
    response: accountSchema,
  },
  {
    ...anyKey,
    method: "GET",
    path: "/v1/usage",
    operation: getUsage,
    summary: "Get usage",
    description:
      "Returns message counts by day, channel and status in the key's mode. Any key may call this.",
    response: usageSchema,
  },
  {
    ...anyKey,
    method: "GET",
    path: "/v1/usage/hours",
    operation: getHourlyUsage,
    summary: "Get usage by hour",
    description:
      "Returns how many messages of each channel were accepted, delivered, failed and received " +
      "in each hour, and how long deliveries took. Counts are kept for 92 days. Any key may call " +
      "this.",
    response: hourlyUsageSchema,
  },
  {
    ...anyKey,
    method: "GET",
    path: "/v1/usage/errors",
    operation: getErrorCounts,
    summary: "Get error counts",
    description:
      "Returns how many messages of each sender failed with which error, most frequent first. " +
      "It adds up at most 10,000 counts, one for each day, sender and error. If there are more, " +
      "those of the oldest days are left out. Counts are kept for 92 days. Any key may call this.",
    response: errorCountsSchema,
  },
];

const manage = { tag: "API keys", scopes: ["keys:manage"] } as const;

const apiKeyRoutes: readonly ApiRoute[] = [
  {
    ...manage,
    method: "POST",
    path: "/v1/api-keys",
    operation: createKey,
    summary: "Create an API key",
    description:
      "The secret is returned once. A key cannot create a key with scopes that it lacks.",
    response: apiKeyWithSecretSchema,
    example: { name: "Shop front", scopes: ["messages:write", "messages:read"] },
  },
  {
    ...manage,
    method: "GET",
    path: "/v1/api-keys",
    operation: listKeys,
    summary: "List API keys",
    description: "Lists the keys of this key's mode, newest first. Revoked keys are included.",
    response: pageSchema(apiKeySchema).meta({ id: "ApiKeyPage" }),
  },
  {
    ...manage,
    method: "DELETE",
    path: "/v1/api-keys/:id",
    operation: revokeKey,
    summary: "Revoke an API key",
    description:
      "The key stops working at once, and so does its secret before the last rotation. A key " +
      "cannot revoke a key with scopes that it lacks.",
  },
  {
    ...manage,
    method: "POST",
    path: "/v1/api-keys/:id/rotate",
    operation: rotateKey,
    summary: "Rotate an API key",
    description:
      "Gives the key a new secret. The old secret stays valid for a grace period. A key cannot " +
      "rotate a key that has scopes that it lacks, or that expires later than the secret of the " +
      "request. An expired or revoked key cannot be rotated: the response is 409 `conflict`.",
    response: apiKeyWithSecretSchema,
    example: { grace_seconds: 3_600 },
  },
];

const accountHandles = {
  apiKeys: {
    create: command(createKey),
    list: list(listKeys),
    rotate: commandByIdAndInput(rotateKey),
    revoke: commandById(revokeKey),
  },
  get: method(
    ({ read }) =>
      () =>
        read(getAccount, {}),
  ),
  usage: query(getUsage),
  usageByHour: query(getHourlyUsage),
  errorCounts: query(getErrorCounts),
};

export const accountsModule: Module<object, typeof accountHandles> = {
  collections: [settings, accounts, keys, usage, hourlyUsage, deliveryTimes, errorCounts],
  tags: [
    { name: "API keys", description: "API keys, with their scopes and mode." },
    { name: "Account", description: "The account that the key belongs to." },
  ],
  routes: [...apiKeyRoutes, ...accountRoutes],
  handles: accountHandles,
};
