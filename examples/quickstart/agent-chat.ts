/** Somebody texts a shop whose agent answers: offline, with playbooks, and one function of the host's. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AccountHandle, Conversation } from "tidings";
import { action } from "tidings";
import { z } from "zod";
import { bold, dim } from "./terminal.ts";

const person = "+15005550106";
const words = [
  "Hi! When are you open on Saturday?",
  "Can I move my appointment?",
  "Next Friday",
  "afternoon please",
  "And my monstera arrived broken, I want a refund",
];

const lookEveryMs = 100;
/** In milliseconds; an agent that says nothing by then has failed. */
const longestMs = 10_000;

export class Chat {
  readonly #lines: string[] = [];
  #account: AccountHandle | undefined;
  #end: "handed off" | "failed" | undefined;

  /** What the sandbox's assistant calls when it knows day and time. */
  readonly booking = action({
    name: "book_appointment",
    description: "Puts an appointment into the calendar.",
    input: z.strictObject({ day: z.iso.date(), time: z.enum(["morning", "afternoon"]) }),
    risk: "write",
    idempotent: true,
    execute: ({ day, time }) => {
      this.#tell("your code", dim(`book_appointment(${day}, ${time})`));
      return { booked: true };
    },
  });

  get lines(): readonly string[] {
    return this.#lines.length === 0
      ? []
      : [
          "",
          ` ${bold("Meanwhile, an agent")} ${dim("(offline; any language model does too)")}`,
          ...this.#lines,
        ];
  }

  /** Whether it ended as it should; undefined while it goes on. */
  get passed(): boolean | undefined {
    return this.#end && this.#end === "handed off";
  }

  /** Seeds the account's sandbox, and writes to it as a person would. */
  async run(account: AccountHandle, stopped: AbortSignal): Promise<void> {
    this.#account = account;
    try {
      await account.sandbox.seed();
      for (const body of words) {
        const { conversation_id } = await account.sandbox.inbound({ from: person, body });
        this.#tell("a customer", body);
        if (!(await this.#answered(conversation_id, stopped))) break;
      }
    } catch (error) {
      if (!stopped.aborted) this.#tell("", error instanceof Error ? error.message : String(error));
    } finally {
      this.#end ??= "failed";
    }
  }

  async #answered(id: string, stopped: AbortSignal): Promise<boolean> {
    for (let waited = 0; waited < longestMs && !stopped.aborted; waited += lookEveryMs) {
      await sleep(lookEveryMs, undefined, { signal: stopped }).catch(() => undefined);
      const conversation = await this.#account?.conversations.get(id);
      if (conversation?.last_message?.direction !== "outbound") continue;
      await this.#hear(conversation);
      return true;
    }
    return false;
  }

  async #hear({ id, handler }: Conversation): Promise<void> {
    const thread = await this.#account?.conversations.messages(id, { limit: 1 });
    this.#tell("the agent", thread?.data[0]?.body ?? "");
    if (handler !== "queue") return;
    this.#end = "handed off";
    this.#tell("", dim("handed off: it waits for a person, with a summary"));
  }

  #tell(who: string, text: string): void {
    this.#lines.push(`  ${dim(who.padEnd(12))}${text.replaceAll("\n", " ")}`);
  }
}
