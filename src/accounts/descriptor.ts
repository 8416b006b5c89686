import { accounts, keys, settings, usage } from "./rows.ts";
import { accountHandles } from "./handles.ts";
import { accountRoutes, apiKeyRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const accountsModule: Module<object, typeof accountHandles> = {
  collections: [settings, accounts, keys, usage],
  tags: [
    { name: "API keys", description: "API keys, with their scopes and mode." },
    { name: "Account", description: "The account that the key belongs to." },
  ],
  routes: [...apiKeyRoutes, ...accountRoutes],
  handles: accountHandles,
};
