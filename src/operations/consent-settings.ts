/** How opt-outs are taken and answered. Texts of up to 1,600 characters. */
export interface ConsentOptions {
  /**
   * What STOP covers: the whole account, by default, or the sender that it was said to. To a sender START takes back what was said to it,
   * and an opt-out from the whole account.
   */
  readonly scope?: "account" | "sender";
  /** Takes what comes near an opt-out ("please stop texting me") for one. By default it is flagged, and a person decides. */
  readonly honourNearMatches?: boolean;
  /** What the one message says that confirms an opt-out. */
  readonly optOutText?: string;
  /** What START is answered. */
  readonly optInText?: string;
  /** What HELP is answered; by default nothing. */
  readonly helpText?: string;
}

/** Local hours, `HH:MM` from 00:00 to 23:59; over midnight where `from` is later than `to`. The same twice means none. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
}

/** Null: no answer. */
export interface ConsentSettings extends Required<Omit<ConsentOptions, "helpText">> {
  readonly helpText: string | null;
}

export const standardConsent: ConsentSettings = {
  scope: "account",
  honourNearMatches: false,
  optOutText:
    "You have opted out and will get no more messages from us. Reply START to opt in again.",
  optInText: "You have opted in to messages from us. Reply STOP to opt out.",
  helpText: null,
};
