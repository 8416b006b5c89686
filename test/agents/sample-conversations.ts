/**
 * Messages to a plant shop, and the replies and effects that every model must produce. The clock
 * starts on Thursday, 2026-01-01.
 */
import { z } from "zod";
import type { CreatePlaybook } from "../../src/agents/playbooks/input-types.ts";
import type { CreateAgent } from "../../src/agents/types.ts";
import { action, type Action } from "../../src/host/actions.ts";
import { assistant, assistantPlaybooks } from "../../src/sandbox/sample-agent.ts";

export type Line =
  /** What the contact writes, and what the one reply must contain; null: no reply. */
  | { readonly says: string; readonly hears: string | readonly string[] | null }
  /** A person decides about the call that waits for approval. */
  | { readonly decides: "approve" | "deny"; readonly hears: string | null };

export interface Conversation {
  readonly title: string;
  readonly channel?: "webchat";
  readonly lines: readonly Line[];
  /** The host application's actions that were called, in order. */
  readonly calls?: readonly { readonly action: string; readonly input: object }[];
  /** The rule and reason of the hand-off. Without it, the agent is the handler at the end. */
  readonly handedOff?: { readonly rule: string | null; readonly reason: RegExp };
  /** Observations of a language model. `rules()` makes none. */
  readonly notices?: readonly {
    readonly content: string;
    readonly kind: string;
    readonly evidence: string;
  }[];
  /** The distinct tools that a language model calls. */
  readonly takes: readonly string[];
}

/** The sandbox's assistant with one more action. */
export const shopkeeper: Omit<CreateAgent, "playbook_ids"> = {
  ...assistant,
  instructions:
    "Help people with questions about the shop. Where you know no answer, leave the reply's text empty.",
  actions: ["look_up_orders"],
};

export const shopPlaybooks: readonly CreatePlaybook[] = [
  ...assistantPlaybooks,
  {
    name: "Order status",
    description: "Where the contact's order is.",
    enabled: true,
    trigger: { intents: ["order_status"] },
    steps: [
      { id: "order", type: "run", action: "look_up_orders", args: {} },
      { id: "tell", type: "send", text: "Your order is {{order.state}}." },
    ],
  },
  {
    name: "Cancel an order",
    description: "Calls an order off that has not been sent yet.",
    enabled: true,
    trigger: { keywords: ["cancel my order"], intents: ["cancel_order"] },
    slots: [
      {
        name: "order",
        type: "text",
        pattern: "[A-Z]{2}-[0-9]{4}",
        required: true,
        prompt: "Which order is it? Its number looks like XY-0000.",
      },
    ],
    steps: [
      { id: "which", type: "ask", slot: "order" },
      { id: "wait", type: "send", text: "I have a colleague look at {{order}}." },
      {
        id: "cancel",
        type: "run",
        action: "cancel_order",
        args: { order: "{{order}}" },
        on_error: "refused",
        next: "done",
      },
      { id: "refused", type: "send", text: "We can't cancel {{order}} any more." },
      { id: "over", type: "resolve" },
      {
        id: "done",
        type: "send",
        text: "{{order}} is cancelled, and {{cancel.refund}} come back to you.",
      },
    ],
  },
];

/** The host application's actions. They report each call to `called`. */
export function hostActions(
  called: (action: string, input: object, contact: { readonly id: string }) => void,
): Action[] {
  return [
    action({
      name: "book_appointment",
      description: "Puts an appointment into the calendar.",
      input: z.strictObject({ day: z.iso.date(), time: z.enum(["morning", "afternoon"]) }),
      risk: "write",
      idempotent: false,
      execute(input, { contact }) {
        called("book_appointment", input, contact);
        if (new Date(input.day).getUTCDay() === 0) throw new Error("closed on Sundays");
        return { booked: true };
      },
    }),
    action({
      name: "look_up_orders",
      description: "Where the customer's order is.",
      input: z.strictObject({}),
      risk: "read",
      idempotent: true,
      execute(input, { contact }) {
        called("look_up_orders", input, contact);
        return { state: "on its way" };
      },
    }),
    action({
      name: "cancel_order",
      description: "Cancels an order and gives the money back.",
      input: z.strictObject({ order: z.string() }),
      risk: "approval",
      idempotent: false,
      execute(input, { contact }) {
        called("cancel_order", input, contact);
        return { refund: "$30" };
      },
    }),
  ];
}

const book = (day: string, time: string) => ({ action: "book_appointment", input: { day, time } });
const unsure = assistant.fallback_text;
const message = assistant.handoff.message;

/** Conversations that the sandbox's own assistant must handle, too. */
export const assistantConversations: readonly Conversation[] = [
  {
    title: "asks when the shop is open",
    lines: [
      { says: "Hi there!", hears: "Hello" },
      { says: "When are you open on Saturday?", hears: "Saturday from 10 to 16" },
      { says: "And what does the delivery take?", hears: "two working days" },
      { says: "Thank you!", hears: "welcome" },
    ],
    takes: ["_reply"],
  },
  {
    title: "moves an appointment",
    lines: [
      { says: "Something came up, could we do another day?", hears: "Which day would suit you?" },
      { says: "I can't on Monday, but Friday would do", hears: "Morning or afternoon?" },
      { says: "afternoon please", hears: ["2026-01-02", "in the afternoon"] },
    ],
    calls: [book("2026-01-02", "afternoon")],
    takes: ["_start_playbook", "_slot"],
  },
  {
    title: "moves an appointment to a day that is not available",
    lines: [
      { says: "Can I reschedule?", hears: "Which day" },
      { says: "Sunday", hears: "Morning or afternoon?" },
      { says: "in the morning", hears: "so a colleague will get back to you" },
      { says: "OK", hears: null },
    ],
    calls: [book("2026-01-04", "morning")],
    handedOff: { rule: null, reason: /arranged by hand/ },
    takes: [],
  },
  {
    title: "asks something else in the middle of a playbook",
    lines: [
      { says: "I need to move my appointment", hears: "Which day" },
      {
        says: "Do you deliver, by the way?",
        hears: ["two working days", "Which day would suit you?"],
      },
      { says: "Next Friday", hears: "Morning or afternoon?" },
      { says: "the morning is fine", hears: ["2026-01-09", "in the morning"] },
    ],
    calls: [book("2026-01-09", "morning")],
    takes: ["_slot", "_reply"],
  },
  {
    title: "cancels a playbook",
    lines: [
      { says: "I'd like to reschedule", hears: "Which day" },
      { says: "Never mind", hears: "All right" },
      { says: "When do you close on Saturday?", hears: "Saturday from 10 to 16" },
    ],
    takes: ["_reply"],
  },
  {
    title: "complains",
    lines: [
      { says: "My monstera arrived broken, I want my money back", hears: "I'm sorry about that" },
      { says: "Hello??", hears: null },
    ],
    handedOff: { rule: null, reason: /A complaint/ },
    takes: [],
  },
];

export const shopConversations: readonly Conversation[] = [
  ...assistantConversations,
  {
    title: "cancels an order, which somebody has to approve",
    lines: [
      { says: "Please cancel my order", hears: "Which order" },
      { says: "It's AB-1234 I think, from last week", hears: "I have a colleague look at AB-1234" },
      { says: "Do you deliver?", hears: "two working days" },
      { decides: "approve", hears: "AB-1234 is cancelled, and $30 come back to you." },
      { says: "Thanks!", hears: "welcome" },
    ],
    calls: [{ action: "cancel_order", input: { order: "AB-1234" } }],
    takes: ["_slot", "_reply"],
  },
  {
    title: "wants to cancel an order, which somebody refuses",
    lines: [
      { says: "Please cancel my order", hears: "Which order" },
      { says: "AB-1234", hears: "I have a colleague look at AB-1234" },
      { decides: "deny", hears: "We can't cancel AB-1234 any more." },
    ],
    takes: [],
  },
  {
    title: "asks questions that the agent cannot answer",
    lines: [
      { says: "Who wrote Hamlet?", hears: unsure },
      { says: "What is the capital of Peru?", hears: unsure },
      { says: "Can you fix my bicycle?", hears: message },
      { says: "Hm", hears: null },
    ],
    handedOff: { rule: "failed_attempts", reason: /no answer/ },
    takes: ["_reply"],
  },
  {
    title: "asks for an order in the chat, and then for a person",
    channel: "webchat",
    lines: [
      { says: "Where is my order?", hears: "on its way" },
      { says: "I have a cat. Do you deliver?", hears: "two working days" },
      { says: "Can I talk to a human please", hears: message },
      { says: "Are you there?", hears: null },
    ],
    calls: [{ action: "look_up_orders", input: {} }],
    handedOff: { rule: "customer_request", reason: /person/ },
    notices: [{ content: "Has a cat.", kind: "fact", evidence: "I have a cat. Do you deliver?" }],
    takes: ["look_up_orders", "_reply"],
  },
];

/** The assistant's instructions do not cover this, so a language model hands off by itself. */
export const beyondHelp: Conversation = {
  title: "asks a question that is not about the shop",
  lines: [{ says: "Who wrote Hamlet?", hears: message }],
  handedOff: { rule: null, reason: /can't help/ },
  takes: ["_handoff"],
};

/** An agent without playbooks: the language model decides everything. */
export const clerk: CreateAgent = { ...shopkeeper, actions: ["look_up_orders", "cancel_order"] };

export const clerkConversations: readonly Conversation[] = [
  {
    title: "has an order cancelled, which somebody has to approve",
    lines: [
      { says: "Please cancel order AB-1234", hears: "A colleague has to approve that first." },
      { says: "Where are my other orders?", hears: "on its way" },
      { decides: "approve", hears: "$30" },
      { says: "Thanks!", hears: "welcome" },
    ],
    calls: [
      { action: "look_up_orders", input: {} },
      { action: "cancel_order", input: { order: "AB-1234" } },
    ],
    takes: ["cancel_order", "look_up_orders", "_reply"],
  },
  {
    title: "has an order cancelled, which somebody refuses",
    lines: [
      { says: "Please cancel order AB-1234", hears: "A colleague has to approve that first." },
      { decides: "deny", hears: "That didn't work, sorry." },
    ],
    takes: ["cancel_order", "_reply"],
  },
];
