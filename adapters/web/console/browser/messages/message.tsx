import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Message, Timeline } from "../../../../../src/index.ts";
import {
  ActionDialog,
  api,
  Button,
  channelName,
  dateTime,
  EmptyState,
  exactDuration,
  Facts,
  Icon,
  linkTo,
  may,
  SafeLink,
  shownAddress,
  StrangerText,
  timeNow,
  toast,
  useResource,
} from "../../../shared/browser/index.ts";
import { AgentLink } from "../agents/named-link.tsx";
import { contactOf, isErasedSince, nameOf, useContactOf } from "../contacts.ts";
import { useCoalesced, useLive } from "../live.ts";
import { AsJson } from "../parts/json.tsx";
import { Card, LoadingPage, PageView } from "../parts/layout.tsx";
import { Copied, StatusBadge } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { TimelineDiagram, TimelineList } from "./timeline-view.tsx";
import { diagramOf, hasEnded } from "./timeline.ts";

interface Loaded {
  readonly message: Message;
  readonly timeline: Timeline;
}

const refreshDelayMs = 80;
const tickMs = 1000;

/** One message: its timeline as a diagram and as a list, and its fields. */
export function MessagePage({ id }: { readonly id: string }): JSX.Element {
  const resource = useResource<Loaded>(
    async (signal) => {
      const path = `v1/messages/${encodeURIComponent(id)}`;
      const [message, timeline] = await Promise.all([
        api.get<Message>(path, { signal }),
        api.get<Timeline>(`${path}/timeline`, { signal }),
      ]);
      return { message, timeline };
    },
    [id],
  );
  const refresh = useCoalesced(() => resource.reload(), refreshDelayMs);
  useLive({
    onEvent: ({ data }) => {
      if ("message_id" in data && data.message_id === id) refresh();
    },
    onGap: refresh,
  });
  const state = resource.state.value;
  const { data } = state;
  useContactOf(data?.message.conversation_id);
  const back = { href: linkTo(["messages"]), label: t("messages") };
  if (isErasedSince(state, ({ message }) => message.contact_id)) {
    return (
      <PageView title={t("message")} back={back}>
        <EmptyState title={t("messageErased")} />
      </PageView>
    );
  }
  if (data === undefined) return <LoadingPage title={t("message")} back={back} of={resource} />;
  const { message, timeline } = data;
  const isInbound = message.direction === "inbound";
  const address = shownAddress(isInbound ? message.from : message.to);
  const contact = nameOf(contactOf(message.conversation_id)) ?? address;
  return (
    <PageView
      title={t(isInbound ? "messageFrom" : "messageTo", { contact })}
      back={back}
      badge={<StatusBadge of={message.status} />}
      actions={<Actions message={message} onDone={refresh} />}
    >
      <div class="message-page">
        <Card title={t("messageTimeline")}>
          <MessageTimeline message={message} timeline={timeline} />
        </Card>
        <div class="message-side">
          <Card title={t("messageContent")}>
            <Content message={message} />
          </Card>
          <Card title={t("fields")}>
            <Fields message={message} />
          </Card>
        </div>
      </div>
      <AsJson value={message} />
    </PageView>
  );
}

/** The timeline, which goes on while the message has not ended. */
function MessageTimeline({ message, timeline }: Loaded): JSX.Element {
  const [now, setNow] = useState(timeNow);
  const isOver = hasEnded(message.status);
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => setNow(timeNow()), tickMs);
    return () => clearInterval(timer);
  }, [isOver]);
  const { status, send_at: sendAt } = message;
  const diagram = diagramOf({ entries: timeline.data, status, sendAt, now });
  return (
    <>
      <TimelineDiagram diagram={diagram} />
      <TimelineList diagram={diagram} />
    </>
  );
}

function Content({ message }: { readonly message: Message }): JSX.Element {
  const { body, media, error } = message;
  return (
    <>
      <div class="message-content" dir="auto">
        {body === null ? (
          <em class="muted">{t("redacted")}</em>
        ) : (
          <StrangerText>{body}</StrangerText>
        )}
      </div>
      {media.length > 0 && (
        <ul class="message-media">
          {media.map(({ url }) => (
            <li key={url}>
              <Icon name="paperclip" />
              <SafeLink url={url} />
            </li>
          ))}
        </ul>
      )}
      {error !== null && (
        <p class="notice tone-bad">
          <Icon name="alert" />
          <span>
            <bdi>{error.message}</bdi>
            <br />
            <code>{error.code}</code>
            {error.provider_code !== null && (
              <>
                {" · "}
                {t("timelineProviderCode", { code: error.provider_code })}
              </>
            )}
          </span>
        </p>
      )}
    </>
  );
}

function Fields({ message }: { readonly message: Message }): JSX.Element {
  const { id, from, to, channel, author, transport, segments, category, conversation_id } = message;
  const { contact_id, provider_message_id, created_at, sent_at, delivered_at, read_at } = message;
  const name = nameOf(contactOf(conversation_id));
  const after = (at: string | null): string | null =>
    at === null
      ? null
      : `${dateTime(at)} (+${exactDuration(Date.parse(at) - Date.parse(created_at))})`;
  return (
    <Facts
      of={[
        [t("fieldId"), <Copied key="id" value={id} />],
        [t("fieldFrom"), <bdi key="from">{shownAddress(from)}</bdi>],
        [t("fieldTo"), <bdi key="to">{shownAddress(to)}</bdi>],
        [t("columnChannel"), channelName(channel)],
        [t("fieldAuthor"), <AuthorOf key="author" author={author} />],
        [t("fieldTransport"), transport],
        [
          t("fieldSegments"),
          segments && t("segments", { count: segments.count, encoding: segments.encoding }),
        ],
        [t("fieldCategory"), message.direction === "outbound" ? category : null],
        [t("fieldCreated"), dateTime(created_at)],
        [t("fieldSent"), after(sent_at)],
        [t("fieldDelivered"), after(delivered_at)],
        [t("fieldRead"), after(read_at)],
        [t("fieldProviderId"), provider_message_id && <Copied value={provider_message_id} />],
        [
          t("fieldContact"),
          <a
            key="contact"
            class={name === undefined ? "mono" : undefined}
            href={linkTo(["messages"], { contact_id })}
          >
            <bdi>{name ?? contact_id}</bdi>
          </a>,
        ],
        [t("fieldConversation"), <Copied key="conversation" value={conversation_id} />],
      ]}
    />
  );
}

function AuthorOf({ author }: Pick<Message, "author">): JSX.Element {
  const { type, id } = author;
  if (id === undefined) return <>{type}</>;
  return (
    <>
      {type} · {type === "agent" ? <AgentLink id={id} /> : <bdi>{id}</bdi>}
    </>
  );
}

interface ActionsProps {
  readonly message: Message;
  readonly onDone: () => void;
}

function Actions({ message, onDone }: ActionsProps): JSX.Element | null {
  const [isCanceling, setCanceling] = useState(false);
  const { id, status } = message;
  const canCancel = status === "scheduled" || status === "queued";
  if (!canCancel || !may("messages:write")) return null;
  return (
    <>
      <Button icon="close" onClick={() => setCanceling(true)}>
        {t("messageCancel")}
      </Button>
      {isCanceling && (
        <ActionDialog
          title={t("messageCancel")}
          confirm={t("messageCancel")}
          kind="danger"
          onClose={() => setCanceling(false)}
          onConfirm={async () => {
            await api.post<Message>(`v1/messages/${id}/cancel`);
            setCanceling(false);
            toast({ message: t("messageCanceled") });
            onDone();
          }}
        >
          <p>{t("messageCancelHint")}</p>
        </ActionDialog>
      )}
    </>
  );
}
