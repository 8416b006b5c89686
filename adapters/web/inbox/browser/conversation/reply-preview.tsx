/** What would happen to a reply, before it is sent. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Conversation, MessagePreview } from "../../../../../src/index.ts";
import { api, dayAndTime, firstCharacters, Icon } from "../../../shared/browser/index.ts";
import { channelOf, maxCharacters, type Draft } from "../state/drafts.ts";
import { contactVersion } from "../state/live.ts";
import { recipientOf } from "../state/recipient.ts";
import { t } from "../texts.ts";
import { nameIn } from "../words.ts";

const previewDelayMs = 400;

/** What would happen to the reply now, by the server's policies. */
export function usePreview(
  row: Conversation,
  reply: Draft,
  isNote: boolean,
): MessagePreview | undefined {
  const [preview, setPreview] = useState<MessagePreview>();
  const { media, from, sendAt } = reply;
  // The contact may opt out, or in again.
  const version = contactVersion.value.get(row.contact.id) ?? 0;
  const body = reply.body === "" && media.length === 0 ? "…" : reply.body;
  // The text matters only to the host's policies, so a pause in the typing is soon enough.
  useEffect(() => {
    if (isNote) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const input = {
        channel: channelOf(row, media),
        body: firstCharacters(body, maxCharacters.reply),
        ...(media.length > 0 && { media: media.map((url) => ({ url })) }),
        ...(from !== "" && { from }),
        ...(sendAt !== null && { send_at: sendAt }),
      };
      recipientOf(row, stop.signal)
        .then((to) =>
          api.post<MessagePreview>(
            "v1/messages/preview",
            { to, ...input },
            { signal: stop.signal },
          ),
        )
        .then(setPreview)
        // Sending says what is wrong.
        .catch(() => {
          if (!stop.signal.aborted) setPreview(undefined);
        });
    }, previewDelayMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [row.id, version, body, media, from, sendAt, isNote]);
  return isNote ? undefined : preview;
}

interface PoliciesProps {
  readonly row: Conversation;
  readonly preview: MessagePreview;
}

/** What the policies say about the reply, before it is sent. */
export function Policies({ row, preview }: PoliciesProps): JSX.Element | null {
  const notes: { readonly text: string; readonly isBad: boolean }[] = [];
  if (preview.consent === "opted_out") {
    notes.push({ text: t("policyOptedOut", { name: nameIn(row) }), isBad: true });
  } else if (preview.from === null) {
    notes.push({ text: t("policyNoSender"), isBad: true });
  }
  for (const { policy, verdict, message, until, code } of preview.verdicts) {
    if (verdict === "allow" || policy === "consent") continue;
    const reason = message ?? code ?? policy;
    if (verdict === "deny") notes.push({ text: t("policyDeny", { reason }), isBad: true });
    else if (until !== undefined) {
      notes.push({ text: t("policyDefer", { time: dayAndTime(until), reason }), isBad: false });
    }
  }
  if (notes.length === 0) return null;
  return (
    <div role="status">
      {notes.map(({ text, isBad }) => (
        <p key={text} class={`notice is-slim tone-${isBad ? "bad" : "warn"}`}>
          <Icon name="alert" />
          <span class="grow">{text}</span>
        </p>
      ))}
    </div>
  );
}
