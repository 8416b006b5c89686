import { ReplayedError, TidingsError, type GenerateId } from "../../kernel/index.ts";
import type { Reads, Tx } from "../../store/index.ts";
import type { Command, Context, Outcome, Steps } from "../operation.ts";
import type { Runtime } from "../runtime.ts";
import { storedKey } from "./idempotency-key.ts";
import { refuseIfAnswered } from "./stored-responses.ts";

interface CommandExecutor {
  execute<Input, Output>(
    command: Command<Input, Output>,
    input: Input,
    context: Context,
  ): Promise<Outcome<Output>>;
}

interface ProcedureStepsOptions extends Pick<Runtime, "store"> {
  readonly executor: CommandExecutor;
  readonly context: Context;
  /** Whether the whole response is stored under the key. A repetition may answer first then. */
  readonly storesResponse: boolean;
  /** Whether the procedure ends before its next item, because the engine stops. */
  readonly mustEnd: () => boolean;
}

/** The steps of one run of a procedure. */
export class ProcedureSteps implements Steps {
  readonly reads: Reads;
  readonly drawId: GenerateId;
  readonly #options: ProcedureStepsOptions;
  #areReplays = true;

  constructor(options: ProcedureStepsOptions) {
    this.#options = options;
    this.reads = options.store.reads(options.context.scope);
    this.drawId = options.store.drawId;
  }

  /** Whether every step so far returned a stored response. */
  get areReplays(): boolean {
    return this.#areReplays;
  }

  commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { store, context, storesResponse } = this.#options;
    const { scope, idempotency_key: key } = context;
    return store.commit(scope, async (tx) => {
      if (storesResponse && key !== null) await refuseIfAnswered(tx, key);
      return work(tx);
    });
  }

  yieldToEventLoop(): Promise<void> {
    return this.#options.store.yieldToEventLoop();
  }

  async execute<Input, Output>(
    command: Command<Input, Output>,
    input: Input,
    step: number,
  ): Promise<Outcome<Output>> {
    const { executor, context, mustEnd } = this.#options;
    const { idempotency_key: of } = context;
    if (command.isItem === true && mustEnd()) {
      // Without a key, a call with all items would send again those that were sent.
      const advice =
        of === null
          ? `Item ${step} was not processed.`
          : "Call again with the same idempotency key.";
      throw new TidingsError("shutting_down", `The engine is shutting down. ${advice}`);
    }
    const idempotency_key = of === null ? null : storedKey({ by: "step", of, step });
    try {
      const outcome = await executor.execute(command, input, { ...context, idempotency_key });
      if (!outcome.replayed) this.#areReplays = false;
      return outcome;
    } catch (error) {
      if (!(error instanceof ReplayedError)) this.#areReplays = false;
      throw error;
    }
  }
}
