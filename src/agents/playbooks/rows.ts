import type { AccountId, PlaybookId } from "../../kernel/ids.ts";
import { boolean, collection, integer, json, text, time } from "../../ports/collection.ts";
import type { Mode } from "../../kernel/scope.ts";
import type { PlaybookDefinition } from "./types.ts";

export interface PlaybookRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: PlaybookId;
  /** One of as many as an account may have. */
  readonly slot: number;
  readonly enabled: boolean;
  /** Its current version; each that there was is kept. */
  readonly revision: number;
  readonly definition: PlaybookDefinition;
  readonly created_at: number;
  readonly updated_at: number;
}

export const playbooks = collection<PlaybookRow>("playbooks", {
  account_id: text,
  mode: text,
  id: text,
  slot: integer,
  enabled: boolean,
  revision: integer,
  definition: json,
  created_at: time,
  updated_at: time,
});
export const playbookById = playbooks.key("account_id", "mode", "id");
export const playbookBySlot = playbooks.unique("by_slot", ["account_id", "mode", "slot"]);

/** A playbook as it was: who is in the middle of it goes on with that. */
export interface PlaybookVersionRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly playbook_id: PlaybookId;
  readonly revision: number;
  readonly definition: PlaybookDefinition;
  readonly created_at: number;
}

export const playbookVersions = collection<PlaybookVersionRow>("playbook_versions", {
  account_id: text,
  mode: text,
  playbook_id: text,
  revision: integer,
  definition: json,
  created_at: time,
});
export const playbookVersionOf = playbookVersions.key(
  "account_id",
  "mode",
  "playbook_id",
  "revision",
);
