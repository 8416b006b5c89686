export { createAccount, updateAccount } from "./commands.ts";
export { defaultAccountId, prepareStorage } from "./prepare-storage.ts";
export { listAccounts } from "./reads.ts";
export { changesKey, KeyRing } from "./keys/key-ring.ts";
export { KnownAccounts } from "./known-accounts.ts";
export { ownAccount, readOwnAccount, settingByName, settings } from "./rows.ts";
export { usage } from "./usage/rows.ts";
export { keys } from "./keys/rows.ts";
export { type CountedChange, countChange } from "./usage/count-usage.ts";
export { countReapers } from "./usage/reap-counts.ts";
export type {
  ErrorCount,
  ErrorCounts,
  GetErrorCounts,
  GetHourlyUsage,
  HourCount,
  HourlyUsage,
  GetUsage,
  Usage,
  UsageCount,
} from "./usage/usage-types.ts";
export type {
  Account,
  AccountLimits,
  CreateAccount,
  CreatedAccount,
  Plan,
  UpdateAccount,
} from "./types.ts";
export {
  type ApiKey,
  type ApiKeyWithSecret,
  type CreateApiKey,
  defaultGraceSeconds,
  type RotateApiKey,
} from "./keys/key-types.ts";
