/** Why conversations wait for a person. */
import { signal } from "@preact/signals";
import type { Event, Page } from "../../../../../src/index.ts";
import { api, keepLatest, may, Repetition } from "../../../shared/browser/index.ts";

/** Why a conversation waits for a person. */
export interface Handoff {
  readonly reason: string;
  readonly summary: string;
  readonly at: string;
}

/** The hand-offs that the page knows, by conversation. */
export const handoffs = signal<ReadonlyMap<string, Handoff>>(new Map());
/** The maximum number of hand-offs that the page keeps. */
const maxKept = 500;
const repetition = new Repetition();

/** Keeps the latest hand-off of its conversation. */
export function noteHandoff({ data, created_at }: Event<"conversation.handoff">): void {
  // A later one may have arrived while the latest hand-offs were read.
  if ((handoffs.peek().get(data.conversation_id)?.at ?? "") > created_at) return;
  const next = new Map(handoffs.peek());
  // Moves it behind those that were handed off before.
  next.delete(data.conversation_id);
  next.set(data.conversation_id, { reason: data.reason, summary: data.summary, at: created_at });
  keepLatest(next, maxKept);
  handoffs.value = next;
}

/** Forgets the hand-off of a conversation that is gone. */
export function forgetHandoff(conversationId: string): void {
  const left = new Map(handoffs.peek());
  left.delete(conversationId);
  handoffs.value = left;
}

/** Reads the reasons of the latest hand-offs. */
export async function loadHandoffs(): Promise<void> {
  if (!may("events:read") || !may("conversations:read")) return;
  try {
    const { data } = await api.get<Page<Event>>("v1/events", {
      query: { type: "conversation.handoff", limit: 100 },
    });
    for (const event of data.toReversed()) {
      if (event.type === "conversation.handoff") noteHandoff(event);
    }
    repetition.noteSuccess();
  } catch (error) {
    // After another error, the reason is missing until the next hand-off.
    repetition.noteFailure(error, () => void loadHandoffs());
  }
}
