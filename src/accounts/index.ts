export { createAccount, updateAccount } from "./account-commands.ts";
export { defaultAccountId, prepareStorage } from "./prepare-storage.ts";
export { listAccounts } from "./reads.ts";
export { type Authenticated, changesKey, KeyRing } from "./key-ring.ts";
export { KnownAccounts } from "./known-accounts.ts";
export { keys, ownAccount, readOwnAccount, settingByName, settings, usage } from "./rows.ts";
export { type CountedChange, countChange } from "./count-usage.ts";
export { countReapers } from "./reap-counts.ts";
export type {
  ErrorCount,
  ErrorCounts,
  GetErrorCounts,
  GetHourlyUsage,
  HourCount,
  HourlyUsage,
  GetUsage,
  Usage,
} from "./usage-types.ts";
export type {
  Account,
  AccountLimits,
  CreateAccount,
  CreatedAccount,
  Plan,
  UpdateAccount,
} from "./types.ts";
export { type ApiKey, type CreatedKey, type CreateKey, defaultGraceSeconds } from "./key-types.ts";
