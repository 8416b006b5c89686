/** The shop's agent: the sandbox's assistant, who knows more about this shop. */
import type { CreatePlaybook, MessagingEngine, Playbook } from "../../../entry.ts";
import { appointment, assistant, complaint, openingHours } from "../../../../src/sandbox/index.ts";

const playbooks: readonly CreatePlaybook[] = [
  openingHours,
  {
    ...appointment,
    name: "Repotting appointment",
    description: "Finds a day and a time to have a plant repotted, and books it.",
    trigger: { keywords: ["appointment", "repot", "repotting"], priority: 1 },
  },
  complaint,
];

/** Creates the agent with its playbooks. */
export async function createAgent(engine: MessagingEngine): Promise<void> {
  const playbook_ids: Playbook["id"][] = [];
  for (const playbook of playbooks) {
    playbook_ids.push((await engine.playbooks.create(playbook)).id);
  }
  await engine.agents.create({
    ...assistant,
    name: "Fern",
    instructions:
      "Help people with questions about the shop and their orders, and book appointments. Leave " +
      "complaints to your colleagues.",
    playbook_ids,
    knowledge: [
      ...assistant.knowledge,
      {
        title: "Watering",
        text: "A monstera likes water once a week. Let the top of the soil dry first.",
      },
      {
        title: "Repotting",
        text: "Bring the plant and, if you have one, the new pot. The soil is on us.",
      },
      { title: "Presents", text: "We wrap a plant as a present, with a card, at no charge." },
    ],
    actions: ["book_appointment", "refund_order"],
    reply: { debounce_ms: 1_500 },
    fallback_text: "Good question. I ask a colleague, and you will hear from us here.",
  });
}
