import type { RunContext } from "../run-context.ts";

/**
 * How the engines of a world connect to what a test has scripted. Only the objects that the
 * functions of the testing kit returned are known.
 */
export class Connectors<Scripted extends object, Port> {
  readonly #connect = new WeakMap<object, (context: RunContext) => Port>();

  add(scripted: Scripted, connect: (context: RunContext) => Port): void {
    this.#connect.set(scripted, connect);
  }

  has(given: unknown): given is Scripted {
    return typeof given === "object" && given !== null && this.#connect.has(given);
  }

  /** Returns the port of one engine. */
  connect(scripted: Scripted, context: RunContext): Port {
    const connect = this.#connect.get(scripted);
    if (connect === undefined) throw new TypeError("This object is not scripted.");
    return connect(context);
  }
}
