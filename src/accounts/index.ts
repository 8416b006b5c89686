export { createAccount } from "./create-account.ts";
export { accountsModule } from "./descriptor.ts";
export { type Authenticated, KeyRing } from "./key-ring.ts";
export { accountById, keys, ownAccount, usage } from "./rows.ts";
export {
  type Account,
  type ApiKey,
  type CreateAccount,
  type CreatedAccount,
  type CreatedKey,
  type CreateKey,
  defaultGraceSeconds,
  type GetUsage,
  type KeyScope,
  type Plan,
  type Usage,
} from "./types.ts";
export { defaultAccountId, prepareStorage } from "./prepare-storage.ts";
