/**
 * A customer texts a shop, and an agent answers: offline, with playbooks and one function of yours.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { action, type Conversation, type MessagingEngine } from "tidings";
import { z } from "zod";
import { bold, dim } from "./terminal.ts";

const customer = "+15005550106";
const customerTexts = [
  "Hi! When are you open on Saturday?",
  "Can I move my appointment?",
  "Next Friday",
  "afternoon please",
  "And my monstera arrived broken, I want a refund",
];

const pollMs = 100;
const answerTimeoutMs = 10_000;

export class AgentChat {
  readonly #lines: string[] = [];
  #outcome: "handed off" | "failed" | undefined;

  /** The playbook in the seeded sandbox calls this when it knows the day and the time. */
  readonly bookAppointment = action({
    name: "book_appointment",
    description: "Puts an appointment into the calendar.",
    input: z.strictObject({ day: z.iso.date(), time: z.enum(["morning", "afternoon"]) }),
    risk: "write",
    idempotent: true,
    execute: ({ day, time }) => {
      this.#add("your code", dim(`book_appointment(${day}, ${time})`));
      return { booked: true };
    },
  });

  get lines(): readonly string[] {
    if (this.#lines.length === 0) return [];
    const title = bold("Meanwhile, an agent answers a customer");
    return ["", ` ${title} ${dim("(offline rules; a language model works too)")}`, ...this.#lines];
  }

  /** Whether the chat ended as expected. Undefined until it ends. */
  get passed(): boolean | undefined {
    return this.#outcome && this.#outcome === "handed off";
  }

  /** Seeds the sandbox with an agent, then sends the customer's texts one by one. */
  async run(engine: MessagingEngine, stopped: AbortSignal): Promise<void> {
    try {
      await engine.sandbox.seed();
      for (const body of customerTexts) {
        const { conversation_id } = await engine.sandbox.inbound({ from: customer, body });
        this.#add("customer", body);
        const conversation = await waitForAnswer(engine, conversation_id, stopped);
        if (conversation === undefined) break;
        await this.#showAnswer(engine, conversation);
      }
    } catch (error) {
      if (!stopped.aborted) {
        this.#add("error", error instanceof Error ? error.message : String(error));
      }
    } finally {
      this.#outcome ??= "failed";
    }
  }

  async #showAnswer(engine: MessagingEngine, { id, handler }: Conversation): Promise<void> {
    const { data } = await engine.conversations.messages(id, { limit: 1 });
    this.#add("agent", data[0]?.body ?? "");
    if (handler !== "queue") return;
    this.#outcome = "handed off";
    this.#add("", dim("handed off: the conversation waits for a person, with a summary"));
  }

  #add(speaker: string, text: string): void {
    this.#lines.push(`  ${dim(speaker.padEnd(12))}${text.replaceAll("\n", " ")}`);
  }
}

/**
 * Returns the conversation once its last message is the agent's, or undefined after the timeout.
 */
async function waitForAnswer(
  engine: MessagingEngine,
  id: string,
  stopped: AbortSignal,
): Promise<Conversation | undefined> {
  for (let waited = 0; waited < answerTimeoutMs && !stopped.aborted; waited += pollMs) {
    await sleep(pollMs, undefined, { signal: stopped }).catch(() => undefined);
    const conversation = await engine.conversations.get(id);
    if (conversation.last_message?.direction === "outbound") return conversation;
  }
  return undefined;
}
