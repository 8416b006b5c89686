import { events } from "../../../src/events/rows.ts";
import { consumedTypes } from "../bookkeeper.ts";
import type { Invariant } from "../invariant.ts";
import { allRows } from "../rows.ts";

/** An event may be processed again, since the answer of the commit can be lost. */
export const consumedInOrder: Invariant = {
  name: "A consumer processes every event, and those of a conversation in the order of the log.",
  check: ({ bookkeeper, database, settings, engines }) => ({
    async end() {
      if (!settings.hasConsumer) return [];
      const log = allRows(database, events)
        .filter(({ type }) => consumedTypes.some((each) => each === type))
        .toSorted((a, b) => a.position - b.position);
      const firsts = new Map<string, number>();
      for (const [place, { event_id }] of bookkeeper.bookings.entries()) {
        if (!firsts.has(event_id)) firsts.set(event_id, place);
      }
      const missing = log
        .filter(({ id }) => !firsts.has(id))
        .map(({ id, type }) => ({ about: [id], description: `${type} ${id} was not processed` }));
      const late = [
        ...Map.groupBy(log, ({ conversation_id, id }) => conversation_id ?? id).values(),
      ].flatMap((ofOne) =>
        ofOne.slice(1).flatMap(({ id }, i) => {
          const before = ofOne[i]?.id ?? id;
          const isLate = (firsts.get(id) ?? Infinity) < (firsts.get(before) ?? -Infinity);
          const description = `${id} was processed before ${before}`;
          return isLate ? [{ about: [id, before, ...engines.engines], description }] : [];
        }),
      );
      return [...missing, ...late];
    },
  }),
};
