/** The handler of a conversation follows a transition table under every sequence of steps. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { Handler } from "../../../src/conversations/types.ts";
import { outcome } from "../../support/outcome.ts";
import { runs } from "../../support/runs.ts";
import { agency, type Agency } from "../world.ts";

type Step =
  | "contact writes"
  | "contact asks for people"
  | "contact sends a keyword"
  | "person replies"
  | "hand-off"
  | "hand-back"
  | "assign to a person"
  | "assign to the agent"
  | "assign to nobody"
  | "close"
  | "open"
  | "agent disabled"
  | "agent enabled"
  | "agent removed"
  | "queue time-out"
  | "reopen window over";

interface Setting {
  readonly on_no_humans: "stay_ai" | "leave_message";
  readonly resume_after_human: boolean;
}

/** What is known of a conversation and its agent. */
interface State {
  handler: Handler;
  isClosed: boolean;
  /** The conversation was closed longer ago than the reopen window. */
  isOver: boolean;
  agent: "enabled" | "disabled" | "removed";
  /** The agent has been the handler before. */
  hadIt: boolean;
  /** The assignee, which decides where a hand-back goes. */
  assignee: "agent" | "human" | null;
}

/** The handler afterwards; "same" if it does not change, "refused" if the step is an error. */
type To = Handler | "same" | "refused";
type Rule = To | ((state: State, setting: Setting) => To);
type Row = Readonly<Record<Handler, Rule>>;

const each = (to: Rule): Row => ({ none: to, ai: to, queue: to, human: to });
const unlessClosed = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([from, to]) => [
      from,
      (state: State, setting: Setting): To =>
        state.isClosed ? "refused" : typeof to === "function" ? to(state, setting) : to,
    ]),
  ) as Row;
const taken = ({ agent }: State): To => (agent === "enabled" ? "ai" : "same");
/** People keep it, unless they closed it and the contact returns to an agent that resumes. */
const theirs = (state: State, { resume_after_human }: Setting): To =>
  state.isClosed && state.isOver
    ? taken(state)
    : state.isClosed && state.hadIt && resume_after_human
      ? taken(state)
      : "same";
const back = ({ agent, assignee, hadIt }: State): To =>
  agent !== "removed" && (assignee === "agent" || hadIt) ? "ai" : "none";

/** The handler directly after the message, before the agent's turn. */
const inbound: Row = {
  none: taken,
  ai: (state) => (state.isClosed && state.isOver ? taken(state) : "same"),
  queue: theirs,
  human: theirs,
};
/** A keyword is answered without the agent. One that reopens the conversation still returns it. */
const keyword: Row = Object.fromEntries(
  Object.entries(inbound).map(([from, to]) => [
    from,
    (state: State, setting: Setting): To =>
      !state.isClosed || state.isOver ? "same" : typeof to === "function" ? to(state, setting) : to,
  ]),
) as Row;
const table: Readonly<Record<Step, Row>> = {
  "contact writes": inbound,
  "contact asks for people": inbound,
  "contact sends a keyword": keyword,
  "person replies": each("human"),
  "hand-off": unlessClosed({ none: "queue", ai: "queue", queue: "same", human: "queue" }),
  "hand-back": unlessClosed({ none: "same", ai: "same", queue: back, human: back }),
  "assign to a person": unlessClosed(each("human")),
  "assign to the agent": unlessClosed(
    each(({ agent }) => (agent === "removed" ? "refused" : "ai")),
  ),
  "assign to nobody": unlessClosed({ none: "none", ai: "none", queue: "queue", human: "queue" }),
  close: each("same"),
  open: each("same"),
  "agent disabled": each("same"),
  "agent enabled": each("same"),
  "agent removed": each("same"),
  "queue time-out": each("same"),
  "reopen window over": each("same"),
};
const steps = Object.keys(table) as Step[];

const queueSeconds = 60;
const minute = 60_000;
const reopenHours = 1;

class Conversation {
  readonly state: State = {
    handler: "none",
    isClosed: false,
    isOver: false,
    agent: "enabled",
    hadIt: false,
    assignee: null,
  };
  readonly agency: Agency;
  readonly setting: Setting;
  id = "";
  /** The contact has asked for people, and no agent has processed the message yet. */
  #unheard = false;
  /** It waits in the queue after a hand-off that its agent may end. */
  #waits = false;
  #said = 0;

  constructor(made: Agency, setting: Setting) {
    this.agency = made;
    this.setting = setting;
  }

  async take(step: Step): Promise<void> {
    const { state, setting } = this;
    const before = state.handler;
    const rule = table[step][before];
    const ruled = typeof rule === "function" ? rule(state, setting) : rule;
    const isNew = step.startsWith("contact") && state.isClosed && state.isOver;
    const expected: Handler =
      ruled === "same" || ruled === "refused" ? (isNew ? "none" : before) : ruled;
    const came = await outcome(this.#do(step));
    const where = `${step} from ${before} (${JSON.stringify(state)})`;
    expect([where, came === "done"]).toEqual([where, ruled !== "refused"]);
    expect([where, await this.#handler()]).toEqual([where, expected]);
    if (ruled === "refused") return;
    this.#note(step, expected, isNew);
    await this.#rest(step, where);
  }

  async #do(step: Step): Promise<unknown> {
    const { engine, agent, say, pass } = this.agency;
    const { conversations, agents } = engine;
    switch (step) {
      case "contact writes":
      case "contact asks for people": {
        // A pause before each message, so that the loop guard does not apply.
        await pass(2_000);
        const text = step === "contact writes" ? "hello" : "let me talk to a human";
        const { conversation_id } = await say(`${text} ${this.#said++}`);
        this.id = conversation_id;
        return;
      }
      case "contact sends a keyword":
        this.id = (await say("HELP")).conversation_id;
        return;
      case "person replies":
        return conversations.reply(this.id, { body: "This is Eve." });
      case "hand-off":
        return conversations.handOff(this.id, { reason: "I know better" });
      case "hand-back":
        return conversations.handBack(this.id);
      case "assign to a person":
        return conversations.assign(this.id, { type: "human", id: "eve" });
      case "assign to the agent":
        return conversations.assign(this.id, { type: "agent", id: agent.id });
      case "assign to nobody":
        return conversations.assign(this.id, null);
      case "close":
        return conversations.update(this.id, { status: "closed" });
      case "open":
        return conversations.update(this.id, { status: "open" });
      case "agent disabled":
        return this.state.agent === "removed"
          ? undefined
          : agents.update(agent.id, { enabled: false });
      case "agent enabled":
        return this.state.agent === "removed"
          ? undefined
          : agents.update(agent.id, { enabled: true });
      case "agent removed":
        return this.state.agent === "removed" ? undefined : agents.remove(agent.id);
      case "queue time-out":
      case "reopen window over":
        return undefined;
    }
  }

  #note(step: Step, handler: Handler, isNew: boolean): void {
    const { state } = this;
    if (isNew) Object.assign(state, { hadIt: false, assignee: null });
    if (isNew) this.#unheard = false;
    if (handler !== state.handler || step === "close") this.#waits = false;
    if (step === "hand-off" && state.handler !== "queue") {
      this.#waits = state.hadIt && state.agent === "enabled";
      if (state.assignee === "human") state.assignee = null;
    }
    if (step.startsWith("assign")) {
      state.assignee =
        step === "assign to the agent" ? "agent" : step === "assign to a person" ? "human" : null;
    }
    if (handler === "ai") Object.assign(state, { hadIt: true, assignee: "agent" });
    if (step === "person replies") {
      this.#unheard = false;
      if (state.assignee === "agent") state.assignee = null;
    }
    if (step === "contact asks for people") this.#unheard = true;
    if (step.startsWith("contact") || step === "person replies" || step === "open") {
      state.isClosed = false;
    }
    if (step === "close") {
      Object.assign(state, { isClosed: true, isOver: state.isClosed && state.isOver });
    }
    if (step === "agent disabled" && state.agent !== "removed") state.agent = "disabled";
    if (step === "agent enabled" && state.agent !== "removed") state.agent = "enabled";
    if (step === "agent removed") state.agent = "removed";
    if (!state.isClosed) state.isOver = false;
    state.handler = handler;
  }

  /** Lets the agent's turn and timers run, and checks the handler afterwards. */
  async #rest(step: Step, where: string): Promise<void> {
    const { state, setting } = this;
    const long = {
      "queue time-out": 2 * minute,
      "reopen window over": (reopenHours + 1) * 60 * minute,
    };
    const waited = step === "queue time-out" || step === "reopen window over";
    await this.agency.pass(waited ? long[step] : 5_000);
    if (step === "reopen window over" && state.isClosed) state.isOver = true;
    const after = await this.#handler();
    const isHeard = step.startsWith("contact") && step !== "contact sends a keyword";
    if (
      isHeard &&
      state.handler === "ai" &&
      (state.agent !== "enabled" || step === "contact asks for people")
    ) {
      expect([where, after]).toEqual([where, "queue"]);
    } else if (
      waited &&
      this.#waits &&
      setting.on_no_humans === "stay_ai" &&
      state.agent === "enabled" &&
      !this.#unheard
    ) {
      expect([where, after]).toEqual([where, "ai"]);
    }
    const mayStay = setting.on_no_humans === "stay_ai" && state.hadIt && !state.isClosed;
    const allowed: Handler[] = [state.handler];
    // An agent may hand off in its turn, and a queue may time out during a long step.
    if (state.handler === "ai" && !state.isClosed) allowed.push("queue");
    if (state.handler === "queue" && mayStay) allowed.push("ai");
    expect([where, allowed]).toEqual([where, expect.arrayContaining([after])]);
    if (after === "queue" && state.handler === "ai") {
      this.#unheard = false;
      this.#waits = false;
      if (state.assignee === "human") state.assignee = null;
    }
    if (after === "ai" && state.handler === "queue") {
      this.#waits = false;
      state.assignee = "agent";
    }
    state.handler = after;
  }

  async #handler(): Promise<Handler> {
    return (await this.agency.engine.conversations.get(this.id)).handler;
  }
}

class Take implements fc.AsyncCommand<object, Conversation> {
  readonly #step: Step;
  constructor(step: Step) {
    this.#step = step;
  }
  check = (): boolean => true;
  run(_: object, conversation: Conversation): Promise<void> {
    return conversation.take(this.#step);
  }
  toString(): string {
    return this.#step;
  }
}

describe("the handler of a conversation", () => {
  const settings: fc.Arbitrary<Setting> = fc.record({
    on_no_humans: fc.constantFrom("stay_ai", "leave_message"),
    resume_after_human: fc.boolean(),
  });
  const orders = fc.commands(
    [...steps, ...steps.filter((step) => step !== "agent removed")].map((step) =>
      fc.constant(new Take(step)),
    ),
    { maxCommands: 25, size: "max" },
  );

  test("changes only as the transition table says", async () => {
    await fc.assert(
      fc.asyncProperty(settings, orders, async (setting, commands) => {
        const made = await agency(memory(), {
          agent: {
            reply: { debounce_ms: 500 },
            limits: { max_ai_turns: 1_000, max_replies_per_minute: 60 },
            handoff: {
              ...setting,
              rules: [{ on: "customer_request" }],
              queue_timeout_seconds: queueSeconds,
            },
          },
          options: { reopenHours },
        });
        const conversation = new Conversation(made, setting);
        await fc.asyncModelRun(async () => {
          await conversation.take("contact writes");
          return { model: {}, real: conversation };
        }, commands);
        await made.engine.stop({ deadlineMs: 0 });
      }),
      { numRuns: runs(30) },
    );
  });

  test.each(["HELP", "STOP"])(
    "is the agent again when the contact reopens the conversation of people with %s",
    async (keyword) => {
      const { engine, agent, ask, say, pass, replies, conversation } = await agency(memory());
      await ask("Hello");
      const { id } = await conversation();
      await engine.conversations.reply(id, { body: "This is Eve." });
      await engine.conversations.update(id, { status: "closed" });
      await say(keyword);
      await pass();
      expect(await conversation()).toMatchObject({
        id,
        handler: "ai",
        assignee: { type: "agent", id: agent.id },
      });
      expect(await replies(), "the agent does not answer a keyword").toHaveLength(1);
      const { contact } = await conversation();
      await engine.contacts.setConsent(contact.id, "text", { status: "opted_in" });
      expect(await ask("Are you open?")).toEqual(["You said: Are you open?"]);
    },
  );

  test("stays the queue, and the contact gets the fallback text once, if no person replies in time", async () => {
    const { ask, pass, thread, conversation } = await agency(memory(), {
      agent: {
        fallback_text: "Nobody is there at the moment.",
        handoff: {
          rules: [{ on: "customer_request" }],
          queue_timeout_seconds: queueSeconds,
          on_no_humans: "leave_message",
        },
      },
    });
    await ask("Let me talk to a human");
    await pass(3 * queueSeconds * 1_000);
    await ask("Anybody?");
    await pass(3 * queueSeconds * 1_000);
    const told = (await thread())
      .filter(({ author }) => author.type === "system")
      .map(({ body }) => body);
    expect(told).toEqual(["Nobody is there at the moment."]);
    expect(await conversation()).toMatchObject({ handler: "queue" });
  });
});
