/** Closes a conversation and goes on to the next one. */
import { go, linkTo, placeNow } from "../../../shared/browser/index.ts";
import { closeConversation } from "../state/actions.ts";
import { conversations } from "../state/conversations.ts";
import { viewOf } from "../state/views.ts";

/**
 * Closes the conversation, and leaves it for `next` unless the person has gone elsewhere, or has
 * begun to write in it.
 */
export async function closeAndLeave(id: string, next = nextAfter(id)): Promise<void> {
  const isDone = await closeConversation(id);
  const { path, query } = placeNow();
  if (isDone && path[1] === id && !isWriting()) go(linkTo(next, query), true);
}

/** The place after a conversation leaves the view: the next one, or the list. */
export function nextAfter(id: string): string[] {
  const view = viewOf(placeNow().path);
  const ids = conversations.ids.peek();
  const at = ids.indexOf(id);
  const neighbour = at + 1 < ids.length ? at + 1 : at - 1;
  const next = at === -1 || neighbour < 0 ? undefined : ids.at(neighbour);
  return next === undefined || matchMedia("(max-width: 47.99rem)").matches ? [view] : [view, next];
}

/**
 * Whether the person writes in the open conversation, or about its contact. If the field went away
 * meanwhile, the rest of the words would be taken for shortcuts.
 */
function isWriting(): boolean {
  const fields = ":is(.open-pane, .contact) :is(input, textarea):focus";
  return (document.querySelector<HTMLInputElement>(fields)?.value ?? "") !== "";
}
