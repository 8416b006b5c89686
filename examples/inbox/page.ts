import type { Conversation, Message } from "tidings";

/** Should a word of a customer's ever come through as markup: the page runs no script, loads nothing and sends its forms nowhere else. */
export const inboxPolicy =
  "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** The inbox as a page: whoever wrote last comes first, and what they wrote is text, whatever is in it. */
export function inboxPage(
  conversations: readonly Conversation[],
  threads: ReadonlyMap<string, readonly Message[]>,
): string {
  const rows = conversations.map(({ id, contact, handler, unread_count }) => {
    const lines = (threads.get(id) ?? []).map(({ direction, body }) => {
      const who = direction === "inbound" ? contact.name : "us";
      return `<p><b>${escaped(who)}</b> ${escaped(body ?? "")}</p>`;
    });
    const form = `<form method="post" action="/inbox/${id}/reply"><input name="body" required> <button>Reply</button></form>`;
    return `<h2>${escaped(contact.name)} <small>${unread_count} unread, handled by ${handler}</small></h2>${lines.join("")}${form}`;
  });
  return `<!doctype html><meta charset="utf-8"><title>Inbox</title><h1>Inbox</h1>${rows.join("")}`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
}
