import { SegmentedMessage } from "sms-segments-calculator";
import { messageById, messages, type MessageRow } from "../../../src/messages/rows.ts";
import type { SendRequest } from "../clients.ts";
import { laws, type Invariant, type Violation } from "../invariant.ts";
import { allRows, insertedRows, readRows, writtenRows } from "../rows.ts";
import { fallsBack } from "../settings.ts";
import { statusRank } from "./status.ts";

export const acknowledgedIsStored: Invariant = {
  name: laws.acknowledgedIsStored,
  check: ({ clients, history, settings }) => ({
    async end() {
      const violations: Violation[] = [];
      for (const request of clients.requests) {
        if (request.message === undefined) continue;
        const { id, to, from, contact_id, conversation_id, created_at } = request.message;
        const answer = await clients.ask((engine) => engine.messages.get(id));
        if (history.isErased(contact_id)) continue;
        if (answer.kind !== "done") {
          violations.push({
            about: [id],
            description: `send ${request.number} was acknowledged as ${id}, which cannot be read`,
          });
          continue;
        }
        const now = answer.value;
        const expected = {
          to,
          from,
          contact_id: history.survivorOf(contact_id),
          conversation_id,
          created_at,
          body: expectedBody(request),
        };
        const found = Object.fromEntries(
          Object.keys(expected).map((name) => [name, Reflect.get(now, name) as unknown]),
        );
        if (JSON.stringify(found) !== JSON.stringify(expected)) {
          violations.push({
            about: [id],
            description: `${id} reads ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`,
          });
        }
        // An attempt that was lost before the message was canceled may have sent it.
        const isSentBefore = fallsBack(settings) && statusRank(now.status) > 0;
        if (request.cancel === "acknowledged" && now.status !== "canceled" && !isSentBefore) {
          violations.push({
            about: [id],
            description: `the cancel of ${id} was acknowledged, but it is ${now.status}`,
          });
        }
      }
      return violations;
    },
  }),
};

function expectedBody({ input, edits, redaction }: SendRequest): string | null {
  if (redaction === "acknowledged") return null;
  return (
    edits.findLast(({ body, state }) => body !== undefined && state === "acknowledged")?.body ??
    input.body
  );
}

export const oneMessagePerRequest: Invariant = {
  name: "A send request makes at most one message, and every message has a request.",
  check: ({ clients, database }) => ({
    async end() {
      const outbound = allRows(database, messages).filter(
        ({ author_type }) => author_type === "api" || author_type === "human",
      );
      const messagesByKey = new Map<string, number>();
      const acknowledged = new Set(clients.requests.flatMap(({ message }) => message?.id ?? []));
      const unrequested: Violation[] = [];
      for (const { id, idempotency_key: key } of outbound) {
        if (key !== null) messagesByKey.set(key, (messagesByKey.get(key) ?? 0) + 1);
        if (!acknowledged.has(id)) {
          unrequested.push({ about: [id], description: `no client asked to send message ${id}` });
        }
      }
      const unanswered = clients.requests.filter(
        ({ message, unknown }) => message === undefined && unknown,
      ).length;
      return [
        ...[...messagesByKey]
          .filter(([, count]) => count > 1)
          .map(([key, count]) => ({ about: [], description: `key ${key} made ${count} messages` })),
        // Requests without an answer may have made messages.
        ...(unrequested.length > unanswered ? unrequested : []),
        ...clients.requests
          .filter(
            ({ message, refusal, unknown }) =>
              message === undefined && refusal === null && !unknown,
          )
          .map(({ number }) => ({ about: [], description: `send ${number} was never answered` })),
      ];
    },
  }),
};

export const segmentsCounted: Invariant = {
  name: "A text counts as many segments as the carrier sends it in.",
  check: () => ({
    *commit(engine, writes) {
      for (const { id, body, channel, segments } of writtenRows(writes, messages)) {
        if (body === null || channel !== "sms" || segments === null) continue;
        const { segmentsCount } = new SegmentedMessage(body);
        if (segments === segmentsCount) continue;
        const description = `${engine} counted ${segments} segments of ${id} instead of ${segmentsCount}`;
        yield { about: [id], description };
      }
    },
  }),
};

export const inboundStoredOnce: Invariant = {
  name: "An inbound message is stored exactly once, as the carrier delivered it.",
  check: ({ carrier, clients, database, history }) => {
    const made = new Map<string, MessageRow[]>();
    return {
      *commit(engine, writes) {
        for (const row of insertedRows(writes, messages)) {
          if (row.direction !== "inbound") continue;
          const id = row.provider_message_id ?? "";
          const before = made.get(id) ?? [];
          made.set(id, [...before, row]);
          const [first] = before;
          if (first !== undefined) {
            yield {
              about: [first.id, row.id],
              description: `${engine} stored the inbound message ${id} as ${row.id}, though it was stored as ${first.id}`,
            };
          }
        }
      },
      async end() {
        return carrier.texts.flatMap(({ provider_message_id, body, from, to, media }) => {
          const [first] = made.get(provider_message_id) ?? [];
          if (first === undefined) {
            return [{ about: [], description: `${provider_message_id} was never stored` }];
          }
          const { id, contact_id } = first;
          const [stored] = readRows(database, messageById, [first.account_id, first.mode, id]);
          if (stored === undefined) {
            return history.isErased(contact_id)
              ? []
              : [{ about: [id], description: `${id} of ${contact_id} no longer exists` }];
          }
          const expected = clients.redactedInbound.has(id) ? null : body;
          const hasBody =
            stored.body === expected || (stored.body === null && clients.perhapsRedacted.has(id));
          const hasFiles =
            stored.body === null || JSON.stringify(stored.media) === JSON.stringify(media);
          if (hasBody && hasFiles && stored.from === from && stored.to === to) return [];
          const [found, sent] = [stored, { from, to, body: expected, media }].map((each) =>
            JSON.stringify({ from: each.from, to: each.to, body: each.body, media: each.media }),
          );
          const description = `${provider_message_id} is stored as ${found} instead of ${sent}`;
          return [{ about: [id], description }];
        });
      },
    };
  },
};
