import { contactById, identityByAddress } from "../../../src/contacts/rows.ts";
import { attempts, type AttemptRow, messageById } from "../../../src/messages/rows.ts";
import { mediumOf } from "../../../src/kernel/fields.ts";
import type { Write } from "../../../src/ports/storage.ts";
import type { Invariant } from "../invariant.ts";
import { peek } from "../rows.ts";

function handedOver(writes: readonly Write[]): AttemptRow[] {
  return writes.flatMap((write) =>
    write.collection === attempts && write.kind === "insert"
      ? [write.row as unknown as AttemptRow]
      : [],
  );
}

export const ruled: Invariant = {
  name: "the host's rule has the last word",
  watch: ({ rule, terms }) => ({
    *commit(engine, writes) {
      if (!terms.hasRule) return;
      for (const { message_id } of handedOver(writes)) {
        const verdict = rule.lastTo(engine, message_id) ?? "nothing";
        if (verdict !== "allow") {
          yield {
            about: [message_id],
            says: `${engine} handed over ${message_id}, of which the rule said ${verdict}`,
          };
        }
      }
    },
  }),
};

/** How long what an engine read may be old when it commits: stalls and delays together. */
const staleMs = 120_000;

export const quiet: Invariant = {
  name: "marketing waits for the recipient's day",
  watch: ({ ground, terms: { quietHours } }) => ({
    *commit(engine, writes) {
      if (quietHours === undefined) return;
      for (const { account_id, mode, message_id, started_at } of handedOver(writes)) {
        const [message] = peek(ground, messageById, [account_id, mode, message_id]);
        if (message?.category !== "marketing") continue;
        // Whoever has the number now gets it, whomever it was written to.
        const [owner] = peek(ground, identityByAddress, [
          account_id,
          mode,
          mediumOf(message.channel),
          message.to,
        ]);
        const [contact] = peek(ground, contactById, [
          account_id,
          mode,
          owner?.contact_id ?? message.contact_id,
        ]);
        // Where it lives may have been set in the meantime.
        if (
          contact === undefined ||
          (started_at - contact.updated_at < staleMs && contact.updated_at > contact.created_at)
        ) {
          continue;
        }
        const time = new Date(started_at).toLocaleTimeString("en-GB", {
          timeZone: contact.time_zone ?? "UTC",
          hour: "2-digit",
          minute: "2-digit",
        });
        if (time < quietHours.from || time >= quietHours.to) continue;
        const says = `${engine} handed over ${message_id} at ${time} in ${contact.time_zone ?? "UTC"}`;
        yield { about: [message_id], says };
      }
    },
  }),
};
