import type { CreateAgent, CreatePlaybook } from "../agents/index.ts";

/**
 * An action of the host application, with the arguments `{ day, time }`. Without it, a person books
 * the appointment.
 */
const bookingAction = "book_appointment";

/** Tells when the shop is open. */
export const openingHours: CreatePlaybook = {
  name: "Opening hours",
  description: "When the shop is open.",
  enabled: true,
  trigger: {
    keywords: ["opening hours", "open", "opened", "close", "closing time"],
    intents: ["opening_hours"],
  },
  steps: [
    {
      id: "answer",
      type: "instruct",
      text: "Say when the shop is open, by what you know of it.",
    },
  ],
};

/** Finds a day and a time, and books them. */
export const appointment: CreatePlaybook = {
  name: "Move an appointment",
  description: "Finds another day and time for an appointment.",
  enabled: true,
  trigger: {
    keywords: ["appointment", "reschedule"],
    intents: ["reschedule_appointment"],
    priority: 1,
  },
  slots: [
    { name: "day", type: "date", required: true, prompt: "Of course. Which day would suit you?" },
    {
      name: "time",
      type: "text",
      enum: ["morning", "afternoon"],
      required: true,
      prompt: "Morning or afternoon?",
    },
  ],
  steps: [
    { id: "which_day", type: "ask", slot: "day", on_fail: "by_hand" },
    { id: "which_time", type: "ask", slot: "time", on_fail: "by_hand" },
    {
      id: "book",
      type: "run",
      action: bookingAction,
      args: { day: "{{day}}", time: "{{time}}" },
      on_error: "by_hand",
      next: "confirm",
    },
    {
      id: "by_hand",
      type: "send",
      text: "I can't book that myself, so a colleague will get back to you.",
    },
    { id: "pass_on", type: "handoff", reason: "An appointment has to be arranged by hand." },
    { id: "confirm", type: "send", text: "Done: we see you on {{day}}, in the {{time}}." },
  ],
};

/** Apologizes and hands off. */
export const complaint: CreatePlaybook = {
  name: "Complaint",
  description: "Something went wrong and the contact is unhappy about it.",
  enabled: true,
  trigger: {
    keywords: ["complaint", "complain", "broken", "damaged", "refund", "unacceptable"],
    intents: ["complaint"],
    priority: 2,
  },
  steps: [
    {
      id: "sorry",
      type: "send",
      text: "I'm sorry about that. I pass you on to a colleague, who will put it right.",
    },
    { id: "pass_on", type: "handoff", reason: "A complaint." },
  ],
};

export const assistantPlaybooks: readonly CreatePlaybook[] = [openingHours, appointment, complaint];

/**
 * The sandbox's agent. Its three playbooks work with any model, also offline. They are added once
 * they have ids.
 */
export const assistant = {
  name: "Sandbox assistant",
  channels: ["sms", "mms", "webchat"],
  persona: { role: "assistant of a plant shop", tone: "friendly and brief" },
  instructions:
    "Help people with questions about the shop, and move appointments. Leave complaints to your " +
    "colleagues.",
  knowledge: [
    {
      title: "Opening hours",
      text:
        "We are open Monday to Friday from 9 to 18 and on Saturday from 10 to 16. On Sunday we " +
        "are closed.",
    },
    {
      title: "Delivery",
      text:
        "We deliver within the city in two working days. It costs $6, and from $40 on delivery " +
        "is free.",
    },
    {
      title: "Returns",
      text: "Plants that arrive unwell are replaced within 14 days; a photo is enough.",
    },
  ],
  reply: { debounce_ms: 500 },
  handoff: {
    rules: [
      { on: "customer_request" },
      { on: "sentiment_below", value: -0.5 },
      { on: "failed_attempts", value: 3 },
    ],
    message: "I pass you on to a colleague, who will write to you here.",
    on_no_humans: "leave_message",
  },
  fallback_text: "I'm not sure about that. Write PERSON, and a colleague answers you.",
} satisfies Omit<CreateAgent, "playbook_ids">;
