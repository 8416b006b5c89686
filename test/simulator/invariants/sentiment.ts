import { contacts } from "../../../src/contacts/rows.ts";
import type { SentimentState } from "../../../src/contacts/sentiment/sentiment-rules.ts";
import { events } from "../../../src/events/rows.ts";
import { messages } from "../../../src/messages/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import { messageScores, type MessageScoreRow } from "../../../src/sentiment/rows.ts";
import type { Invariant } from "../invariant.ts";
import { allRows, insertedRows, writtenRows } from "../rows.ts";
import type { World } from "../world.ts";

const neutral: SentimentState = { label: "neutral", mean: 0, messages: 0 };

/** The new scores by contact. Those inserted as scored were moved by a merge. */
function scoresIn(
  { history }: World,
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
    // A score of a merged contact counts for the survivor.
    ({ contact_id }) => history.survivorOf(contact_id),
  );
}

function changesReported(writes: readonly Write[], contact_id: string): number {
  return insertedRows(writes, events).filter(
    (event) => event.type === "sentiment.changed" && event.contact_id === contact_id,
  ).length;
}

export const sentimentFromScores: Invariant = {
  name: "A contact's sentiment state includes each score once, and each change of its label has one event.",
  check(world) {
    const { database, settings } = world;
    const states = new Map<string, SentimentState>();
    return {
      *commit(engine, writes) {
        const scored = scoresIn(world, writes, "update");
        const moved = scoresIn(world, writes, "insert");
        const rows = writtenRows(writes, contacts);
        const merged = new Set<string>(
          rows.flatMap(({ id, merged_into }) => (merged_into === null ? [] : [id, merged_into])),
        );
        for (const { id, sentiment_state } of rows) {
          const before = states.get(id) ?? neutral;
          const after = sentiment_state ?? neutral;
          states.set(id, after);
          // A merge keeps the state of the contact with more scores, so there is nothing to check.
          if (merged.has(id) || moved.has(id)) continue;
          const scores = (scored.get(id) ?? []).map(({ score }) => score ?? 0);
          const mean = scores.reduce((sum, score) => 0.6 * sum + 0.4 * score, before.mean);
          // The order of several scores in one commit is unknown, and the mean depends on it.
          const isMean = scores.length > 1 || Math.abs(after.mean - mean) < 1e-9;
          if (after.messages !== before.messages + scores.length || !isMean) {
            yield {
              about: [id],
              description: `${engine}: the sentiment of ${id} was ${before.mean}; with the scores ${scores.join(", ")} it became ${after.mean} of ${after.messages} messages`,
            };
          }
          const events = changesReported(writes, id);
          const isReported = scores.length > 1 || events === (after.label === before.label ? 0 : 1);
          if (!isReported) {
            yield {
              about: [id],
              description: `${id} went from ${before.label} to ${after.label} with ${events} events`,
            };
          }
        }
      },
      async end() {
        const scores = new Map(
          allRows(database, messageScores).map((row) => [row.message_id as string, row]),
        );
        const pending = [...scores.values()].filter(({ state }) => state === "pending");
        const unscored = allRows(database, messages).filter(
          ({ direction, keyword, id }) =>
            direction === "inbound" && keyword === null && !scores.has(id),
        );
        return [
          ...pending.map(({ message_id }) => message_id),
          ...(settings.scoresSentiment ? unscored.map(({ id }) => id) : []),
        ].map((id) => ({ about: [id], description: `${id} was never scored` }));
      },
    };
  },
};
