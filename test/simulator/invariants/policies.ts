import { contactById, identityByAddress } from "../../../src/contacts/rows.ts";
import { mediumOf } from "../../../src/kernel/channels.ts";
import { attempts } from "../../../src/messages/rows.ts";
import type { QuietHours } from "../../../src/operations/consent-options.ts";
import type { Invariant } from "../invariant.ts";
import { handOvers, insertedRows, readRows } from "../rows.ts";

export const policyAllowed: Invariant = {
  name: "A message is handed over only if the host's policy allowed it then.",
  check: ({ policy, settings }) => ({
    *commit(engine, writes) {
      if (!settings.hasPolicy) return;
      for (const { message_id, started_at } of insertedRows(writes, attempts)) {
        if (policy.allowed(engine, message_id, started_at)) continue;
        const description = `${engine} handed over ${message_id}, which the policy had not allowed`;
        yield { about: [message_id], description };
      }
    },
  }),
};

/** How old a read may be when an engine commits: stalls and delays together. */
const staleMs = 120_000;

/** Whether a time such as `21:30` is in the quiet hours, which may go over midnight. */
function isQuiet({ from, to }: QuietHours, time: string): boolean {
  return from < to ? time >= from && time < to : time >= from || time < to;
}

export const quietHoursRespected: Invariant = {
  name: "Marketing messages wait until the recipient's quiet hours are over.",
  check: ({ database, settings: { quietHours } }) => ({
    *commit(engine, writes) {
      if (quietHours === undefined) return;
      for (const { attempt, message } of handOvers(database, writes)) {
        if (message.category !== "marketing") continue;
        const { account_id, mode, message_id, started_at } = attempt;
        // The quiet hours of the number's current owner apply.
        const [owner] = readRows(database, identityByAddress, [
          account_id,
          mode,
          mediumOf(message.channel),
          message.to,
        ]);
        const [contact] = readRows(database, contactById, [
          account_id,
          mode,
          owner?.contact_id ?? message.contact_id,
        ]);
        // The contact's time zone may have changed since the engine read it.
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
        if (!isQuiet(quietHours, time)) continue;
        const description = `${engine} handed over ${message_id} in the quiet hours, at ${time} in ${contact.time_zone ?? "UTC"}`;
        yield { about: [message_id], description };
      }
    },
  }),
};
