/** What a person typed and has not sent. It survives a reload of the page. */
import { type Signal, signal } from "@preact/signals";
import type { Conversation, Message } from "../../../../../src/index.ts";
import { current, recall, remember } from "../../../shared/browser/index.ts";

/** A reply or note that is being written. */
export interface Draft {
  readonly mode: "reply" | "note";
  readonly body: string;
  readonly media: readonly string[];
  /** When to send it, as an ISO time. Null for now. */
  readonly sendAt: string | null;
  /** The address of the sender. Empty for the usual one. */
  readonly from: string;
}

/** A message that was sent from this page, until the server has it. */
export interface Outgoing extends Draft {
  /** The idempotency key. A repetition has the same, so that the message is sent once. */
  readonly key: string;
  readonly state: "sending" | "failed";
  /** Why it failed. */
  readonly problem: string;
  readonly at: string;
}

/** What is kept of one conversation. */
interface Kept {
  readonly draft: Draft;
  readonly outgoing: readonly Outgoing[];
}

export const emptyDraft: Draft = { mode: "reply", body: "", media: [], sendAt: null, from: "" };

/** The channel that carries a draft. A text with files is an MMS. */
export const channelOf = ({ medium }: Conversation, media: Draft["media"]): Message["channel"] =>
  medium === "webchat" ? "webchat" : media.length > 0 ? "mms" : "sms";

/** An edit of a contact that is not saved. */
export interface ContactEdit {
  /** The changed fields, as typed. */
  readonly fields: Readonly<Partial<Record<ContactField, string>>>;
  /** All attributes as typed, once one of them was changed. */
  readonly attributes?: readonly (readonly [string, string])[];
}

/** The fields of a contact that a person can edit. */
export const contactFields = ["name", "phone", "email", "language", "time_zone"] as const;

type ContactField = (typeof contactFields)[number];

const maxKept = 200;

const keyOf = (id: string): string => {
  const { account_id = "", mode = "", operator } = current.peek() ?? {};
  return `draft:${account_id}:${mode}:${operator?.id ?? ""}:${id}`;
};

/** Drafts by the id of their conversation or contact. The browser stores those with content. */
class Drafts<Value> {
  private readonly held = new Map<string, Signal<Value>>();
  private readonly parse: (stored: unknown) => Value;
  private readonly isEmpty: (value: Value) => boolean;

  constructor(parse: (stored: unknown) => Value, isEmpty: (value: Value) => boolean) {
    this.parse = parse;
    this.isEmpty = isEmpty;
  }

  of(id: string): Signal<Value> {
    const found = this.held.get(id);
    if (found !== undefined) return found;
    const created = signal(this.read(id));
    this.held.set(id, created);
    return created;
  }

  set(id: string, value: Value): void {
    this.of(id).value = value;
    remember(keyOf(id), this.isEmpty(value) ? undefined : JSON.stringify(value));
    if (this.held.size > maxKept) this.prune(id);
  }

  forget(id: string): void {
    this.held.delete(id);
    remember(keyOf(id), undefined);
  }

  private read(id: string): Value {
    try {
      return this.parse(JSON.parse(recall(keyOf(id)) ?? "null"));
    } catch {
      return this.parse(null);
    }
  }

  /** Drops the drafts that were used longest ago from memory. The browser's storage keeps them. */
  private prune(except: string): void {
    for (const id of this.held.keys()) {
      if (this.held.size <= maxKept) return;
      if (id !== except) this.held.delete(id);
    }
  }
}

const maxOutgoing = 20;

const conversations = new Drafts<Kept>(
  (stored) => {
    const { draft, outgoing = [] } = (stored ?? {}) as Partial<Kept>;
    return {
      draft: { ...emptyDraft, ...draft },
      // A page that closed while it sent does not know the outcome. A repetition is safe.
      outgoing: outgoing.map((each) => ({ ...each, state: "failed" })),
    };
  },
  ({ draft, outgoing }) => outgoing.length === 0 && draft.body === "" && draft.media.length === 0,
);

/** The edits of contacts, by the contact's id. Null while nobody edits it. */
export const contactEdits = new Drafts<ContactEdit | null>(
  (stored) => stored as ContactEdit | null,
  (edit) =>
    edit === null || (Object.keys(edit.fields).length === 0 && edit.attributes === undefined),
);

/** What is being noted about a person, by `observationDraft` of the contact's id. */
export const observations = new Drafts<string>(
  (stored) => (typeof stored === "string" ? stored : ""),
  (text) => text === "",
);

export const observationDraft = (contact: string): string => `${contact}:observation`;

/** What is kept of a conversation. */
export const keptOf = (id: string): Signal<Kept> => conversations.of(id);

export function setDraft(id: string, fields: Partial<Draft>): void {
  const kept = keptOf(id).peek();
  conversations.set(id, { ...kept, draft: { ...kept.draft, ...fields } });
}

/** Adds or replaces an outgoing message. */
export function setOutgoing(id: string, message: Outgoing): void {
  const kept = keptOf(id).peek();
  const others = kept.outgoing.filter(({ key }) => key !== message.key);
  conversations.set(id, { ...kept, outgoing: [...others, message].slice(-maxOutgoing) });
}

export function removeOutgoing(id: string, key: string): void {
  const kept = keptOf(id).peek();
  conversations.set(id, { ...kept, outgoing: kept.outgoing.filter((each) => each.key !== key) });
}

/** Removes what was typed in a conversation of an erased contact. */
export const forgetConversation = (id: string): void => conversations.forget(id);

/** Removes what was typed about a contact that was erased, or merged into another one. */
export function forgetContact(id: string): void {
  contactEdits.forget(id);
  observations.forget(observationDraft(id));
}
