import type { JobOrder, Lane } from "../../queue/index.ts";
import type { ConsumerEventRow } from "./rows.ts";

/** The job that calls the handler with the events of one key, in order. */
export function consumeJob(
  { consumer, key }: Pick<ConsumerEventRow, "consumer" | "key">,
  due_at: number,
): JobOrder<"consume"> {
  return {
    kind: "consume",
    key: { consumer, key },
    account_id: null,
    mode: null,
    lane: consumerLane(consumer),
    due_at,
  };
}

export function consumerLane(consumer: string): Lane<"consume"> {
  return { kind: "consume", slow: false, consumer };
}
