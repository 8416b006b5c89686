import { settings } from "./setting-rows.ts";
import { accounts } from "./rows.ts";
import { keys } from "./key-rows.ts";
import { usage } from "./usage-rows.ts";
import { apiKeyRoutes } from "./key-routes.ts";
import { accountRoutes } from "./account-routes.ts";
import type { Module } from "../operations/index.ts";

export const accountsModule: Module = {
  collections: [settings, accounts, keys, usage],
  tags: [
    { name: "API keys", description: "Who may do what, in which mode." },
    { name: "Account", description: "The account that the key belongs to." },
  ],
  routes: [...apiKeyRoutes, ...accountRoutes],
};
