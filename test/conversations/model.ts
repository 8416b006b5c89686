/** A minimal model of conversations. Each person uses one medium. */

export interface ModelConversation {
  status: "open" | "snoozed" | "closed";
  handler: "ai" | "queue" | "human" | "none";
  assignee: { type: "human" | "agent"; id: string } | null;
  labels: string[];
  snoozed_until: number | null;
  closed_at: number | null;
  unread_count: number;
  /** Since when the contact waits for a person. */
  waiting_since: number | null;
  /** When the contact wrote the first message that nobody has answered, whoever the handler is. */
  unanswered_since: number | null;
  /** Whether the account's only agent was assigned, so that a hand-back goes to it. */
  hasAgent: boolean;
  /** The messages, oldest first. */
  bodies: string[];
}

export const theAgent = { type: "agent", id: "the agent" } as const;

/** Each person's conversations in order of start. The last one is current. */
export type Model = ModelConversation[][];

export const reopenMs = 3_600_000;

export type Change =
  | { readonly kind: "inbound" | "send" | "open"; readonly person: number; readonly body: string }
  | { readonly kind: "reply"; readonly person: number; readonly ago: number; readonly body: string }
  | {
      readonly kind: "status";
      readonly person: number;
      readonly ago: number;
      readonly status: "open" | "closed";
    }
  | { readonly kind: "snooze"; readonly person: number; readonly ago: number; readonly ms: number }
  | {
      readonly kind: "assign";
      readonly person: number;
      readonly ago: number;
      readonly assignee: ModelConversation["assignee"];
    }
  | {
      readonly kind: "labels";
      readonly person: number;
      readonly ago: number;
      readonly labels: string[];
    }
  | {
      readonly kind: "read" | "unread" | "handOff" | "handBack";
      readonly person: number;
      readonly ago: number;
    };

/** The conversation that a change targets: `ago` before the person's last one. */
export function targetOf<T>(of: readonly T[], ago: number): T | undefined {
  return of[Math.max(0, of.length - 1 - ago)];
}

/** Applies what time alone changes until `now`. */
export function pass(model: Model, now: number): void {
  for (const each of model.flat()) {
    if (each.snoozed_until !== null && each.snoozed_until <= now) wake(each);
  }
}

/** Changes the model and returns the engine's expected answer. `target` predates the race. */
export function apply(
  model: Model,
  change: Change,
  target: number,
  now: number,
): "done" | "conflict" {
  const all = model[change.person] ?? [];
  const last = all.at(-1);
  if (change.kind === "inbound") {
    const reopens = last?.status === "closed" && now - (last.closed_at ?? 0) < reopenMs;
    const into = last !== undefined && (last.status !== "closed" || reopens) ? last : begin(all);
    wake(into);
    into.unread_count++;
    if (into.handler !== "ai") into.waiting_since ??= now;
    // An agent that handles a reopened conversation need not answer what came before it was closed.
    if (into.handler === "ai" && reopens) into.unanswered_since = now;
    into.unanswered_since ??= now;
    into.bodies.push(change.body);
    return "done";
  }
  if (change.kind === "send" || change.kind === "open") {
    const into = last !== undefined && last.status !== "closed" ? last : begin(all);
    if (change.kind === "send") {
      into.bodies.push(change.body);
      // Who waits for a person after a hand-off is not answered by a program.
      if (into.handler !== "queue") into.waiting_since = null;
      into.unanswered_since = null;
    }
    return "done";
  }
  const each = all[target];
  if (each === undefined) throw new Error("there is no such conversation");
  const superseded = each.status === "closed" && each !== last;
  switch (change.kind) {
    case "reply":
      if (superseded) return "conflict";
      if (each.status === "closed") wake(each);
      each.handler = "human";
      if (each.assignee?.type !== "human") each.assignee = null;
      each.bodies.push(change.body);
      Object.assign(each, { waiting_since: null, unanswered_since: null });
      return "done";
    case "status":
      if (change.status === "closed") {
        each.closed_at ??= now;
        Object.assign(each, { status: "closed", snoozed_until: null, waiting_since: null });
        return "done";
      }
      if (superseded) return "conflict";
      if (each.handler === "queue") each.waiting_since ??= now;
      forgetOld(each, now);
      wake(each);
      return "done";
    case "snooze":
      if (superseded) return "conflict";
      if (each.handler === "queue") each.waiting_since ??= now;
      forgetOld(each, now);
      Object.assign(each, { status: "snoozed", snoozed_until: now + change.ms, closed_at: null });
      return "done";
    case "assign": {
      if (each.status === "closed") return "conflict";
      const { assignee } = change;
      if (each.handler === "ai") each.waiting_since = each.unanswered_since;
      const waits = each.handler === "human" || each.handler === "queue";
      const nobody = waits ? "queue" : "none";
      each.handler = assignee === null ? nobody : assignee.type === "human" ? "human" : "ai";
      each.assignee = assignee;
      if (each.handler === "ai") giveToAgent(each);
      if (each.handler === "queue") each.waiting_since ??= now;
      each.hasAgent ||= assignee?.type === "agent";
      return "done";
    }
    case "labels":
      each.labels = change.labels;
      return "done";
    case "read":
      each.unread_count = 0;
      return "done";
    case "unread":
      each.unread_count = Math.max(1, each.unread_count);
      return "done";
    case "handOff":
      if (each.status === "closed") return "conflict";
      if (each.handler !== "queue") wake(each);
      if (each.handler !== "queue" && each.assignee?.type === "human") each.assignee = null;
      each.handler = "queue";
      each.waiting_since ??= now;
      return "done";
    case "handBack":
      if (each.status === "closed") return "conflict";
      if (each.handler === "none") return "done";
      each.handler = each.hasAgent ? "ai" : "none";
      each.assignee = each.hasAgent ? theAgent : null;
      if (each.hasAgent) giveToAgent(each);
      return "done";
  }
}

/** An agent does not answer the messages of a conversation that a person reopens late. */
function forgetOld(each: ModelConversation, now: number): void {
  const { handler, closed_at } = each;
  if (handler === "ai" && closed_at !== null && closed_at <= now - reopenMs) {
    each.unanswered_since = null;
  }
}

/** The contact waits for no person, and an agent looks at once at what a person had snoozed. */
function giveToAgent(each: ModelConversation): void {
  each.waiting_since = null;
  wake(each);
}

function wake(each: ModelConversation): void {
  Object.assign(each, { status: "open", snoozed_until: null, closed_at: null });
}

function begin(all: ModelConversation[]): ModelConversation {
  const made: ModelConversation = {
    status: "open",
    handler: "none",
    assignee: null,
    labels: [],
    snoozed_until: null,
    closed_at: null,
    unread_count: 0,
    waiting_since: null,
    unanswered_since: null,
    hasAgent: false,
    bodies: [],
  };
  all.push(made);
  return made;
}
