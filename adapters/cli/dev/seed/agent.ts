/** The shop's agent: the sandbox's assistant, who knows more about this shop. */
import { appointment, assistant, complaint, openingHours } from "../../../../src/sandbox/index.ts";
import type { CreateAgent, CreatePlaybook, MessagingEngine, Playbook } from "../../../entry.ts";

/**
 * What the agent knows besides what every sandbox's assistant does. The demo page says the same.
 */
const knowledge: NonNullable<CreateAgent["knowledge"]> = [
  {
    title: "Address of the shop",
    text: "You find us at 12 Alder Lane, by the river. Look for the green door.",
  },
  {
    title: "Plants and prices: monstera, olive tree, orchid, Boston fern",
    text:
      "This week we have the monstera for $38, the olive tree for $54, the orchid for $29 and " +
      "the Boston fern for $22.",
  },
  {
    title: "Watering",
    text:
      "A monstera likes water once a week. Let the top of the soil dry first. So does an orchid. " +
      "A fern likes water twice a week, and an olive tree only every ten days.",
  },
  {
    title: "Light, sun and shade",
    text:
      "An olive tree likes a bright window. A Boston fern is the plant for a shady corner. A " +
      "monstera and an orchid like light without direct sun.",
  },
  {
    title: "Yellow leaves",
    text:
      "Leaves mostly turn yellow because the soil is too wet. Let it dry for ten days. If that " +
      "does not help, send us a photo.",
  },
  {
    title: "Repotting",
    text:
      "Repotting takes half an hour, while you wait. It costs $12. Just ask for an " +
      "appointment.",
  },
  {
    title: "What to bring to a repotting",
    text: "Bring the plant and, if you have one, the new pot. The soil is on us.",
  },
  { title: "Presents", text: "We wrap a plant as a present, with a card, at no charge." },
];

const playbooks: readonly CreatePlaybook[] = [
  openingHours,
  {
    ...appointment,
    name: "Make an appointment",
    description: "Finds a day and a time to have a plant repotted, and books it.",
    steps: appointment.steps.map((step) =>
      step.id === "confirm" && step.type === "send"
        ? { ...step, text: "Done: we see you on {{book.day}}, in the {{time}}." }
        : step,
    ),
  },
  complaint,
];

/** A person gets each question that the agent cannot answer. */
const rules: NonNullable<CreateAgent["handoff"]>["rules"] = [
  ...assistant.handoff.rules.filter(({ on }) => on !== "failed_attempts"),
  { on: "failed_attempts", value: 1 },
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
    knowledge: [...assistant.knowledge, ...knowledge],
    actions: ["book_appointment", "refund_order"],
    reply: { debounce_ms: 1_500 },
    handoff: { ...assistant.handoff, rules },
  });
}
