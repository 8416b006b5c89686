export { createKey } from "./create-key.ts";
export { createAccount } from "./create.ts";
export { accountsModule } from "./descriptor.ts";
export { getUsage } from "./get-usage.ts";
export { type Authenticated, KeyRing } from "./key-ring.ts";
export { keys } from "./key-rows.ts";
export {
  type ApiKey,
  type CreatedKey,
  type CreateKey,
  defaultGraceSeconds,
  type KeyScope,
} from "./key-types.ts";
export { listKeys } from "./list-keys.ts";
export { defaultAccountId, prepareStorage } from "./prepare-storage.ts";
export { getAccount } from "./reads.ts";
export { revokeKey } from "./revoke-key.ts";
export { rotateKey } from "./rotate-key.ts";
export { accountById, ownAccount } from "./rows.ts";
export type { Account, CreateAccount, CreatedAccount, Plan } from "./types.ts";
export { usage } from "./usage-rows.ts";
export type { GetUsage, Usage } from "./usage-types.ts";
