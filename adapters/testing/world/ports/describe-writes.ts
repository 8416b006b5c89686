import type { Write } from "../../../../src/ports/index.ts";
import { shortId } from "../story.ts";

const text = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);
const id = (value: unknown): string => shortId(text(value));

/** Describes the writes of a commit. Leaves out rows that do not help to follow a history. */
export function describeWrites(writes: readonly Write[]): string {
  const described = writes.map(describe).filter((each) => each !== undefined);
  return described.length > 0
    ? described.join(", ")
    : [...new Set(writes.map(({ collection }) => collection.name))].join(", ");
}

function describe(write: Write): string | undefined {
  const { name } = write.collection;
  if (!("row" in write)) {
    if (write.kind !== "remove") return undefined;
    if (name === "jobs") return `job ${text(write.key[0])} ${id(write.key[1])} removed`;
    return ["contacts", "conversations", "messages"].includes(name)
      ? `${id(write.key[2])} removed`
      : undefined;
  }
  const { row } = write;
  switch (name) {
    case "messages":
      return `${id(row["id"])} is ${text(row["status"])}`;
    case "message_attempts":
      return `attempt ${text(row["number"])} of ${id(row["message_id"])} ${text(row["outcome"])}`;
    case "jobs": {
      const state = row["leased"] === true ? "leased" : "armed";
      return `job ${text(row["kind"])} ${id(row["key"])} ${state}`;
    }
    case "contacts":
      return row["merged_into"] === null
        ? `contact ${id(row["id"])}`
        : `${id(row["id"])} is merged into ${id(row["merged_into"])}`;
    case "contact_identities":
      return `${text(row["address"])} of ${id(row["contact_id"])} ${text(row["consent"])}`;
    case "conversations": {
      const states = [row["status"], row["handler"], row["unread_count"]].map(text).join(", ");
      return `${id(row["id"])} of ${id(row["contact_id"])} ${states} unread`;
    }
    case "runs":
      return `${id(row["id"])} of ${id(row["conversation_id"])} ${text(row["status"])}`;
    case "agents":
      return `${id(row["id"])} ${row["enabled"] === true ? "enabled" : "disabled"}`;
    case "webchat_mail": {
      const number = text(row["number"]);
      return `${id(row["message_id"])} is number ${number} for ${text(row["address"])}`;
    }
    case "early_receipts":
      return `an early receipt for ${text(row["provider_message_id"])} stored`;
    case "idempotency_keys":
      return `key ${text(row["key"])} stored`;
    default:
      return undefined;
  }
}

const idColumns = [
  "id",
  "message_id",
  "conversation_id",
  "contact_id",
  "webhook_id",
  "event_id",
  "agent_id",
  "key",
] as const;

/** The ids of the resources that the writes concern. */
export function idsIn(writes: readonly Write[]): string[] {
  const values = writes.flatMap((write): unknown[] => [
    ...("key" in write ? write.key : []),
    ...("row" in write ? idColumns.map((column) => write.row[column]) : []),
  ]);
  return [...new Set(values.filter(isId))];
}

function isId(value: unknown): value is string {
  return typeof value === "string" && /^(msg|conv|att|ct|wcs|wh|evt|run|agt)_/.test(value);
}
