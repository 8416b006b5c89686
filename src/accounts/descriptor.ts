import { accounts, keys, settings, usage } from "./rows.ts";
import { accountRoutes, apiKeyRoutes } from "./routes.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  method,
  type Module,
  query,
} from "../operations/index.ts";
import { createKey, revokeKey, rotateKey } from "./key-commands.ts";
import { getAccount, getUsage, listKeys } from "./reads.ts";

const accountHandles = {
  apiKeys: {
    create: command(createKey),
    list: query(listKeys),
    rotate: commandByIdAndInput(rotateKey),
    revoke: commandById(revokeKey),
  },
  get: method(
    ({ read }) =>
      () =>
        read(getAccount, {}),
  ),
  usage: query(getUsage),
};

export const accountsModule: Module<object, typeof accountHandles> = {
  collections: [settings, accounts, keys, usage],
  tags: [
    { name: "API keys", description: "API keys, with their scopes and mode." },
    { name: "Account", description: "The account that the key belongs to." },
  ],
  routes: [...apiKeyRoutes, ...accountRoutes],
  handles: accountHandles,
};
