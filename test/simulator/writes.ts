import type { Write } from "../../src/ports/storage.ts";
import { short } from "./trace.ts";

const text = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);
const id = (value: unknown): string => short(text(value));

/** What was written, in words; what tells nothing of the course of things is left out. */
export function summary(writes: readonly Write[]): string {
  const told = writes.map(tell).filter((each) => each !== undefined);
  return told.length > 0
    ? told.join(", ")
    : writes.map(({ collection }) => collection.name).join(", ");
}

function tell(write: Write): string | undefined {
  const { name } = write.collection;
  if (!("row" in write)) {
    return write.kind === "remove" && name === "jobs"
      ? `job ${text(write.key[0])} ${id(write.key[1])} gone`
      : write.kind === "remove" && ["contacts", "conversations", "messages"].includes(name)
        ? `${id(write.key[2])} gone`
        : undefined;
  }
  const { row } = write;
  switch (name) {
    case "messages":
      return `${id(row["id"])} is ${text(row["status"])}`;
    case "message_attempts":
      return `attempt ${text(row["number"])} of ${id(row["message_id"])} ${text(row["outcome"])}`;
    case "jobs":
      return `job ${text(row["kind"])} ${id(row["key"])} ${row["leased"] === true ? "leased" : "armed"}`;
    case "contacts":
      return row["merged_into"] === null
        ? `contact ${id(row["id"])}`
        : `${id(row["id"])} is ${id(row["merged_into"])}`;
    case "contact_identities":
      return `${text(row["address"])} of ${id(row["contact_id"])} ${text(row["consent"])}`;
    case "conversations":
      return `${id(row["id"])} of ${id(row["contact_id"])} ${text(row["status"])}, ${text(row["handler"])}, ${text(row["unread_count"])} unread`;
    case "runs":
      return `${id(row["id"])} of ${id(row["conversation_id"])} ${text(row["status"])}`;
    case "agents":
      return `${id(row["id"])} ${row["enabled"] === true ? "enabled" : "disabled"}`;
    case "webchat_mail":
      return `${id(row["message_id"])} is number ${text(row["number"])} for ${text(row["address"])}`;
    case "parked_receipts":
      return `a receipt for ${text(row["provider_message_id"])} parked`;
    case "idempotency_keys":
      return `key ${text(row["key"])} kept`;
    default:
      return undefined;
  }
}
