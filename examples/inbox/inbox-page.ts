import type { Conversation, Message } from "tidings";

/**
 * A second defense if a customer's text ever got into the page as markup: the page runs no scripts,
 * loads nothing, and sends its forms only to this server.
 */
export const inboxPolicy =
  "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** Renders the conversations in the given order. Customers' names and texts are escaped. */
export function inboxPage(
  conversations: readonly Conversation[],
  threads: ReadonlyMap<string, readonly Message[]>,
): string {
  const sections = conversations.map(({ id, contact, handler, unread_count }) => {
    const lines = (threads.get(id) ?? []).map(({ direction, body }) => {
      const author = direction === "inbound" ? contact.name : "us";
      return `<p><b>${escaped(author)}</b> ${escaped(body ?? "")}</p>`;
    });
    const form =
      `<form method="post" action="/inbox/${id}/reply">` +
      '<input name="body" required> <button>Reply</button></form>';
    return (
      `<h2>${escaped(contact.name)} ` +
      `<small>${unread_count} unread, handled by ${handler}</small></h2>${lines.join("")}${form}`
    );
  });
  return (
    '<!doctype html><meta charset="utf-8"><title>Inbox</title>' +
    `<h1>Inbox</h1>${sections.join("")}`
  );
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
