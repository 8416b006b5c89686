/** Closes a conversation and goes on to the next one. */
import { go, linkTo, placeNow } from "../../../shared/browser/index.ts";
import { closeConversation } from "../state/actions.ts";
import { conversationNow, conversations } from "../state/conversations.ts";
import { isShown, viewOf } from "../state/views.ts";

/**
 * Closes the conversation, and leaves it for `next` unless the person has gone elsewhere, or has
 * begun to write in it.
 */
export async function closeAndLeave(id: string, next = nextAfter(id)): Promise<void> {
  const isDone = await closeConversation(id);
  const { path, query } = placeNow();
  if (isDone && path[1] === id && !isWriting()) go(linkTo(next, query), true);
}

/** The place to go to when a conversation leaves the view: the next one, or the list. */
export function nextAfter(id: string): string[] {
  const view = viewOf(placeNow().path);
  const at = conversations.ids.peek().indexOf(id);
  const next = at === -1 ? undefined : (nearest(at, 1) ?? nearest(at, -1));
  return next === undefined || matchMedia("(max-width: 47.99rem)").matches ? [view] : [view, next];
}

/**
 * The nearest conversation on one side that belongs in the list. While someone points at the list,
 * the list also keeps conversations that were closed.
 */
function nearest(from: number, step: 1 | -1): string | undefined {
  const ids = conversations.ids.peek();
  for (let at = from + step; at >= 0 && at < ids.length; at += step) {
    const row = conversationNow(ids.at(at) ?? "");
    if (row !== undefined && isShown(conversations.queryNow, row)) return row.id;
  }
  return undefined;
}

/**
 * Whether the person writes in the open conversation, or about its contact. If the field went away
 * meanwhile, the next keys would be taken for shortcuts.
 */
function isWriting(): boolean {
  const fields = ":is(.open-pane, .contact) :is(input, textarea):focus";
  return (document.querySelector<HTMLInputElement>(fields)?.value ?? "") !== "";
}
