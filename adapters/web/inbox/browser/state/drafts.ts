/** What a person typed and has not sent. It survives a reload of the page. */
import { signal, type Signal } from "@preact/signals";
import type { Conversation, Message } from "../../../../../src/index.ts";
import {
  currentKey,
  currentSession,
  keepLatest,
  onRemembered,
  onTabGone,
  recall,
  recallAll,
  remember,
  seesTabsEnd,
  tabId,
} from "../../../shared/browser/index.ts";

/** What a person writes in a conversation: to the contact, or to the colleagues. */
export type Mode = "reply" | "note";

/** The most characters that a reply and a note may have. */
export const maxCharacters: { readonly [mode in Mode]: number } = { reply: 1600, note: 10_000 };

/** A reply or note that is being written. A note has only a body. */
export interface Draft {
  readonly body: string;
  readonly media: readonly string[];
  /** When to send it, as an ISO time. Null for now. */
  readonly sendAt: string | null;
  /** The address of the sender. Empty for the usual one. */
  readonly from: string;
}

/** A reply or note that was sent from this page, until the server has it. */
export interface Outgoing extends Draft {
  readonly mode: Mode;
  /** The recipient of a message that is sent later, once it is chosen. */
  readonly to?: string | undefined;
  /** The idempotency key. A repetition has the same, so that the message is sent once. */
  readonly key: string;
  readonly state: "sending" | "failed";
  /** The tab that sends it. */
  readonly tab: string;
  /** Why it failed. */
  readonly problem: string;
  readonly at: string;
}

/** What is kept of one conversation. A note never becomes a reply, so each has its own draft. */
interface Kept {
  /** The draft that the composer shows. */
  readonly mode: Mode;
  readonly reply: Draft;
  readonly note: Draft;
  readonly outgoing: readonly Outgoing[];
}

export const emptyDraft: Draft = { body: "", media: [], sendAt: null, from: "" };

/** Whether a draft has no content that a person would miss. */
export const isBlank = ({ body, media }: Draft): boolean =>
  body.trim() === "" && media.length === 0;

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
  const { account_id = "", mode = "", operator } = currentSession.peek() ?? {};
  return `draft:${account_id}:${mode}:${operator?.id ?? ""}:${id}`;
};

interface Kind<Value> {
  /** `isLive` tells that another tab has just stored it. */
  readonly parse: (stored: unknown, isLive: boolean) => Value;
  readonly isEmpty: (value: Value) => boolean;
  readonly onChange?: (id: string, value: Value) => void;
}

/**
 * Drafts by the id of their conversation or contact. The browser stores those with content, and all
 * tabs show the same: a text that one tab has sent must not wait to be sent in another.
 */
class Drafts<Value> {
  private readonly held = new Map<string, Signal<Value>>();
  private readonly kind: Kind<Value>;

  constructor(kind: Kind<Value>) {
    this.kind = kind;
    onRemembered((key, stored) => {
      const start = keyOf("");
      if (!key.startsWith(start)) return;
      const id = key.slice(start.length);
      const value = this.parsed(stored, true);
      const known = this.held.get(id);
      if (known !== undefined) known.value = value;
      kind.onChange?.(id, value);
    });
  }

  of(id: string): Signal<Value> {
    const found = this.held.get(id) ?? signal(this.parsed(recall(keyOf(id)), false));
    // The drafts that were used last come last.
    this.held.delete(id);
    this.held.set(id, found);
    return found;
  }

  set(id: string, value: Value): void {
    this.of(id).value = value;
    remember(keyOf(id), this.kind.isEmpty(value) ? undefined : JSON.stringify(value));
    this.kind.onChange?.(id, value);
    // The browser's storage still has those that leave the memory.
    keepLatest(this.held, maxKept);
  }

  forget(id: string): void {
    this.held.delete(id);
    remember(keyOf(id), undefined);
    this.kind.onChange?.(id, this.kind.parse(null, true));
  }

  /** Takes the value anew that the browser has stored. */
  read(id: string): void {
    const value = this.parsed(recall(keyOf(id)), true);
    this.of(id).value = value;
    this.kind.onChange?.(id, value);
  }

  /** Everything that the browser has stored of earlier visits. */
  stored(): (readonly [id: string, value: Value])[] {
    return recallAll(keyOf("")).map(([id, text]) => [id, this.parsed(text, false)] as const);
  }

  private parsed(stored: string | undefined, isLive: boolean): Value {
    try {
      return this.kind.parse(JSON.parse(stored ?? "null"), isLive);
    } catch {
      return this.kind.parse(null, isLive);
    }
  }
}

/** What a person has yet to do in a conversation: finish a draft, or send a message again. */
export type Unfinished = "draft" | "unsent";

/** What is unfinished, by the conversation's id. */
export const unfinished = signal<ReadonlyMap<string, Unfinished>>(new Map());

function unfinishedOf({ reply, note, outgoing }: Kept): Unfinished | undefined {
  if (outgoing.some(({ state }) => state === "failed")) return "unsent";
  return isBlank(reply) && isBlank(note) ? undefined : "draft";
}

const isConversation = (id: string): boolean => id.startsWith("conv_");

const conversations = new Drafts<Kept>({
  parse: (stored, isLive) => {
    const { mode = "reply", reply, note, outgoing = [] } = (stored ?? {}) as Partial<Kept>;
    return {
      mode,
      reply: { ...emptyDraft, ...reply },
      note: { ...emptyDraft, ...note },
      // A page that closed while it sent does not know the outcome. A repetition is safe.
      outgoing: outgoing.map((each) =>
        (isLive || seesTabsEnd) && !goneTabs.has(each.tab) ? each : { ...each, state: "failed" },
      ),
    };
  },
  isEmpty: ({ reply, note, outgoing }) =>
    outgoing.length === 0 && reply.body === "" && reply.media.length === 0 && note.body === "",
  onChange: (id, kept) => {
    awaitSenders(id, kept);
    const found = unfinishedOf(kept);
    if (!isConversation(id) || unfinished.peek().get(id) === found) return;
    const next = new Map(unfinished.peek());
    if (found === undefined) next.delete(id);
    else next.set(id, found);
    unfinished.value = next;
  },
});

/** The tabs that were closed before they knew the outcome of what they sent. */
const goneTabs = new Set<string>();
const awaited = new Set<string>();

/** Waits for the end of the other tabs that send messages of a conversation. */
function awaitSenders(id: string, { outgoing }: Kept): void {
  for (const { state, tab } of outgoing) {
    const sender = `${tab} ${id}`;
    if (state === "failed" || tab === tabId || awaited.has(sender)) continue;
    awaited.add(sender);
    onTabGone(tab, () => {
      goneTabs.add(tab);
      conversations.read(id);
    });
  }
}

/** Finds what earlier visits left unfinished, and what other tabs are sending. */
export function loadUnfinished(): void {
  const found = conversations.stored().flatMap(([id, kept]) => {
    awaitSenders(id, kept);
    const left = unfinishedOf(kept);
    return left === undefined || !isConversation(id) ? [] : [[id, left] as const];
  });
  unfinished.value = new Map(found);
}

/** The edits of contacts, by the contact's id. Null while nobody edits it. */
export const contactEdits = new Drafts<ContactEdit | null>({
  parse: (stored) => stored as ContactEdit | null,
  isEmpty: (edit) =>
    edit === null || (Object.keys(edit.fields).length === 0 && edit.attributes === undefined),
});

/** What is being noted about a person, by `observationDraftId` of the contact. */
export const observationDrafts = new Drafts<string>({
  parse: (stored) => (typeof stored === "string" ? stored : ""),
  isEmpty: (text) => text === "",
});

export const observationDraftId = (contactId: string): string => `${contactId}:observation`;

/** What is kept of a conversation. */
export const keptOf = (id: string): Signal<Kept> => conversations.of(id);

/** Shows the draft of the reply or of the note. */
export function setMode(id: string, mode: Mode): void {
  conversations.set(id, { ...keptOf(id).peek(), mode });
}

export function setDraft(id: string, mode: Mode, fields: Partial<Draft>): void {
  const kept = keptOf(id).peek();
  conversations.set(id, { ...kept, [mode]: { ...kept[mode], ...fields } });
}

/** Adds or replaces an outgoing message. */
export function setOutgoing(id: string, message: Outgoing): void {
  const kept = keptOf(id).peek();
  const others = kept.outgoing.filter(({ key }) => key !== message.key);
  conversations.set(id, { ...kept, outgoing: [...others, message] });
}

export function removeOutgoing(id: string, key: string): void {
  const kept = keptOf(id).peek();
  conversations.set(id, { ...kept, outgoing: kept.outgoing.filter((each) => each.key !== key) });
}

/**
 * Removes the outgoing message that has become `message`. The event of a message may come before
 * the answer to the request that sent it, and the answer may be lost.
 */
export function removeArrived({ conversation_id: id, idempotency_key }: Message): void {
  // The engine puts the operator before the key.
  const key = idempotency_key?.split(" ").at(-1);
  const arrived = keptOf(id)
    .peek()
    .outgoing.find((each) => currentKey(each.key) === key);
  if (arrived !== undefined) removeOutgoing(id, arrived.key);
}

/** The ids of the conversations and contacts that have a draft, also from an earlier visit. */
export function draftedIds(): ReadonlySet<string> {
  const ids = conversations.stored().map(([id]) => id.replace(/:.*/, ""));
  return new Set(ids.filter((id) => isConversation(id) || id.startsWith("ct_")));
}

/** Removes what was typed in a conversation of an erased contact. */
export const forgetConversation = (id: string): void => conversations.forget(id);

/** Removes what was typed about a contact that was erased, or merged into another one. */
export function forgetContact(id: string): void {
  contactEdits.forget(id);
  observationDrafts.forget(observationDraftId(id));
}
