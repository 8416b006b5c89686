/** Accounts and their plans: the schemas of the API. */
import * as z from "zod";
import { ids, isTimeZone, name, text, timestamp, type AccountId } from "../kernel/index.ts";
import { answerText, quietHoursSchema, type QuietHours } from "../operations/index.ts";
import { apiKeyWithSecretSchema, type ApiKeyWithSecret } from "./keys/key-types.ts";

/** A plan of the host application: how many requests each API key may make. */
export interface Plan {
  /** The name of the plan, such as `standard`. The engine attaches no meaning to it. */
  readonly name: string;
  /** The maximum number of requests of each API key in any one second. */
  readonly requests_per_second: number;
}

export const planSchema = z
  .strictObject({ name: z.string(), requests_per_second: z.int().min(1) })
  .meta({ id: "Plan" });

export const standardPlan: Plan = { name: "standard", requests_per_second: 100 };

/** The limits of the account's requests, as the engine option `limits` sets them. */
export interface AccountLimits {
  /** Maximum bytes of a request body, and of one line of an import. Default: 1,048,576. */
  readonly body_bytes: number;
  /** Maximum bytes of the body of a batch or of a JSON import. Default: 8,388,608. */
  readonly batch_body_bytes: number;
  /** Maximum characters of a message's body. Default: 1,600. */
  readonly message_characters: number;
  /** Maximum number of files of a message. Default: 10. */
  readonly media_items: number;
  /** Maximum number of items of a batch or of a JSON import. Default: 1,000. */
  readonly batch_items: number;
  /** Maximum rows of an import over HTTP in NDJSON, one row per line. Default: 100,000. */
  readonly import_rows: number;
  /** Maximum number of keys of `metadata` or `attributes`. Default: 50. */
  readonly metadata_keys: number;
  /** Maximum characters of a value in `metadata` or `attributes`. Default: 500. */
  readonly metadata_characters: number;
  /** Maximum levels of objects and arrays in a JSON body. Default: 32. */
  readonly json_depth: number;
}

export const accountLimitsSchema = z
  .strictObject({
    body_bytes: z.int(),
    batch_body_bytes: z.int(),
    message_characters: z.int(),
    media_items: z.int(),
    batch_items: z.int(),
    import_rows: z.int(),
    metadata_keys: z.int(),
    metadata_characters: z.int(),
    json_depth: z.int(),
  })
  .meta({ id: "AccountLimits" });

/** The account's own values for options of the engine. Null means that the option applies. */
export interface AccountSettings {
  /**
   * The IANA name of the account's time zone, such as `Europe/Berlin`. Null means the engine option
   * `timeZone`.
   */
  readonly time_zone: string | null;
  /**
   * The text of the message that confirms an opt-out, up to 1,600 characters. Null means the engine
   * option `consent.optOutText`.
   */
  readonly opt_out_text: string | null;
  /**
   * The reply to START, up to 1,600 characters. Null means the engine option `consent.optInText`.
   */
  readonly opt_in_text: string | null;
  /**
   * The reply to HELP, up to 1,600 characters. Null means the engine option `consent.helpText`.
   */
  readonly help_text: string | null;
  /**
   * The local hours in which marketing messages wait. Null means the engine option `quietHours`.
   * Equal times mean no quiet hours, whatever the option says.
   */
  readonly quiet_hours: QuietHours | null;
}

/** The settings of an account that has no values of its own. */
export const noOwnSettings: AccountSettings = {
  time_zone: null,
  opt_out_text: null,
  opt_in_text: null,
  help_text: null,
  quiet_hours: null,
};

/** The settings that an input changes. */
type SettingsInput = {
  readonly [Name in keyof AccountSettings]?: AccountSettings[Name] | undefined;
};

/**
 * One tenant, with its own contacts, senders, keys and data. A host application without tenants
 * uses the default account.
 */
export interface Account extends AccountSettings {
  /** The id of the account. */
  readonly id: AccountId;
  /** The name of the account. */
  readonly name: string;
  /** The plan of the account. */
  readonly plan: Plan;
  /** The limits of the account's requests. */
  readonly limits: AccountLimits;
  /**
   * The IANA name of the account's time zone, such as `Europe/Berlin`. Quiet hours and playbooks
   * use it for contacts whose time zone is unknown.
   */
  readonly time_zone: string;
  /** When the account was created. */
  readonly created_at: string;
}

export const accountSchema = z
  .strictObject({
    id: ids.account,
    name: z.string(),
    plan: planSchema,
    limits: accountLimitsSchema,
    time_zone: z.string(),
    opt_out_text: z.string().nullable(),
    opt_in_text: z.string().nullable(),
    help_text: z.string().nullable(),
    quiet_hours: quietHoursSchema.nullable(),
    created_at: timestamp,
  })
  .meta({ id: "Account" });

const planField = z
  .strictObject({ name: name(64), requests_per_second: z.int().min(1).max(100_000) })
  .meta({ interface: "Plan" });

const timeZoneField = text(64).refine(isTimeZone, {
  error: "must be a time zone of the IANA database, such as Europe/Berlin",
});

const settingFields = {
  time_zone: timeZoneField.nullable().optional(),
  opt_out_text: answerText.nullable().optional(),
  opt_in_text: answerText.nullable().optional(),
  help_text: answerText.nullable().optional(),
  quiet_hours: quietHoursSchema.nullable().optional(),
};

/** A new account. */
export interface CreateAccount extends SettingsInput {
  /** The name of the account, up to 200 characters. */
  readonly name: string;
  /**
   * The plan of the account: a name of up to 64 characters, and 1 to 100,000 requests per second.
   * By default the plan `standard` with 100 requests per second.
   */
  readonly plan?: Plan | undefined;
}

export const createAccountSchema = z
  .strictObject({
    name: name(200),
    plan: planField.optional(),
    ...settingFields,
  })
  .meta({ id: "CreateAccount" });

/** Changes to an account. An absent field keeps its value. */
export interface UpdateAccount extends SettingsInput {
  /** The name of the account, up to 200 characters. */
  readonly name?: string | undefined;
  /**
   * The plan of the account: a name of up to 64 characters, and 1 to 100,000 requests per second.
   * Engines apply a new plan within about a second.
   */
  readonly plan?: Plan | undefined;
}

export const updateAccountSchema = z
  .strictObject({
    name: name(200).optional(),
    plan: planField.optional(),
    ...settingFields,
  })
  .meta({ id: "UpdateAccount" });

/** The account and its first API key, which is for its sandbox. */
export interface CreatedAccount {
  /** The new account. */
  readonly account: Account;
  /** Its first API key: a sandbox key with all scopes. */
  readonly key: ApiKeyWithSecret;
}

export const createdAccountSchema = z
  .strictObject({ account: accountSchema, key: apiKeyWithSecretSchema })
  .meta({ id: "CreatedAccount" });
