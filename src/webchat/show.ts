import type { Message } from "../messages/index.ts";
import type { WebchatMessage } from "./types.ts";

/** Leaves out the host application's metadata and the author's id. */
export function webchatMessage(
  { id, direction, body, media, author, created_at, placed_at }: Message,
  author_name: string | null,
): WebchatMessage {
  return {
    id,
    direction,
    body,
    media,
    author: author.type,
    author_name,
    created_at,
    placed_at: placed_at ?? created_at,
  };
}
