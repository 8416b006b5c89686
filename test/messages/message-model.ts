/** A minimal model of a message: one per recipient, with a carrier that answers at once. */
import type { MessageStatus } from "../../src/kernel/message-status.ts";

export type Plan = "accept" | "refuse" | "busy" | "lose";

export interface Evidence {
  readonly status: "sent" | "unconfirmed" | "undelivered" | "delivered" | "read";
  readonly at: number;
}

/** How long this carrier's receipts are awaited, in milliseconds. */
export const receiptsMs = 90_000;
const delays = [1_000, 5_000, 30_000, 120_000, 600_000];
const ranks = ["sent", "unconfirmed", "undelivered", "delivered", "read"] as const;

export class ModelMessage {
  readonly plan: Plan;
  body: string | null;
  /** When it is handed over next; null if it will not be. */
  due: number | null;
  scheduled: boolean;
  end: "canceled" | "failed" | "ambiguous" | null = null;
  calls = 0;
  acceptedAt: number | null = null;
  readonly evidence: Evidence[] = [];

  constructor(plan: Plan, body: string, now: number, sendAt: number | null) {
    this.plan = plan;
    this.body = body;
    this.scheduled = sendAt !== null && sendAt > now;
    this.due = this.scheduled ? sendAt : now;
  }

  get status(): MessageStatus {
    const best = Math.max(-1, ...this.evidence.map(({ status }) => ranks.indexOf(status)));
    return ranks[best] ?? this.end ?? (this.scheduled ? "scheduled" : "queued");
  }

  get isWaiting(): boolean {
    return this.status === "scheduled" || this.status === "queued";
  }

  /** Applies what time alone changes until `now`. */
  pass(now: number): void {
    while (this.isWaiting && this.due !== null && this.due <= now) this.#call(this.due);
    const deadline = this.acceptedAt === null ? Infinity : this.acceptedAt + receiptsMs;
    if (this.status === "sent" && deadline <= now) {
      this.evidence.push({ status: "unconfirmed", at: deadline });
    }
  }

  #call(at: number): void {
    this.scheduled = false;
    const delay = delays[this.calls++];
    if (this.plan === "accept" || (this.plan === "busy" && this.calls > 2)) {
      this.acceptedAt = at;
      this.evidence.push({ status: "sent", at });
    } else if (this.plan === "busy" && delay !== undefined) {
      this.due = at + delay;
    } else {
      this.end = this.plan === "lose" ? "ambiguous" : "failed";
    }
  }

  /** Its visible state. */
  get shown(): object {
    const first = (...of: Evidence["status"][]): string | null => {
      const times = this.evidence.filter(({ status }) => of.includes(status)).map(({ at }) => at);
      return times.length === 0 ? null : new Date(Math.min(...times)).toISOString();
    };
    return {
      status: this.status,
      body: this.body,
      sent_at: first("sent", "undelivered", "delivered", "read"),
      delivered_at: first("delivered", "read"),
      read_at: first("read"),
    };
  }
}
