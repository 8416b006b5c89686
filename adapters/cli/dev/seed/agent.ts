/** The shop's agent and its playbooks. They work with any model, also without one. */
import type { CreatePlaybook, MessagingEngine, Playbook } from "../../../entry.ts";

const playbooks: readonly CreatePlaybook[] = [
  {
    name: "Opening hours",
    description: "When the shop is open.",
    enabled: true,
    trigger: { keywords: ["open", "opening hours", "close", "closing time"] },
    steps: [
      {
        id: "answer",
        type: "instruct",
        text: "Say when the shop is open, by what you know of it.",
      },
    ],
  },
  {
    name: "Repotting appointment",
    description: "Finds a day and a time to have a plant repotted, and books it.",
    enabled: true,
    trigger: { keywords: ["appointment", "repot", "repotting"], priority: 1 },
    slots: [
      { name: "day", type: "date", required: true, prompt: "Happily! Which day would suit you?" },
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
        action: "book_appointment",
        args: { day: "{{day}}", time: "{{time}}" },
        on_error: "by_hand",
        next: "confirm",
      },
      { id: "by_hand", type: "send", text: "I can't book that myself. A colleague will help you." },
      { id: "pass_on", type: "handoff", reason: "An appointment has to be booked by hand." },
      { id: "confirm", type: "send", text: "Done: we see you on {{day}}, in the {{time}}." },
    ],
  },
  {
    name: "Complaint",
    description: "Something went wrong, and the customer is unhappy about it.",
    enabled: true,
    trigger: { keywords: ["complaint", "broken", "damaged", "refund", "dead"], priority: 2 },
    steps: [
      { id: "sorry", type: "send", text: "I'm sorry about that. A colleague will put it right." },
      { id: "pass_on", type: "handoff", reason: "A complaint about an order." },
    ],
  },
];

/** Creates the agent with its playbooks. */
export async function createAgent(engine: MessagingEngine): Promise<void> {
  const playbook_ids: Playbook["id"][] = [];
  for (const playbook of playbooks) {
    playbook_ids.push((await engine.playbooks.create(playbook)).id);
  }
  await engine.agents.create({
    name: "Fern",
    channels: ["sms", "mms", "webchat"],
    persona: { role: "assistant of a plant shop", tone: "friendly and brief" },
    instructions:
      "Help people with questions about the shop and their orders, and book appointments. Leave " +
      "complaints to your colleagues.",
    playbook_ids,
    knowledge: [
      {
        title: "Opening hours",
        text:
          "We are open Monday to Friday from 9 to 18 and on Saturday from 10 to 16. On Sunday we " +
          "are closed.",
      },
      {
        title: "Delivery",
        text: "We deliver within the city in two working days. Delivery is free from $40.",
      },
      {
        title: "Watering",
        text: "A monstera likes water once a week. Let the top of the soil dry first.",
      },
      {
        title: "Repotting",
        text: "Bring the plant and, if you have one, the new pot. The soil is on us.",
      },
      { title: "Presents", text: "We wrap a plant as a present, with a card, at no charge." },
      {
        title: "Returns",
        text: "Plants that arrive unwell are replaced within 14 days. A photo is enough.",
      },
    ],
    actions: ["book_appointment", "refund_order"],
    reply: { debounce_ms: 1_500 },
    handoff: {
      rules: [
        { on: "customer_request" },
        { on: "sentiment_below", value: -0.5 },
        { on: "failed_attempts", value: 3 },
      ],
      message: "I pass you on to a colleague, who will write to you here.",
      on_no_humans: "leave_message",
    },
    fallback_text: "Good question. I ask a colleague, and you will hear from us here.",
  });
}
