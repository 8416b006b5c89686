import { rules } from "../adapters/models/index.ts";
import type { MessagingEngine } from "../src/engine.ts";
import { recipient, type StorageName, withEngine } from "./engines.ts";
import { concurrently, median } from "./measure.ts";
import { count, ratio, table } from "./table.ts";

const questions = 2_000;
const rounds = 3;
const crowd = 10_000;
/** What each of the crowd asks, one after the other. */
const each = 2;
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

/** What an agent's turn costs, beside the same answer sent by the host, and whether a crowd is answered fairly. */
export async function agents(): Promise<string> {
  const rows: string[][] = [];
  let onMemory = 0;
  for (const storage of ["memory", "SQLite"] as const) {
    const host: number[] = [];
    const agent: number[] = [];
    for (let round = 0; round < rounds; round++) {
      host.push(await answered(storage, false));
      agent.push(await answered(storage, true));
    }
    const [bare, turn] = [median(host), median(agent)];
    if (storage === "memory") onMemory = turn - bare;
    rows.push([storage, bare.toFixed(3), turn.toFixed(3), (turn - bare).toFixed(3)]);
  }
  console.log(`\nCPU of a question and its answer, in milliseconds, ${count(questions)} people\n`);
  console.log(table(["", "the host answers", "an agent, by rules", "the turn"], rows));
  const { seconds, spread } = await fairness();
  console.log(
    `\n${count(crowd)} people ask ${each} times each: all answered in ${seconds.toFixed(1)} s.`,
  );
  console.log(
    `When half of the answers were out, nobody had ${each} but ${ratio(spread * 100)} % who had none.`,
  );
  return `a turn by rules: ${onMemory.toFixed(2)} ms on memory`;
}

function fixture<T>(
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

async function engage(engine: MessagingEngine): Promise<void> {
  const limits = { max_replies_per_minute: 60 };
  await engine.agents.create({
    name: "Ada",
    channels: ["sms"],
    knowledge,
    reply: { debounce_ms: 0 },
    limits,
  });
}

/** Milliseconds of CPU for one question and its answer, up to its delivery. */
function answered(storage: StorageName, byAgent: boolean): Promise<number> {
  return fixture(storage, async (engine) => {
    if (byAgent) await engage(engine);
    const delivered = seen(engine, questions);
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

function seen(engine: MessagingEngine, messages: number): Promise<void> {
  return new Promise((resolve) => {
    let left = messages;
    engine.on("message.sent", () => {
      if (--left === 0) resolve();
    });
  });
}

/** Everybody has asked before anybody is answered. */
function fairness(): Promise<{ readonly seconds: number; readonly spread: number }> {
  return fixture("memory", async (engine) => {
    await engage(engine);
    const replies = new Map<string, number>();
    let out = 0;
    let spread = 0;
    const over = new Promise<void>((resolve) => {
      engine.on("message.sent", ({ data: { to } }) => {
        const had = (replies.get(to) ?? 0) + 1;
        replies.set(to, had);
        out++;
        if (out === crowd) spread = (crowd - replies.size) / crowd;
        if (out === crowd * each) resolve();
        else if (had < each) void engine.sandbox.inbound({ from: to, body: question });
      });
    });
    const began = performance.now();
    await concurrently(crowd, atOnce, (i) =>
      engine.sandbox.inbound({ from: recipient("new", i), body: question }),
    );
    await over;
    return { seconds: (performance.now() - began) / 1_000, spread };
  });
}
