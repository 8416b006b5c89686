/** How long old versions of agents and playbooks are kept. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { playbooks, playbookVersions } from "../../src/agents/playbooks/rows.ts";
import { agents, agentSessions, agentVersions } from "../../src/agents/rows.ts";
import { runs as runRows } from "../../src/agents/runs/rows.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { outcome } from "../support/outcome.ts";
import { runs } from "../support/runs.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { agency, survey } from "./world.ts";

const hour = 3_600_000;
const day = 24 * hour;

/** The versions that are stored, in use or current, as `id revision`. */
async function versionsIn(storage: StoragePort) {
  const [sessions, ran] = [await rowsOf(storage, agentSessions), await rowsOf(storage, runRows)];
  const used = [...sessions, ...ran].map((row) => `${row.agent_id} ${row.agent_revision}`);
  const played = sessions
    .flatMap(({ frames }) => frames)
    .map((frame) => `${frame.playbook_id} ${frame.revision}`);
  const current = [...(await rowsOf(storage, agents)), ...(await rowsOf(storage, playbooks))].map(
    ({ id, revision }) => `${id} ${revision}`,
  );
  const stored = [
    ...(await rowsOf(storage, agentVersions)).map((row) => `${row.agent_id} ${row.revision}`),
    ...(await rowsOf(storage, playbookVersions)).map((row) => `${row.playbook_id} ${row.revision}`),
  ];
  return { current, stored: stored.toSorted(), needed: new Set([...used, ...played, ...current]) };
}

test("an old version of an agent or a playbook stays while it is used, and is removed runRetentionDays later", async () => {
  const phone = fc.constantFrom("+15005550101", "+15005550102", "+15005550103");
  const step = fc.oneof(
    fc.constantFrom({ do: "update agent" as const }, { do: "update playbook" as const }),
    fc.record({
      do: fc.constant("write" as const),
      phone,
      body: fc.constantFrom("survey", "survey", "4", "Hello"),
    }),
    fc.record({ do: fc.constant("close" as const), phone }),
    fc.record({ do: fc.constant("pass" as const), hours: fc.constantFrom(1, 13, 25, 30) }),
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        { do: "remove agent" as const },
        { do: "pass" as const, hours: 25 },
      ),
    },
  );
  const write = { do: "write" as const, phone: "+15005550101" as const, body: "survey" as const };
  const pass = { do: "pass" as const, hours: 13 as const };
  const updateAgent = { do: "update agent" as const };
  const updatePlaybook = { do: "update playbook" as const };
  const unused = [updateAgent, updatePlaybook, pass];
  const played = [write, updateAgent, updatePlaybook, pass, pass, pass];
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 10, size: "max" }),
      async (steps) => {
        const storage = memory();
        const made = await agency(storage, {
          options: { runRetentionDays: 1, eventRetentionDays: 1 },
          playbooks: [survey],
        });
        const { engine, agent, say, fastForward, conversation } = made;
        const { clock } = made.world;
        const [playbook_id = ""] = agent.playbook_ids;
        const replacedAt = new Map<string, number>();
        let n = 0;
        for (const each of steps) {
          n++;
          const before = await versionsIn(storage);
          if (each.do === "update agent") {
            await outcome(engine.agents.update(agent.id, { name: `Ada ${n}` }));
          } else if (each.do === "update playbook") {
            await engine.playbooks.update(playbook_id, { description: `Change ${n}.` });
          } else if (each.do === "remove agent") {
            await outcome(engine.agents.remove(agent.id));
          } else if (each.do === "write") {
            await say(each.body, each.phone);
            await made.pass();
          } else if (each.do === "close") {
            const open = await conversation(each.phone).catch(() => undefined);
            if (open !== undefined) {
              await engine.conversations.update(open.id, { status: "closed" });
            }
          } else {
            await fastForward(each.hours * hour);
          }
          const { current, stored, needed } = await versionsIn(storage);
          for (const version of before.current) {
            if (!current.includes(version)) replacedAt.set(version, clock.now());
          }
          expect(stored, "what is used or current").toEqual(expect.arrayContaining([...needed]));
          const recent = [...replacedAt].filter(([, at]) => at > clock.now() - day);
          expect(stored, "what was replaced within the retention time").toEqual(
            expect.arrayContaining(recent.map(([version]) => version)),
          );
        }
        // Runs end and are removed, and then each version is checked once more.
        await fastForward(4 * day);
        const { stored, needed } = await versionsIn(storage);
        expect(stored).toEqual([...needed].toSorted());
      },
    ),
    { numRuns: runs(12, 2), examples: [[unused], [played]] },
  );
});

test.each(["Hello", "HELP"])(
  "an update of the agent takes effect when the contact reopens the conversation with %s",
  async (body) => {
    const { engine, agent, ask, say, pass, conversation } = await agency(memory(), {
      agent: { reply: { signature: "Old" } },
    });
    await ask("One");
    await engine.conversations.update((await conversation()).id, { status: "closed" });
    await engine.agents.update(agent.id, { reply: { signature: "New" } });
    await say(body);
    await pass();
    expect(await ask("Two")).toEqual(["You said: Two\nNew"]);
  },
);
