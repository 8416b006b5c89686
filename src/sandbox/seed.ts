import { z } from "zod";
import { type Story, stories, type Turn } from "./scenarios.ts";
import type { SandboxSeedResult } from "./types.ts";
import { identityByAddress } from "../contacts/index.ts";
import type { Command } from "../operations/index.ts";
import { backdated, type Tx } from "../store/index.ts";
import { refuseLive } from "./refuse-live.ts";
import { engageAssistant } from "./seed-agent.ts";
import { lineOf, meetPerson, settle, tell } from "./play-scenario.ts";

const nothing = z.strictObject({});
const minuteMs = 60_000;

/** Fills the sandbox with people and their threads on every channel, and has an agent answer where the engine has the option `agents`. Done twice, it adds nothing. */
export const seedSandbox: Command<Record<string, never>, SandboxSeedResult> = {
  kind: "command",
  name: "sandbox.seed",
  input: () => nothing,
  status: 201,
  async run(tx, _input, call) {
    const { scope, services } = call;
    refuseLive(scope);
    const made = { contacts: 0, conversations: 0, messages: 0 };
    const fresh: Story[] = [];
    for (const story of stories) if (await isFresh(tx, story)) fresh.push(story);
    for (const story of fresh) {
      await meetPerson(tx, services, story);
      made.contacts++;
      made.conversations++;
    }
    // Ids are drawn in the order in which it all happened, and lists show them in that.
    const turns = fresh.flatMap((story) => story.turns.map((turn): [Story, Turn] => [story, turn]));
    for (const [story, turn] of turns.toSorted(([, a], [, b]) => b.ago - a.ago)) {
      await tell(backdated(tx, tx.now - turn.ago * minuteMs), services, story, turn);
      made.messages++;
    }
    const { drawId } = services;
    for (const story of fresh) await settle(tx, drawId, story);
    // After the stories, which people have in hands.
    if (services.hasAgents) await engageAssistant(tx, drawId);
    return made;
  },
};

/** Nobody has the address, and the sender that the story needs is still there. */
async function isFresh(tx: Tx, story: Story): Promise<boolean> {
  const identity = await tx.get(identityByAddress, [story.medium, story.address]);
  return identity === undefined && (await lineOf(tx, story)) !== undefined;
}
