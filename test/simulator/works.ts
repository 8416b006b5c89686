import { z } from "zod";
import { action, type Action, type ActionContext } from "../../src/ports/action.ts";
import { longest } from "./faults.ts";
import { type Life, never } from "./life.ts";
import type { World } from "./world.ts";

/** Something that an action did in the host's world, as that keeps it: outside the engines, whatever they make of it. */
export interface Effect {
  readonly action: string;
  readonly risk: Action["risk"];
  readonly idempotent: boolean;
  readonly about: string;
  readonly key: string;
  readonly contact_id: string;
  readonly conversation_id: string;
  readonly engine: string;
}

const kinds = [
  { name: "look", risk: "read", idempotent: true },
  { name: "reserve", risk: "write", idempotent: true },
  { name: "charge", risk: "write", idempotent: false },
  { name: "refund", risk: "approval", idempotent: false },
  { name: "cancel", risk: "approval", idempotent: true },
] as const;

export const actionNames = kinds.map(({ name }) => name);

/** What agents can do in the host's world. */
export class Works {
  readonly effects: Effect[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** The actions as one engine has them: calls and answers get lost on their way, and a call that is under way arrives though its caller is dead. */
  actions(life: Life, crash: (why: string) => void): Action[] {
    return kinds.map(({ name, risk, idempotent }) =>
      action({
        name,
        description: `Does ${name}.`,
        input: z.strictObject({ about: z.string().max(200) }),
        risk,
        idempotent,
        timeout_ms: 8_000,
        execute: ({ about }, context) =>
          life.alive
            ? life.guard(
                this.#call({ action: name, risk, idempotent, about }, context, life, crash),
              )
            : never(),
      }),
    );
  }

  async #call(
    what: Pick<Effect, "action" | "risk" | "idempotent" | "about">,
    { idempotency_key: key, contact, conversation }: ActionContext,
    life: Life,
    crash: (why: string) => void,
  ): Promise<{ readonly done: string }> {
    const { dice, faults, clock } = this.#world;
    if (dice.chance(faults.crashAtAction)) {
      crash(`before ${what.action} ${key}`);
      return never();
    }
    if (dice.chance(faults.actionFailsBefore)) {
      throw new Error(`${what.action} ${what.about} is refused`);
    }
    if (dice.chance(faults.actionSlow)) await clock.sleep(dice.between(1, longest.action));
    const effect: Effect = {
      ...what,
      key,
      contact_id: contact.id,
      conversation_id: conversation.id,
      engine: life.name,
    };
    const run_id = key.slice(0, key.indexOf("."));
    this.#world.trace.note(
      [life.name, conversation.id, run_id],
      `${life.name} does ${what.action} under ${key}`,
    );
    this.#world.effected(effect);
    this.effects.push(effect);
    if (dice.chance(faults.crashAtAction)) {
      crash(`after ${what.action} ${key}, before its answer`);
      return never();
    }
    if (dice.chance(faults.actionFailsAfter)) {
      throw new Error(`the answer to ${what.action} ${what.about} is lost`);
    }
    return { done: what.about };
  }
}
