/** The options about consent and quiet hours, as the host application gives them. */
import * as z from "zod";
import { name, type Checked } from "../kernel/index.ts";

/** The text of an automatic answer to a keyword, as an option or of an account. */
export const answerText: z.ZodString = name(1_600);

/** How opt-outs are recorded and confirmed. Texts have at most 1,600 characters. */
export interface ConsentOptions {
  /**
   * Whether STOP opts out of the whole account or only of the sender that received it. With
   * `sender`, START applies to that sender only, even after an opt-out of the account.
   * @default "account"
   */
  readonly scope?: "account" | "sender" | undefined;
  /**
   * Whether a near match of an opt-out ("please stop texting me") counts as one. If false, the
   * message is flagged for a person to decide.
   * @default false
   */
  readonly honorNearMatches?: boolean | undefined;
  /**
   * The text of the message that confirms an opt-out. An account can have its own `opt_out_text`.
   * @default "You have opted out and will get no more messages from us. Reply START to opt in
   *   again."
   */
  readonly optOutText?: string | undefined;
  /**
   * The reply to START. An account can have its own `opt_in_text`.
   * @default "You have opted in to messages from us. Reply STOP to opt out."
   */
  readonly optInText?: string | undefined;
  /** The reply to HELP. An account can have its own `help_text`. Default: no reply. */
  readonly helpText?: string | undefined;
}

/**
 * The local hours in which marketing messages wait. Times are `HH:MM` from 00:00 to 23:59. The
 * period spans midnight if `from` is later than `to`. Equal times mean no quiet hours.
 */
export interface QuietHours {
  /** The first minute of the quiet hours, `HH:MM`. */
  readonly from: string;
  /** The first minute after the quiet hours, `HH:MM`. */
  readonly to: string;
}

/** A time of day, as an option or of an account. */
export const timeOfDay: z.ZodString = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, {
  error: 'must be a time of day as "HH:MM", such as "21:00"',
});

export const quietHoursSchema = z
  .strictObject({ from: timeOfDay, to: timeOfDay })
  .meta({ id: "QuietHours" });

/** The consent options with their defaults. A null `helpText` means no reply to HELP. */
export interface ConsentSettings extends Checked<Omit<ConsentOptions, "helpText">> {
  readonly helpText: string | null;
}

export const standardConsent: ConsentSettings = {
  scope: "account",
  honorNearMatches: false,
  optOutText:
    "You have opted out and will get no more messages from us. Reply START to opt in again.",
  optInText: "You have opted in to messages from us. Reply STOP to opt out.",
  helpText: null,
};
