import { defaultAccountId } from "../../../src/accounts/prepare-storage.ts";
import { runs, type RunRow } from "../../../src/agents/runs/rows.ts";
import { conversationById } from "../../../src/conversations/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import type { ActionEffect } from "../action-backend.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { readRows, writtenRows } from "../rows.ts";

type ActionCall = RunRow["calls"][number];

/** Every version of every action call that was committed, by the call's id. */
class CallHistory {
  readonly #calls = new Map<string, ActionCall[]>();
  /** The engines that erased runs. */
  readonly #erasers = new Map<string, string>();

  apply(engine: string, writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.collection === runs && write.kind === "remove") {
        this.#erasers.set(String(write.key.at(-1)), engine);
      }
    }
    for (const { calls } of writtenRows(writes, runs)) {
      for (const call of calls) {
        this.#calls.set(call.id, [...(this.#calls.get(call.id) ?? []), call]);
      }
    }
  }

  /** Whether an engine erased the call's run, perhaps in the commit that recorded the call. */
  isErased(key: string, engine: string): boolean {
    return this.#erasers.get(runIdOf(key)) === engine;
  }

  /**
   * The last version of the call with this status, if there ever was one. Another call may have had
   * the key before: it was taken back, because it was not made.
   */
  find(key: string, status: ActionCall["status"]): ActionCall | undefined {
    return this.#calls.get(key)?.findLast((call) => call.status === status);
  }
}

/** A call's idempotency key begins with the id of its run. */
const runIdOf = (key: string): string => key.slice(0, key.indexOf("."));

function violation(
  { action, key, conversation_id, engine }: ActionEffect,
  text: string,
): Violation {
  return {
    about: [runIdOf(key), conversation_id],
    description: `${engine} ran ${action} under key ${key}, ${text}`,
  };
}

export const recordedBeforeCall: Invariant = {
  name: "An action that changes something runs only after its call is committed, and for the contact of its conversation.",
  check({ database, history }) {
    const log = new CallHistory();
    return {
      commit(engine, writes) {
        log.apply(engine, writes);
        return [];
      },
      *effect(effect) {
        const { action, about, key, risk, conversation_id, contact_id } = effect;
        const call = log.find(key, "pending");
        if (
          risk !== "read" &&
          !(call === undefined && log.isErased(key, effect.engine)) &&
          (call?.action !== action || JSON.stringify(call.input) !== JSON.stringify({ about }))
        ) {
          yield violation(effect, `but the committed call is ${JSON.stringify(call ?? null)}`);
        }
        const [conversation] = readRows(database, conversationById, [
          defaultAccountId,
          "live",
          conversation_id,
        ]);
        if (
          conversation !== undefined &&
          history.survivorOf(conversation.contact_id) !== history.survivorOf(contact_id)
        ) {
          yield violation(
            effect,
            `for ${contact_id}, but the conversation is with ${conversation.contact_id}`,
          );
        }
      },
    };
  },
};

export const actionDoneOnce: Invariant = {
  name: "An action that is not idempotent runs once, and an idempotent one always under the same key.",
  check({ actionBackend }) {
    return {
      *effect(effect) {
        const { action, about, key, risk, idempotent } = effect;
        if (risk === "read") return;
        for (const earlier of actionBackend.effects) {
          // The model requests each call only once in a run.
          const isSame =
            runIdOf(earlier.key) === runIdOf(key) &&
            earlier.action === action &&
            earlier.about === about;
          if (isSame && !idempotent) {
            yield violation(effect, `after ${earlier.engine} had run it under ${earlier.key}`);
          }
          if (isSame && earlier.key !== key) {
            yield violation(effect, `and ${earlier.engine} the same under ${earlier.key}`);
          }
          if (earlier.key === key && !isSame) {
            yield violation(effect, `the key of ${earlier.action} ${earlier.about}`);
          }
        }
      },
    };
  },
};

export const approvedBeforeAction: Invariant = {
  name: "An action that needs approval runs only after a person approved it.",
  check({ operators }) {
    const log = new CallHistory();
    return {
      commit(engine, writes) {
        log.apply(engine, writes);
        return [];
      },
      *effect(effect) {
        const { risk, key } = effect;
        if (risk !== "approval") return;
        if (log.find(key, "approved") === undefined) {
          yield violation(effect, "which is not recorded as approved");
        } else if (!operators.approvedRuns.has(runIdOf(key))) {
          yield violation(effect, "which no operator asked to approve");
        }
        if (log.find(key, "denied") !== undefined) yield violation(effect, "which was denied");
      },
    };
  },
};
