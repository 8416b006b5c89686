import type { JSX } from "preact";
import type { Conversation, Page } from "../../../../../src/index.ts";
import { api, Badge, Icon, linkTo, may, shortTime } from "../../../shared/browser/index.ts";
import { now } from "../state/now.ts";
import { activityOf } from "../state/views.ts";
import { t } from "../texts.ts";
import { mediumIcon, mediumName } from "../words.ts";
import { Loaded, Section, useContactResource } from "./section.tsx";

interface ContactConversationsProps {
  /** The id of the contact. */
  readonly id: string;
  /** The conversation next to which the others are shown. It is left out. */
  readonly beside?: string | undefined;
}

/** The latest conversations with the contact. Each is a link, if the person may open it. */
export function ContactConversations({ id, beside }: ContactConversationsProps): JSX.Element {
  const found = useContactResource(id, (signal) =>
    api.get<Page<Conversation>>(`v1/contacts/${id}/conversations`, {
      query: { limit: 20 },
      signal,
    }),
  );
  const rows = found.data?.data.filter((row) => row.id !== beside) ?? [];
  const none = t(beside === undefined ? "conversationsNone" : "otherNone");
  return (
    <Section title={t(beside === undefined ? "conversations" : "otherConversations")}>
      <Loaded of={found} height="1lh">
        {() => rows.length === 0 && <p class="muted">{none}</p>}
      </Loaded>
      <ul class="others">
        {rows.map((row) => (
          <li key={row.id}>
            {may("conversations:read") ? (
              <a class="other" href={linkTo([row.status === "open" ? "all" : row.status, row.id])}>
                <Summary of={row} />
              </a>
            ) : (
              <div class="other">
                <Summary of={row} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Summary({ of: row }: { readonly of: Conversation }): JSX.Element {
  const { medium, last_message, status } = row;
  return (
    <>
      <Icon name={mediumIcon(medium)} />
      <bdi class="grow truncate">{last_message?.preview || mediumName(medium)}</bdi>
      {status === "closed" && <Badge>{t("rowClosed")}</Badge>}
      <time class="muted" dateTime={activityOf(row)}>
        {shortTime(activityOf(row), now.value)}
      </time>
    </>
  );
}
