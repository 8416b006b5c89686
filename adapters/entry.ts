/** The package's main entry: the core, with the default adapters. */
import { MessagingEngine as Engine } from "../src/engine.ts";
import type { EngineOptions } from "../src/host/index.ts";
import { english } from "./language/english.ts";
import { system } from "./system/index.ts";
import { stderrLogger } from "./system/stderr-logger.ts";

export * from "../src/index.ts";

/**
 * Messaging inside your process: `new MessagingEngine({ storage, transports })`. Nothing happens in
 * the constructor; the first call opens the storage. Commands are accepted without `start()`; what
 * they queue is handed over by an engine that is started, here or in another process on the same
 * storage.
 */
export class MessagingEngine<
  Tx extends object | undefined = object | undefined,
> extends Engine<Tx> {
  /**
   * Checks the options. The clock, the randomness, the logger and the language have defaults.
   * @throws TidingsError `invalid_option`, naming each option that is wrong, what was expected and
   * what came
   */
  constructor(options: EngineOptions<Tx>) {
    super(options, {
      ...system(),
      logger: stderrLogger(),
      language: english(),
    });
  }
}
