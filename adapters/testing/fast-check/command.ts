import {
  errorCodes,
  functionOption,
  listOption,
  option,
  optionsObject,
  parseOptions,
  type ErrorCode,
} from "../../../src/kernel/index.ts";
import type { ScriptedCarrier } from "../carrier/scripted-carrier.ts";
import { mistakeIn, noteMistake } from "../world/mistakes.ts";
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
  /** A phone texts something to the sender that texted it last, or else to the default sender. */
  readonly text: Arbitrary<WorldCommand<WithCarrier>>;
  /** A phone texts STOP, START or HELP to that sender. */
  readonly keyword: Arbitrary<WorldCommand<WithCarrier>>;
}

/** An engine of the world, with the transactions of its storage. */
type EngineOf<Real extends WithWorld> = ReturnType<Real["world"]["engine"]>;

/** Options of `command`. */
export interface WorldCommandOptions {
  /**
   * The codes of errors that the command may meet although they usually mean a mistake, such as
   * `validation_failed`.
   * @default []
   */
  readonly expects?: readonly ErrorCode[] | undefined;
}

const errorCode = option<ErrorCode>(
  "the code of an error of the engine",
  (code) => errorCodes.some((each) => each === code),
  { isQuoted: true },
);

const argumentsSchema = optionsObject({
  name: option<string>("a string", (name) => typeof name === "string"),
  code: functionOption(),
  options: optionsObject({
    expects: listOption("codes of errors", errorCode).default([]),
  }),
});

/**
 * Returns a command that begins code of the host application in the process of an engine that is
 * up. It does not wait for the code, so that commands race. The story has the command's name and
 * outcome.
 *
 * Crashes, lost answers and refusals because of what happened before, such as
 * `recipient_opted_out`, are part of a race. These are mistakes: an error that the code throws by
 * itself, and an error of the engine with the code `validation_failed`, `invalid_option`,
 * `invalid_cursor` or `not_configured`. The next `advance`, `run`, `settle` or `check` of the world
 * then throws an error, so that the property fails. `expects` lists codes that are no mistake.
 * @throws TidingsError `invalid_option` when the name is not a text, the code is not a function or
 *   an option is wrong or unknown
 */
export function command<Real extends WithWorld>(
  name: string,
  code: (real: Real, engine: EngineOf<Real>) => Promise<unknown>,
  options: WorldCommandOptions = {},
): WorldCommand<Real> {
  const checked = parseOptions("command: ", argumentsSchema, { name, code, options });
  return step(name, async (real) => {
    const { world } = real;
    // The cast is safe: it is an engine of this world.
    const call = world.begin((engine) => code(real, engine as EngineOf<Real>), { as: name });
    void call.then((outcome) => {
      const mistake = mistakeIn(outcome, checked.options.expects);
      if (mistake === undefined) return;
      const text = `The command "${name}" ${mistake.text}\nWhat happened:\n${world.story.tell()}`;
      noteMistake(world, new Error(text, { cause: mistake.error }));
    });
  });
}

/** A command that runs in the test itself, not in the process of an engine. */
export function step<Real>(name: string, run: (real: Real) => Promise<void>): WorldCommand<Real> {
  return { check: () => true, run: async (_model, real) => run(real), toString: () => name };
}
