import { contacts, type ContactRow } from "../../../src/contacts/rows.ts";
import { events, type EventRow } from "../../../src/events/rows.ts";
import { messages } from "../../../src/messages/rows.ts";
import { messageScores, type MessageScoreRow } from "../../../src/sentiment/rows.ts";
import type { Mood } from "../../../src/contacts/sentiment-types.ts";
import type { Write } from "../../../src/ports/storage.ts";
import type { Invariant } from "../invariant.ts";
import { allOf } from "../rows.ts";
import type { World } from "../world.ts";

const unmoved: Mood = { label: "neutral", mean: 0, messages: 0 };

/** The scores that were just written down, by contact. One that is inserted as such came with a merge, or was moved and heard at once. */
function heardIn(
  { registry }: World,
  writes: readonly Write[],
  kind: "insert" | "update",
): Map<string, MessageScoreRow[]> {
  const rows = writes.flatMap((write) =>
    write.collection === messageScores && write.kind === kind
      ? [write.row as unknown as MessageScoreRow]
      : [],
  );
  return Map.groupBy(
    rows.filter(({ state }) => state === "scored"),
    // Of a merged contact whose history has not moved yet, the survivor's mood is moved.
    ({ contact_id }) => registry.now(contact_id),
  );
}

function contactsIn(writes: readonly Write[]): ContactRow[] {
  return writes.flatMap((write) =>
    write.collection === contacts && (write.kind === "insert" || write.kind === "update")
      ? [write.row as unknown as ContactRow]
      : [],
  );
}

function shiftsIn(writes: readonly Write[], contact_id: string): number {
  return writes.filter((write) => {
    if (write.collection !== events || write.kind !== "insert") return false;
    const event = write.row as unknown as EventRow;
    return event.type === "sentiment.changed" && event.contact_id === contact_id;
  }).length;
}

export const moods: Invariant = {
  name: "a mood is made of each score once, and its shifts are told",
  watch(world) {
    const { ground, terms } = world;
    const known = new Map<string, Mood>();
    return {
      *commit(engine, writes) {
        const heard = heardIn(world, writes, "update");
        const moved = heardIn(world, writes, "insert");
        const rows = contactsIn(writes);
        const joined = new Set(
          rows.flatMap(({ id, merged_into }) => (merged_into === null ? [] : [id, merged_into])),
        );
        for (const { id, mood } of rows) {
          const before = known.get(id) ?? unmoved;
          const after = mood ?? unmoved;
          known.set(id, after);
          // Of two whose moods meet in a merge the one stays that more was heard of.
          if (joined.has(id) || moved.has(id)) continue;
          const scores = (heard.get(id) ?? []).map(({ score }) => score ?? 0);
          const mean = scores.reduce((so, score) => 0.6 * so + 0.4 * score, before.mean);
          // Of several the order is not known.
          const isMean = scores.length > 1 || Math.abs(after.mean - mean) < 1e-9;
          if (after.messages !== before.messages + scores.length || !isMean) {
            const is = `${after.mean} of ${after.messages}`;
            const says = `${engine}: the mood of ${id} was ${before.mean}, then came ${scores.join(", ")}, and it is ${is}`;
            yield { about: [id], says };
          }
          const shifts = shiftsIn(writes, id);
          const isTold = scores.length > 1 || shifts === (after.label === before.label ? 0 : 1);
          if (!isTold) {
            yield {
              about: [id],
              says: `${id} was ${before.label} and is ${after.label}: ${shifts} events`,
            };
          }
        }
      },
      async end() {
        const scored = new Map(
          allOf(ground, messageScores).map((row) => [row.message_id as string, row]),
        );
        const waiting = [...scored.values()].filter(({ state }) => state === "pending");
        const unscored = allOf(ground, messages).filter(
          ({ direction, keyword, id }) =>
            direction === "inbound" && keyword === null && !scored.has(id),
        );
        return [
          ...waiting.map(({ message_id }) => message_id),
          ...(terms.scoresSentiment ? unscored.map(({ id }) => id) : []),
        ].map((id) => ({ about: [id], says: `nobody heard how ${id} sounds` }));
      },
    };
  },
};
