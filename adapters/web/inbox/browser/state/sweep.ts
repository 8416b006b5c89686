/** Removes what was typed to and about contacts that were erased. */
import { api, ApiError, may } from "../../../shared/browser/index.ts";
import { draftedIds, forgetContact, forgetConversation } from "./drafts.ts";

/** Whether the engine says that something does not exist. A 404 of a proxy does not say so. */
export const isGone = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 404 && error.code === "not_found";

/** The person's own requests count against the same limit, so the sweep leaves them most of it. */
const pauseMs = 100;

let isSweeping = false;
let isDue = false;

/**
 * Reads each conversation and contact that has a draft, and removes the drafts of those that are
 * gone. The contact may have been erased while the page was closed. A conversation that is gone
 * does not say whose it was.
 */
export async function sweepDrafts(): Promise<void> {
  isDue = true;
  if (isSweeping) return;
  isSweeping = true;
  try {
    while (isDue) {
      // What was read before another erasure must be read again.
      isDue = false;
      await sweep();
    }
  } finally {
    isSweeping = false;
  }
}

async function sweep(): Promise<void> {
  for (const id of draftedIds()) {
    const isContact = id.startsWith("ct_");
    if (!may(isContact ? "contacts:read" : "conversations:read")) continue;
    try {
      await api.get(`v1/${isContact ? "contacts" : "conversations"}/${id}`);
    } catch (error) {
      // The server is away, or the session has ended. Then it answers for no other draft, either.
      if (!isGone(error)) return;
      if (isContact) forgetContact(id);
      else forgetConversation(id);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
