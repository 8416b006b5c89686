/** What a person typed and has not sent. It survives a reload of the page. */
import { type Signal, signal } from "@preact/signals";
import { current, forget, recall, remember } from "../../../shared/browser/index.ts";

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

const maxOutgoing = 20;
const maxKept = 200;
const held = new Map<string, Signal<Kept>>();

const keyOf = (id: string): string => {
  const { account_id = "", mode = "", operator } = current.peek() ?? {};
  return `draft:${account_id}:${mode}:${operator?.id ?? ""}:${id}`;
};

/** What is kept of a conversation. */
export function keptOf(id: string): Signal<Kept> {
  const found = held.get(id);
  if (found !== undefined) return found;
  const created = signal(read(id));
  held.set(id, created);
  return created;
}

function read(id: string): Kept {
  try {
    const stored = JSON.parse(recall(keyOf(id)) ?? "null") as Partial<Kept> | null;
    const outgoing = stored?.outgoing ?? [];
    return {
      draft: { ...emptyDraft, ...stored?.draft },
      // A page that closed while it sent does not know the outcome. A repetition is safe.
      outgoing: outgoing.map((each) => ({ ...each, state: "failed" })),
    };
  } catch {
    return { draft: emptyDraft, outgoing: [] };
  }
}

function write(id: string, kept: Kept): void {
  keptOf(id).value = kept;
  const isEmpty =
    kept.outgoing.length === 0 && kept.draft.body === "" && kept.draft.media.length === 0;
  remember(keyOf(id), isEmpty ? undefined : JSON.stringify(kept));
  if (held.size > maxKept) prune(id);
}

/** Forgets the state, not the stored text, of conversations that were left long ago. */
function prune(except: string): void {
  for (const id of held.keys()) {
    if (held.size <= maxKept) return;
    if (id !== except) held.delete(id);
  }
}

export function setDraft(id: string, fields: Partial<Draft>): void {
  const kept = keptOf(id).peek();
  write(id, { ...kept, draft: { ...kept.draft, ...fields } });
}

/** Adds or replaces an outgoing message. */
export function setOutgoing(id: string, message: Outgoing): void {
  const kept = keptOf(id).peek();
  const others = kept.outgoing.filter(({ key }) => key !== message.key);
  write(id, { ...kept, outgoing: [...others, message].slice(-maxOutgoing) });
}

export function removeOutgoing(id: string, key: string): void {
  const kept = keptOf(id).peek();
  write(id, { ...kept, outgoing: kept.outgoing.filter((each) => each.key !== key) });
}

/** Removes everything that was typed in conversations of an erased contact. */
export function forgetDrafts(ids: readonly string[]): void {
  for (const id of ids) {
    held.delete(id);
    forget(keyOf(id), () => false);
  }
}
