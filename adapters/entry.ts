// The declarations name types of Node. TypeScript 7 does not look for them by itself: without this
// line, `tx` would be `any` in a project that does not list "node" in its option `types`.
/// <reference types="node" preserve="true" />
/** The package's main entry: the core, with the default adapters. */
import { MessagingEngine as Engine } from "../src/engine.ts";
import type { EngineOptions } from "../src/host/index.ts";
import { english } from "./language/index.ts";
import { system } from "./system/index.ts";
import { stderrLogger } from "./system/stderr-logger.ts";

export * from "../src/index.ts";

/**
 * A messaging engine inside your process: `new MessagingEngine({ storage, transports })`. The
 * constructor checks the options and does no I/O. The first call opens the storage. Commands work
 * without `start()`. A started engine, here or in another process on the same storage, sends what
 * they queue.
 */
export class MessagingEngine<
  Tx extends object | undefined = object | undefined,
> extends Engine<Tx> {
  /** The name of the class. Without this line, a bundle would give it another one. */
  static override readonly name = "MessagingEngine";

  /**
   * Checks the options. The clock, the randomness, the logger and the language have defaults.
   * @throws TidingsError `invalid_option` with the name, the expected value and a description
   *   of the given value of each invalid option
   */
  constructor(options: EngineOptions<Tx>) {
    super(options, {
      ...system(),
      logger: stderrLogger(),
      language: english(),
    });
  }
}
