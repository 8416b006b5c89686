import { functionOption, option, optionsObject, parseOptions } from "../../../src/kernel/index.ts";
import type { ScriptedCarrier } from "../carrier/scripted-carrier.ts";
import type { World } from "../world/types.ts";
import type { Arbitrary } from "./types.ts";

/** What commands work on: a world, and whatever a host application has besides. */
export interface WithWorld {
  /** The world with the engines. */
  readonly world: World;
}

/** What the ready commands work on: also a carrier, which the phones text to. */
export interface WithCarrier extends WithWorld {
  /** The carrier of the world. */
  readonly carrier: ScriptedCarrier;
}

/** A command for `fc.commands`. Its model is empty: laws judge what happened. */
export interface WorldCommand<Real> {
  /** Whether the command can run: always. */
  check(model: object): boolean;
  /** Begins the command. */
  run(model: object, real: Real): Promise<void>;
  /** The command as the counterexample prints it. */
  toString(): string;
}

/** Ready commands, one arbitrary each. Pass the ones that you need to `fc.commands`. */
export interface Commands {
  /** Time passes: up to a minute. */
  readonly wait: Arbitrary<WorldCommand<WithWorld>>;
  /** An engine's process crashes, and starts again up to a minute later. */
  readonly crash: Arbitrary<WorldCommand<WithWorld>>;
  /** An engine is stopped as by a deployment, and starts again. */
  readonly deploy: Arbitrary<WorldCommand<WithWorld>>;
  /** An engine is cut off from the storage, the carriers or the internet for up to a minute. */
  readonly partition: Arbitrary<WorldCommand<WithWorld>>;
  /** The clock of an engine is set. */
  readonly setClock: Arbitrary<WorldCommand<WithWorld>>;
  /** A text is sent to a phone. */
  readonly send: Arbitrary<WorldCommand<WithWorld>>;
  /** A text to a phone is scheduled. */
  readonly schedule: Arbitrary<WorldCommand<WithWorld>>;
  /** One of the latest messages is canceled. */
  readonly cancel: Arbitrary<WorldCommand<WithWorld>>;
  /** One of the latest messages is redacted. */
  readonly redact: Arbitrary<WorldCommand<WithWorld>>;
  /** A contact is created. */
  readonly createContact: Arbitrary<WorldCommand<WithWorld>>;
  /** A contact's consent is set through the API. */
  readonly setConsent: Arbitrary<WorldCommand<WithWorld>>;
  /** Two contacts are merged. */
  readonly merge: Arbitrary<WorldCommand<WithWorld>>;
  /** A contact is erased. */
  readonly erase: Arbitrary<WorldCommand<WithWorld>>;
  /** A person replies in a conversation. */
  readonly reply: Arbitrary<WorldCommand<WithWorld>>;
  /** A conversation is closed. */
  readonly close: Arbitrary<WorldCommand<WithWorld>>;
  /** A webhook for all events is created, unless there are two. */
  readonly createWebhook: Arbitrary<WorldCommand<WithWorld>>;
  /** A phone texts something to the sender that texted it last. */
  readonly text: Arbitrary<WorldCommand<WithCarrier>>;
  /** A phone texts STOP, START or HELP to the sender that texted it last. */
  readonly keyword: Arbitrary<WorldCommand<WithCarrier>>;
}

/** An engine of the world, with the transactions of its storage. */
type EngineOf<Real extends WithWorld> = ReturnType<Real["world"]["engine"]>;

const argumentsSchema = optionsObject({
  name: option<string>("a string", (name) => typeof name === "string"),
  code: functionOption(),
});

/**
 * Returns a command that begins code of the host application in the process of an engine that is
 * up. It does not wait for the code, so that commands race. The story has the command's name and
 * outcome.
 * @throws TidingsError `invalid_option` when the name is not a text or the code is not a function
 */
export function command<Real extends WithWorld>(
  name: string,
  code: (real: Real, engine: EngineOf<Real>) => Promise<unknown>,
): WorldCommand<Real> {
  parseOptions("command: ", argumentsSchema, { name, code });
  return step(name, async (real) => {
    // The cast is safe: it is an engine of this world.
    void real.world.begin((engine) => code(real, engine as EngineOf<Real>), { as: name });
  });
}

/** A command that runs in the test itself, not in the process of an engine. */
export function step<Real>(name: string, run: (real: Real) => Promise<void>): WorldCommand<Real> {
  return { check: () => true, run: async (_model, real) => run(real), toString: () => name };
}
