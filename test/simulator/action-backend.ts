import { z } from "zod";
import { never, type EngineRun } from "../../adapters/testing/world/engine-run.ts";
import { action, type Action, type ActionContext } from "../../src/host/actions.ts";
import { maxDelayMs, type HostFault } from "./faults.ts";
import type { World } from "./world.ts";

/** An effect of an action, as the host application recorded it. Engines cannot change it. */
export interface ActionEffect {
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

/** The part of the host application that carries out agents' actions. */
export class ActionBackend {
  readonly effects: ActionEffect[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * The actions as one engine calls them. Calls and answers get lost, and a call takes effect even
   * if the engine crashes meanwhile.
   */
  actions(run: EngineRun, crash: (why: string) => void): Action[] {
    return kinds.map(({ name, risk, idempotent }) =>
      action({
        name,
        description: `Does ${name}.`,
        input: z.strictObject({ about: z.string().max(200) }),
        risk,
        idempotent,
        timeout_ms: 8_000,
        execute: ({ about }, context) =>
          run.isAlive
            ? run.guard(this.#call({ action: name, risk, idempotent, about }, context, run, crash))
            : never(),
      }),
    );
  }

  async #call(
    what: Pick<ActionEffect, "action" | "risk" | "idempotent" | "about">,
    { idempotency_key: key, contact, conversation }: ActionContext,
    run: EngineRun,
    crash: (why: string) => void,
  ): Promise<{ readonly done: string }> {
    const { dice, clock } = this.#world;
    const occurs = (fault: HostFault): boolean => this.#world.occurs(fault, what.action);
    if (occurs("crashAtAction")) {
      crash(`before it calls ${what.action} ${key}`);
      return never();
    }
    if (occurs("actionFailsBefore")) {
      throw new Error(`${what.action} ${what.about} fails`);
    }
    if (occurs("actionSlow")) await clock.sleep(dice.between(1, maxDelayMs.action));
    const effect: ActionEffect = {
      ...what,
      key,
      contact_id: contact.id,
      conversation_id: conversation.id,
      engine: run.name,
    };
    const run_id = key.slice(0, key.indexOf("."));
    this.#world.trace.note(
      [run.name, conversation.id, run_id],
      `${run.name} calls ${what.action} under key ${key}`,
    );
    this.#world.onActionEffect(effect);
    this.effects.push(effect);
    if (occurs("crashAtAction")) {
      crash(`before it gets the result of ${what.action} ${key}`);
      return never();
    }
    if (occurs("actionFailsAfter")) {
      throw new Error(`the result of ${what.action} ${what.about} is lost`);
    }
    return { done: what.about };
  }
}
