import type { ModelMessage, ModelTurn } from "../../../src/ports/agent-model.ts";

/** A Monday. */
export const monday = Date.UTC(2026, 4, 4, 9, 30);

/** Messages in order, each as `["contact", "Hi"]`. */
export type Said = readonly (readonly [from: ModelMessage["from"], text: string])[];

export function messagesOf(said: Said): ModelMessage[] {
  return said.map(([from, text], index) => ({ from, text, at: monday + index * 60_000 }));
}

/** A turn of a salon's agent. The contact's messages at the end are unanswered. */
export function nextPick(said: Said, changes: Partial<ModelTurn> = {}): ModelTurn {
  const open = said.toReversed().findIndex(([from]) => from !== "contact");
  return {
    task: { type: "answer" },
    agent: {
      name: "Ada",
      persona: { role: "the assistant of Salon Ada", tone: "warm and brief" },
      instructions: "Help customers of the salon.",
      // oxlint-disable-next-line unicorn/no-thenable -- a guideline's own field, and a string
      guidelines: [{ when: "somebody asks for a discount", then: "say that there is none" }],
      reply: { mode: "generated", max_chars: 320 },
    },
    channel: "sms",
    contact: { name: "Robin", language: null, time_zone: "UTC", sentiment: "neutral" },
    messages: messagesOf(said),
    unanswered: open === -1 ? said.length : open,
    knowledge: [],
    playbooks: [],
    intents: [],
    slots: null,
    actions: [],
    calls: [],
    observations: [],
    ...changes,
  };
}

export const never = new AbortController().signal;
