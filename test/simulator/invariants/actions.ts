import { defaultAccountId } from "../../../src/accounts/prepare-storage.ts";
import { conversationById } from "../../../src/conversations/rows.ts";
import type { ActionCall } from "../../../src/agents/runs/types.ts";
import type { Write } from "../../../src/ports/storage.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { peek } from "../rows.ts";
import type { Effect } from "../works.ts";
import { runsIn } from "./runs.ts";

/** Calls that were ever on record, and what was said of them. */
class CallLog {
  readonly #calls = new Map<string, ActionCall[]>();

  heed(writes: readonly Write[]): void {
    for (const { calls } of runsIn(writes)) {
      for (const call of calls) {
        this.#calls.set(call.id, [...(this.#calls.get(call.id) ?? []), call]);
      }
    }
  }

  was(key: string, status: ActionCall["status"]): ActionCall | undefined {
    return this.#calls.get(key)?.find((call) => call.status === status);
  }
}

const runOf = (key: string): string => key.slice(0, key.indexOf("."));

function breach({ action, key, conversation_id, engine }: Effect, says: string): Breach {
  return {
    about: [runOf(key), conversation_id],
    says: `${engine} did ${action} under ${key}, ${says}`,
  };
}

export const onCallRecord: Invariant = {
  name: "an action is on record before it is called",
  watch({ ground, registry }) {
    const log = new CallLog();
    return {
      commit(_engine, writes) {
        log.heed(writes);
        return [];
      },
      *effect(effect) {
        const { action, about, key, risk, conversation_id, contact_id } = effect;
        const call = log.was(key, "pending");
        if (
          risk !== "read" &&
          (call?.action !== action || JSON.stringify(call.input) !== JSON.stringify({ about }))
        ) {
          yield breach(effect, `and on record is ${JSON.stringify(call ?? null)}`);
        }
        const [conversation] = peek(ground, conversationById, [
          defaultAccountId,
          "live",
          conversation_id,
        ]);
        if (
          conversation !== undefined &&
          registry.now(conversation.contact_id) !== registry.now(contact_id)
        ) {
          yield breach(
            effect,
            `for ${contact_id}, in a conversation with ${conversation.contact_id}`,
          );
        }
      },
    };
  },
};

export const doneOnce: Invariant = {
  name: "what must not be repeated is done once, and what may be under one key",
  watch({ works }) {
    return {
      *effect(effect) {
        const { action, about, key, risk, idempotent } = effect;
        if (risk === "read") return;
        for (const earlier of works.effects) {
          // The model asks for each call once in a run.
          const isSame =
            runOf(earlier.key) === runOf(key) &&
            earlier.action === action &&
            earlier.about === about;
          if (isSame && !idempotent) {
            yield breach(effect, `after ${earlier.engine} had done it under ${earlier.key}`);
          }
          if (isSame && earlier.key !== key) {
            yield breach(effect, `and ${earlier.engine} the same under ${earlier.key}`);
          }
          if (earlier.key === key && !isSame) {
            yield breach(effect, `which was ${earlier.action} ${earlier.about}`);
          }
        }
      },
    };
  },
};

export const approvedFirst: Invariant = {
  name: "nothing that needs an approval is done without",
  watch({ desk }) {
    const log = new CallLog();
    return {
      commit(_engine, writes) {
        log.heed(writes);
        return [];
      },
      *effect(effect) {
        const { risk, key } = effect;
        if (risk !== "approval") return;
        if (log.was(key, "approved") === undefined) {
          yield breach(effect, "which nobody had approved");
        } else if (!desk.approvals.has(runOf(key))) {
          yield breach(effect, "which nobody wanted to approve");
        }
        if (log.was(key, "denied") !== undefined) yield breach(effect, "which was denied");
      },
    };
  },
};
