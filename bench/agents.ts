import { rules } from "../adapters/models/index.ts";
import type { MessagingEngine } from "../src/engine.ts";
import { recipient, withEngine, type StorageName } from "./support/engines.ts";
import { concurrently, count, median, scaled, table } from "./support/measure.ts";

const questions = scaled(2_000);
const rounds = 3;
/** The fairness test: this many people ask, and each asks again after the first answer. */
const people = scaled(10_000);
const questionsPerPerson = 2;
const atOnce = 64;

const question = "When are you open on Saturday?";
const knowledge = [
  {
    title: "Opening hours",
    text: "We are open on weekdays from 9 to 18 and on Saturday from 10 to 16.",
  },
  { title: "Delivery", text: "We deliver within the city in two working days." },
  { title: "Returns", text: "What arrives broken is replaced within 14 days; a photo is enough." },
];

/**
 * What an agent's turn costs compared with a reply that the host application sends, and whether
 * many contacts who ask at once are answered fairly.
 */
export async function agents(): Promise<string> {
  const rows: string[][] = [];
  let turnOnMemory = 0;
  for (const storage of ["memory", "SQLite"] as const) {
    const byHost: number[] = [];
    const byAgent: number[] = [];
    for (let round = 0; round < rounds; round++) {
      byHost.push(await cpuPerAnswer(storage, false));
      byAgent.push(await cpuPerAnswer(storage, true));
    }
    const [host, agent] = [median(byHost), median(byAgent)];
    if (storage === "memory") turnOnMemory = agent - host;
    rows.push([storage, host.toFixed(3), agent.toFixed(3), (agent - host).toFixed(3)]);
  }
  console.log(
    "\nCPU time in ms for one question and its answer, until the answer is delivered" +
      ` (${count(questions)} questions, ${atOnce} at a time; the agent uses the rules model)\n`,
  );
  console.log(table(["storage", "host answers", "agent answers", "the agent's turn"], rows));
  const { seconds, unansweredShare } = await fairness();
  console.log(
    `\nFairness on memory: ${count(people)} contacts ask ${questionsPerPerson} questions each.` +
      ` All were answered after ${seconds.toFixed(1)} s.` +
      ` When half of the answers were sent, ${(unansweredShare * 100).toFixed(2)} % of the ` +
      "contacts had none.",
  );
  return (
    `agents: a turn with the rules model takes ${turnOnMemory.toFixed(2)} ms of CPU time ` +
    "on memory"
  );
}

/** Runs `use` with a started engine whose agents use the rules model. */
function withStartedEngine<T>(
  storage: StorageName,
  use: (engine: MessagingEngine) => Promise<T>,
): Promise<T> {
  return withEngine(
    storage,
    async (engine) => {
      await engine.start();
      return use(engine);
    },
    { agents: { model: rules() } },
  );
}

async function createAgent(engine: MessagingEngine): Promise<void> {
  const limits = { max_replies_per_minute: 60 };
  await engine.agents.create({
    name: "Ada",
    channels: ["sms"],
    knowledge,
    reply: { debounce_ms: 0 },
    limits,
  });
}

/** The CPU time in milliseconds for one question and its answer, until the answer is delivered. */
function cpuPerAnswer(storage: StorageName, byAgent: boolean): Promise<number> {
  return withStartedEngine(storage, async (engine) => {
    if (byAgent) await createAgent(engine);
    const delivered = deliveries(engine, questions);
    const before = process.cpuUsage();
    await concurrently(questions, atOnce, async (i) => {
      const { conversation_id, from } = await engine.sandbox.inbound({
        from: recipient("new", i),
        body: question,
      });
      if (!byAgent) {
        await engine.messages.send({
          to: from,
          body: knowledge[0]?.text ?? "",
          metadata: { conversation_id },
        });
      }
    });
    await delivered;
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / questions;
  });
}

/** Resolves when `messages` messages are delivered. */
function deliveries(engine: MessagingEngine, messages: number): Promise<void> {
  return new Promise((resolve) => {
    let left = messages;
    engine.on("message.sent", () => {
      if (--left === 0) resolve();
    });
  });
}

/** Every contact's first question comes before any second one. */
function fairness(): Promise<{ readonly seconds: number; readonly unansweredShare: number }> {
  return withStartedEngine("memory", async (engine) => {
    await createAgent(engine);
    const answersByContact = new Map<string, number>();
    let answers = 0;
    let unansweredShare = 0;
    const allAnswered = new Promise<void>((resolve) => {
      engine.on("message.sent", ({ data: { to } }) => {
        const received = (answersByContact.get(to) ?? 0) + 1;
        answersByContact.set(to, received);
        answers++;
        if (answers === people) unansweredShare = (people - answersByContact.size) / people;
        if (answers === people * questionsPerPerson) resolve();
        else if (received < questionsPerPerson) {
          void engine.sandbox.inbound({ from: to, body: question });
        }
      });
    });
    const began = performance.now();
    await concurrently(people, atOnce, (i) =>
      engine.sandbox.inbound({ from: recipient("new", i), body: question }),
    );
    await allAnswered;
    return { seconds: (performance.now() - began) / 1_000, unansweredShare };
  });
}
